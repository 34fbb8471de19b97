//! Parameter servers: processes that hold the weights, each a range of them with the optimizer's
//! slots, and change them by the gradients that workers push.
//!
//! A [`Shelf`] is what one server holds, and everything it decides: pure, without a network. A [`Counter`]
//! answers the workers' requests from it; [`Servers`] is a worker's end.
//!
//! In `sync` mode an update takes the gradients of its turns, summed in the canonical order, once all
//! have come; it is made when the new weights are first asked for. The shelf keeps the state before the
//! last update too, for a worker may die when some servers have made it and others cannot any more.
//! In `async` mode every gradient is an update, in the order of arrival.

mod client;
mod frame;
mod host;
mod request;
mod shelf;

use std::ops::Range;

pub(crate) use client::{Directory, Servers};
pub(crate) use host::Counter;
pub(crate) use request::Request;
pub(crate) use shelf::{Rules, Shelf};

use crate::Error;

/// Floats in the block that ranges are cut at: the optimizer's own block for norms.
const BLOCK: usize = 4096;

/// The range of `count` weights that one of `servers` holds.
pub(crate) fn range(count: usize, servers: usize, index: usize) -> Range<usize> {
    let blocks = count.div_ceil(BLOCK);
    let start = |index: usize| (blocks * index / servers * BLOCK).min(count);
    // With fewer blocks than servers some would hold nothing; a finer cut gives each a part.
    if blocks < servers {
        let start = |index: usize| count * index / servers;
        return start(index)..start(index + 1);
    }
    start(index)..start(index + 1)
}

/// Whether so many weights can lie on so many servers: what goes to one at a time is a frame.
pub(crate) fn check(count: usize, servers: usize) -> Result<(), Error> {
    // Ranges are cut at blocks, so that one may be longer than another.
    let least = count.div_ceil(frame::MAX_WEIGHTS - 2 * BLOCK);
    if servers < least {
        return Err(Error::Orders(format!("{count} weights need at least {least} servers")));
    }
    Ok(())
}

/// What is held of some weights: they, the slots, and how many updates they have had.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// The first of them among all weights.
    pub(crate) first: u64,
    /// Updates made.
    pub(crate) step: u64,
    /// How many batches of each rank have been counted; for `async` alone.
    pub(crate) turns: Vec<u64>,
    pub(crate) weights: Vec<f32>,
    pub(crate) slots: Vec<Vec<f32>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_tile_the_weights() {
        for (count, servers) in [(79_510, 2), (79_510, 7), (10, 3), (4096, 1), (5000, 3)] {
            let mut next = 0;
            for index in 0..servers {
                let range = range(count, servers, index);
                assert_eq!(range.start, next);
                assert!(!range.is_empty(), "{count} over {servers}");
                next = range.end;
            }
            assert_eq!(next, count);
        }
    }

    #[test]
    fn what_is_too_large_for_a_frame_needs_more_servers() {
        for (count, servers) in [(10, 1), (1 << 30, 2), (1 << 31, 3)] {
            check(count, servers).unwrap();
            let longest = (0..servers).map(|index| range(count, servers, index).len()).max();
            assert!(longest <= Some(frame::MAX_WEIGHTS), "{count} over {servers}");
        }
        let problem = check(1 << 31, 2).unwrap_err().to_string();
        assert_eq!(problem, "2147483648 weights need at least 3 servers");
    }
}
