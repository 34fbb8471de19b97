//! What lies where in a segment.
//!
//! Every process works this out from the layout, which all have alike. Whatever different processes
//! write lies on different pairs of cache lines (processors fetch lines in pairs).
//!
//! - a **cell** for each seat: how many barriers it has reached, whether it is still there, which core it
//!   is on, and for how many values it calls;
//! - a **pair** for every two seats: how much one has given the other and the other has taken;
//! - a **card** for each rank: its note, and where its values are. Cells and cards have two faces, for
//!   even and odd rounds, so that one can be read while the next is written;
//! - an **outbox** for each seat, in two halves;
//! - for each rank a **slot**, which its host may keep its values in, and a **copy**, which they are
//!   copied to if it does not;
//! - the **result**.
//!
//! Pages that nobody touches take no memory.

use crate::Layout;
use crate::share::LINE;

/// A pair of cache lines.
const PAIR: usize = 128;
/// Bytes of one face of a card: the note and one word.
const FACE: usize = PAIR;

/// Floats in half an outbox.
pub(super) const HALF: usize = 64 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Areas {
    seats: usize,
    world: usize,
    pairs: usize,
    cards: usize,
    outboxes: usize,
    slots: usize,
    copies: usize,
    /// Bytes from one rank's values to the next one's.
    stride: usize,
    pub(super) result: usize,
    pub(super) size: usize,
}

/// Where something a seat signals with lies: the word, and how many sleep until it changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignalPlace {
    pub(super) word: usize,
    pub(super) sleepers: usize,
}

impl Areas {
    /// `None` when so much memory has no address.
    pub(super) fn new(layout: &Layout) -> Option<Areas> {
        let (seats, world) = (layout.seats.len(), layout.world);
        let line = LINE * size_of::<f32>();
        // An odd number of lines apart, so that equal places of two ranks do not compete for the same
        // places of a cache.
        let stride = (layout.len.checked_mul(size_of::<f32>())?.div_ceil(line) | 1) * line;
        let values = world.checked_mul(stride)?;
        let pairs = 2 * PAIR * seats;
        let cards = pairs + 2 * PAIR * seats * seats;
        let outboxes = cards + 2 * FACE * world;
        let slots = outboxes + 2 * HALF * size_of::<f32>() * seats;
        let copies = slots.checked_add(values)?;
        let result = copies.checked_add(values)?;
        let size = result.checked_add(stride)?.checked_next_multiple_of(4096)?;
        Some(Areas { seats, world, pairs, cards, outboxes, slots, copies, stride, result, size })
    }

    fn cell(&self, seat: usize) -> usize {
        assert!(seat < self.seats, "there is such a seat");
        2 * PAIR * seat
    }

    /// How many barriers a seat has reached.
    pub(super) fn arrived(&self, seat: usize) -> SignalPlace {
        SignalPlace { word: self.cell(seat), sleepers: self.cell(seat) + 4 }
    }

    /// Whether a seat is still there.
    pub(super) fn presence(&self, seat: usize) -> usize {
        self.cell(seat) + 8
    }

    /// The barrier that a seat was through with last.
    pub(super) fn through(&self, seat: usize) -> usize {
        self.cell(seat) + 12
    }

    /// Which core a seat was on last.
    pub(super) fn core(&self, seat: usize) -> usize {
        self.cell(seat) + 32
    }

    /// How many values a seat calls for.
    pub(super) fn call(&self, seat: usize, face: usize) -> usize {
        self.cell(seat) + 16 + 8 * face
    }

    fn pair(&self, from: usize, to: usize) -> usize {
        assert!(from < self.seats && to < self.seats, "there are such seats");
        self.pairs + 2 * PAIR * (from * self.seats + to)
    }

    /// How often one seat has given another something.
    pub(super) fn given(&self, from: usize, to: usize) -> SignalPlace {
        SignalPlace { word: self.pair(from, to), sleepers: self.pair(from, to) + 4 }
    }

    /// How many values it begins to give.
    pub(super) fn offer(&self, from: usize, to: usize) -> usize {
        self.pair(from, to) + 8
    }

    /// How often the other has taken something.
    pub(super) fn taken(&self, from: usize, to: usize) -> SignalPlace {
        SignalPlace { word: self.pair(from, to) + PAIR, sleepers: self.pair(from, to) + PAIR + 4 }
    }

    /// A rank's note.
    pub(super) fn note(&self, rank: usize, face: usize) -> usize {
        assert!(rank < self.world, "there is such a rank");
        self.cards + FACE * (2 * rank + face)
    }

    /// Whether a rank's values are in its slot.
    pub(super) fn is_in_slot(&self, rank: usize, face: usize) -> usize {
        self.note(rank, face) + 64
    }

    /// Half of a seat's outbox.
    pub(super) fn outbox(&self, seat: usize, half: usize) -> usize {
        assert!(seat < self.seats && half < 2, "there is such a half");
        self.outboxes + (2 * seat + half) * HALF * size_of::<f32>()
    }

    /// Where a rank's host may keep its values.
    pub(super) fn slot(&self, rank: usize) -> usize {
        assert!(rank < self.world, "there is such a rank");
        self.slots + self.stride * rank
    }

    /// Where a rank's values are copied to.
    pub(super) fn copy(&self, rank: usize) -> usize {
        assert!(rank < self.world, "there is such a rank");
        self.copies + self.stride * rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_do_not_overlap() {
        let mut layout = Layout::alone(3, 100);
        layout.seats = vec![layout.seats[0].clone(), layout.seats[0].clone()];
        let areas = Areas::new(&layout).unwrap();
        let mut places: Vec<(usize, usize)> = vec![(areas.result, 400)];
        for seat in 0..2 {
            places.push((areas.arrived(seat).word, 8));
            places.push((areas.presence(seat), 4));
            places.push((areas.through(seat), 4));
            places.push((areas.core(seat), 4));
            places.push((areas.call(seat, 0), 8));
            places.push((areas.call(seat, 1), 8));
            places.push((areas.outbox(seat, 0), 4 * HALF));
            places.push((areas.outbox(seat, 1), 4 * HALF));
            for to in 0..2 {
                places.push((areas.given(seat, to).word, 8));
                places.push((areas.offer(seat, to), 8));
                places.push((areas.taken(seat, to).word, 8));
            }
        }
        for rank in 0..3 {
            places.push((areas.slot(rank), 400));
            places.push((areas.copy(rank), 400));
            for face in 0..2 {
                places.push((areas.note(rank, face), 64));
                places.push((areas.is_in_slot(rank, face), 4));
            }
        }
        places.sort_unstable();
        for pair in places.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
        }
        let (start, length) = places[places.len() - 1];
        assert!(start + length <= areas.size);
    }

    #[test]
    fn impossible_sizes_are_noticed() {
        let mut layout = Layout::alone(3, usize::MAX / 2);
        assert!(Areas::new(&layout).is_none());
        layout.len = usize::MAX / 8;
        assert!(Areas::new(&layout).is_none());
    }
}
