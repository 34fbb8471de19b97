//! Flat memory of floats that begins at a cache line, so that vectors do not straddle two.
#![expect(unsafe_code, reason = "lines of floats are seen as floats")]

use std::ops::{Deref, DerefMut};

const FLOATS: usize = 16;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; FLOATS]);

/// Floats that begin at a cache line. Seen as a slice.
pub struct Arena {
    lines: Vec<Line>,
    len: usize,
}

/// The bytes that `len` floats take.
pub(crate) fn size(len: usize) -> usize {
    len.div_ceil(FLOATS) * size_of::<Line>()
}

impl Arena {
    /// Zeroes.
    pub(crate) fn new(len: usize) -> Self {
        Arena { lines: vec![Line([0.0; FLOATS]); len.div_ceil(FLOATS)], len }
    }
}

impl Deref for Arena {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: a `Line` is 16 floats without gaps, and `len` is at most all of them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Arena {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
