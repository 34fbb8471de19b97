//! Memory cut into pieces for the parts of a parallel run: each part gets its own.
#![expect(unsafe_code, reason = "disjoint pieces of one slice go to different threads")]

use std::marker::PhantomData;
use std::ops::Range;

/// Which of `units` the part number `part` of `parts` has. Parts differ by at most one unit.
pub(crate) fn portion(units: usize, parts: usize, part: usize) -> Range<usize> {
    let start = |part: usize| part * (units / parts) + part.min(units % parts);
    start(part)..start(part + 1)
}

/// Something that can be handed out piece by piece.
///
/// # Safety
/// Pieces of different numbers do not overlap.
pub(crate) unsafe trait Share {
    /// What one part gets.
    type Piece;

    /// The piece of one part.
    ///
    /// # Safety
    /// Each number is asked for at most once in the life of `self`.
    unsafe fn piece(&self, part: usize) -> Self::Piece;
}

/// A slice of `units` equal rows, cut into `parts` pieces of whole rows.
pub(crate) struct Cut<'a, T> {
    start: *mut T,
    row: usize,
    units: usize,
    parts: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T> Cut<'a, T> {
    /// Cuts `slice`, whose length is a multiple of `units`, as [`portion`] says.
    pub(crate) fn new(slice: &'a mut [T], units: usize, parts: usize) -> Self {
        let row = slice.len().checked_div(units).unwrap_or(0);
        assert_eq!(row * units, slice.len(), "rows of equal length");
        Cut { start: slice.as_mut_ptr(), row, units, parts, borrow: PhantomData }
    }
}

// SAFETY: a `Cut` is a `&mut [T]` that is handed out in disjoint pieces.
unsafe impl<T: Send> Sync for Cut<'_, T> {}

// SAFETY: `portion` gives disjoint ranges.
unsafe impl<'a, T: Send> Share for Cut<'a, T> {
    type Piece = &'a mut [T];

    #[inline]
    unsafe fn piece(&self, part: usize) -> &'a mut [T] {
        assert!(part < self.parts, "a part of this cut");
        let rows = portion(self.units, self.parts, part);
        // SAFETY: inside the slice borrowed for `'a`, and no other part gets these rows.
        unsafe {
            let start = self.start.add(rows.start * self.row);
            std::slice::from_raw_parts_mut(start, rows.len() * self.row)
        }
    }
}

/// The parts of one, and then those of another.
pub(crate) struct Chain<A, B> {
    pub(crate) first: A,
    /// How many parts the first has.
    pub(crate) parts: usize,
    pub(crate) second: B,
}

impl<'a, T> Chain<Cut<'a, T>, Cut<'a, T>> {
    /// Two slices of `units` rows, each cut into `parts` pieces.
    pub(crate) fn new([first, second]: [&'a mut [T]; 2], units: usize, parts: usize) -> Self {
        let cut = |slice: &'a mut [T]| Cut::new(slice, units, parts);
        Chain { first: cut(first), parts, second: cut(second) }
    }
}

// SAFETY: each part belongs to one of the two.
unsafe impl<A: Share, B: Share<Piece = A::Piece>> Share for Chain<A, B> {
    type Piece = A::Piece;

    #[inline]
    unsafe fn piece(&self, part: usize) -> A::Piece {
        // SAFETY: by the contract, passed on.
        unsafe {
            match part.checked_sub(self.parts) {
                None => self.first.piece(part),
                Some(part) => self.second.piece(part),
            }
        }
    }
}

macro_rules! share_tuple {
    ($($name:ident),*) => {
        // SAFETY: as each member's.
        unsafe impl<$($name: Share),*> Share for ($($name,)*) {
            type Piece = ($($name::Piece,)*);

            #[inline]
            #[expect(non_snake_case, reason = "type parameters name the members")]
            unsafe fn piece(&self, part: usize) -> Self::Piece {
                let ($($name,)*) = self;
                // SAFETY: by the contract, passed on.
                unsafe { ($($name.piece(part),)*) }
            }
        }
    };
}
share_tuple!(A, B);
share_tuple!(A, B, C);
share_tuple!(A, B, C, D);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_tile_the_units() {
        for units in 0..40 {
            for parts in 1..20 {
                let mut next = 0;
                for part in 0..parts {
                    let range = portion(units, parts, part);
                    assert_eq!(range.start, next);
                    assert!(range.len().abs_diff(units / parts) <= 1);
                    next = range.end;
                }
                assert_eq!(next, units);
            }
        }
    }
}
