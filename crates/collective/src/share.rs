//! Who adds up which part of the values.
//!
//! The values are cut into portions, one for each seat that hosts ranks. Cuts lie on cache lines, so
//! that no two processes write to the same one; lengths differ by one line at most.

use std::ops::Range;

/// Floats in a cache line.
pub(crate) const LINE: usize = 16;

/// The portion of owner number `owner` of `owners`, of `len` values.
pub(crate) fn portion(len: usize, owners: usize, owner: usize) -> Range<usize> {
    let lines = len.div_ceil(LINE);
    let cut = |owner: usize| (lines * owner / owners * LINE).min(len);
    cut(owner)..cut(owner + 1)
}

/// The most values that any owner has of `len`.
pub(crate) fn largest_portion(len: usize, owners: usize) -> usize {
    len.div_ceil(LINE).div_ceil(owners) * LINE
}

/// Chunk number `number` of a portion.
pub(crate) fn chunk(portion: &Range<usize>, size: usize, number: usize) -> Range<usize> {
    let start = portion.start + number * size;
    start..(start + size).min(portion.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn portions_and_their_chunks_tile_the_values(
            len in 0..5_000usize, owners in 1..20usize, size in 1..500usize,
        ) {
            let mut next = 0;
            for owner in 0..owners {
                let portion = portion(len, owners, owner);
                prop_assert!(portion.len() <= largest_portion(len, owners));
                prop_assert_eq!(portion.start, next);
                prop_assert!(portion.start.is_multiple_of(LINE) || portion.start == len);
                for number in 0..portion.len().div_ceil(size) {
                    let chunk = chunk(&portion, size, number);
                    prop_assert_eq!(chunk.start, next);
                    prop_assert!(!chunk.is_empty());
                    next = chunk.end;
                }
                prop_assert_eq!(portion.end, next);
            }
            prop_assert_eq!(next, len);
        }
    }
}
