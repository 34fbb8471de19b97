//! Products with a matrix that is used again and again: its columns are copied once into strips, so
//! that the inner loop reads them one after another. Every output is the same chain as without.

use super::gemm::{Gemm, Start, Windows};
use crate::simd::Isa;

/// Columns of a strip: two of the longest vectors.
const STRIP: usize = 32;

/// Floats of `k` × `columns` in strips.
pub(crate) fn len(k: usize, columns: usize) -> usize {
    k * columns.next_multiple_of(STRIP)
}

/// Copies a matrix of `k` × `columns`, whose elements `at` names, into strips.
pub(crate) fn pack(to: &mut [f32], columns: usize, at: impl Fn(usize, usize) -> f32) {
    let k = to.len() / columns.next_multiple_of(STRIP);
    for (strip, to) in to.chunks_exact_mut(k * STRIP).enumerate() {
        let first = strip * STRIP;
        let width = STRIP.min(columns - first);
        for (k, row) in to.chunks_exact_mut(STRIP).enumerate() {
            for (c, value) in row[..width].iter_mut().enumerate() {
                *value = at(k, first + c);
            }
        }
    }
}

/// Where a product goes.
pub(crate) struct Into<'a> {
    pub(crate) c: &'a mut [f32],
    pub(crate) c_row: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// C = start + A·B, with B in strips.
pub(crate) fn product(isa: Isa, a: Windows<'_>, b: &[f32], into: Into<'_>, start: Start<'_>) {
    let Into { c, c_row, rows, columns } = into;
    let k = a.segments * a.length;
    for (strip, b) in b.chunks_exact(k * STRIP).enumerate() {
        let first = strip * STRIP;
        isa.run(Gemm {
            a,
            b,
            b_row: STRIP,
            c: &mut c[first..],
            c_row,
            rows,
            columns: STRIP.min(columns - first),
            start: match start {
                Start::Bias(bias) => Start::Bias(&bias[first..]),
                other => other,
            },
            relu: false,
        });
    }
}
