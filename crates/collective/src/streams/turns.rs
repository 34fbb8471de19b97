//! What a process sends to a peer in one all-reduce, in which order.
//!
//! First the **opening**: the head of the exchange and the notes of its ranks. Then chunks.
//! **Partials** are a process' own sums of the peer's portion, **results** the finished sums of its
//! own portion. Partials are at hand from the start. The result of a chunk can be sent when the
//! partials of that chunk have come from everyone. So results follow partials at a distance, the
//! **lag**: partial 0, 1, …, lag, result 0, partial lag+1, result 1, … and what is left of either.
//!
//! Both ends know the order beforehand, so chunks need no labels, and a chunk is sent on while it is
//! still in the cache. Nobody waits in a circle: the first partials depend on nothing, a result on the
//! partials of its chunk, and a later partial on a result that lies before it.

/// One thing on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Head and notes.
    Opening,
    /// A chunk of the receiver's portion, before it is summed.
    Partial(usize),
    /// A chunk of the sender's portion, summed.
    Result(usize),
}

/// How far results lie behind partials, in chunks. A process that the system lets run only now and
/// then should find, whenever it does, a few megabytes to send.
pub(super) const LAG: usize = 3;

/// The chunks of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    partials: usize,
    results: usize,
    /// The partial that comes next, counted on after the last one.
    next: usize,
    /// The result that belongs behind partial `next` is still to come.
    result_is_due: bool,
}

impl Turns {
    pub(super) fn new(partials: usize, results: usize) -> Turns {
        Turns { partials, results, next: 0, result_is_due: false }
    }
}

impl Iterator for Turns {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        while self.next < self.partials.max(self.results + LAG) {
            let number = self.next;
            if self.result_is_due {
                self.result_is_due = false;
                self.next += 1;
                let result = number.checked_sub(LAG).filter(|&result| result < self.results);
                if let Some(result) = result {
                    return Some(Turn::Result(result));
                }
            } else {
                self.result_is_due = true;
                if number < self.partials {
                    return Some(Turn::Partial(number));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_follow_partials_at_a_distance() {
        use Turn::{Partial, Result};
        let turns: Vec<Turn> = Turns::new(LAG + 2, 3).skip(LAG).collect();
        let expected = [Partial(LAG), Result(0), Partial(LAG + 1), Result(1), Result(2)];
        assert_eq!(turns, expected);
    }

    #[test]
    fn every_chunk_has_its_turn_once_and_in_order() {
        for partials in 0..2 * LAG {
            for results in 0..2 * LAG {
                let turns: Vec<Turn> = Turns::new(partials, results).collect();
                let is_partial = |turn: &Turn| matches!(turn, Turn::Partial(_));
                let (first, second): (Vec<Turn>, Vec<Turn>) =
                    turns.into_iter().partition(is_partial);
                assert_eq!(first, (0..partials).map(Turn::Partial).collect::<Vec<_>>());
                assert_eq!(second, (0..results).map(Turn::Result).collect::<Vec<_>>());
            }
        }
    }
}
