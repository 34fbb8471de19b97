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

/// How many strips so many columns are.
pub(crate) fn count(columns: usize) -> usize {
    columns.div_ceil(STRIP)
}

/// Copies a row-major matrix into strips: those from `first` on that `to` takes.
pub(crate) fn copy(matrix: &[f32], columns: usize, first: usize, to: &mut [f32]) {
    let k = matrix.len() / columns;
    for (strip, to) in to.chunks_exact_mut(k * STRIP).enumerate() {
        let first = (first + strip) * STRIP;
        let width = STRIP.min(columns - first);
        for (row, to) in matrix.chunks_exact(columns).zip(to.chunks_exact_mut(STRIP)) {
            to[..width].copy_from_slice(&row[first..first + width]);
        }
    }
}

/// The same of a matrix turned, whose rows of `k` become the columns of strips.
pub(crate) fn copy_turned(matrix: &[f32], k: usize, first: usize, to: &mut [f32]) {
    /// Elements of a row that are turned at a time: what they become stays in the cache.
    const BLOCK: usize = 16;
    for (strip, to) in to.chunks_exact_mut(k * STRIP).enumerate() {
        let rows = &matrix[(first + strip) * STRIP * k..];
        for (block, to) in to.chunks_mut(BLOCK * STRIP).enumerate() {
            for (column, row) in rows.chunks_exact(k).take(STRIP).enumerate() {
                let to = to[column..].iter_mut().step_by(STRIP);
                to.zip(&row[block * BLOCK..]).for_each(|(to, value)| *to = *value);
            }
        }
    }
}

/// Where a product goes, and whether its negative numbers become zero.
pub(crate) struct Into<'a> {
    pub(crate) c: &'a mut [f32],
    pub(crate) c_row: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) relu: bool,
}

/// C = start + A·B, with B in strips.
pub(crate) fn product(isa: Isa, a: Windows<'_>, b: &[f32], into: Into<'_>, start: Start<'_>) {
    let Into { c, c_row, rows, columns, relu } = into;
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
            relu,
        });
    }
}
