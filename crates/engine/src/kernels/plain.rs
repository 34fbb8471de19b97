//! Loops over slices that need no order, or one that vectors keep by themselves.

use crate::simd::{Isa, Plain};

/// Applies a function to each element.
pub(crate) fn map(isa: Isa, values: &mut [f32], f: impl Fn(f32) -> f32) {
    isa.run(Plain(|| {
        for value in values {
            *value = f(*value);
        }
    }));
}

/// Applies a function of an element of `with` and one of `values`, to the latter.
pub(crate) fn map_with(isa: Isa, with: &[f32], values: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    isa.run(Plain(|| {
        for (value, with) in values.iter_mut().zip(with) {
            *value = f(*with, *value);
        }
    }));
}

/// The gradient of ReLU: zero where the output `y` is not positive.
pub(crate) fn mask(isa: Isa, y: &[f32], d: &mut [f32]) {
    map_with(isa, y, d, |y, d| if y > 0.0 { d } else { 0.0 });
}

/// Adds each row of `rows` to `sums`, first to last.
pub(crate) fn add_rows(isa: Isa, rows: &[f32], sums: &mut [f32]) {
    isa.run(Plain(|| {
        for row in rows.chunks_exact(sums.len()) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }));
}

/// Bytes as floats, scaled.
pub(crate) fn scale_bytes(isa: Isa, bytes: &[u8], scale: f32, values: &mut [f32]) {
    isa.run(Plain(|| {
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = f32::from(*byte) * scale;
        }
    }));
}

/// Which elements dropout keeps, and what becomes of them.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// The key's words.
    pub(crate) words: (u32, u32),
    /// Elements whose random bits are below are dropped.
    pub(crate) threshold: u32,
    /// What the others are multiplied by.
    pub(crate) scale: f32,
}

/// Drops elements; the first has the number `first`.
pub(crate) fn drop_elements(isa: Isa, choice: Choice, first: u32, values: &mut [f32]) {
    isa.run(Plain(|| {
        for (i, value) in values.iter_mut().enumerate() {
            let bits = random::bits32(choice.words, first.wrapping_add(i as u32));
            let kept = *value * choice.scale;
            *value = if bits >= choice.threshold { kept } else { 0.0 };
        }
    }));
}

/// A matrix of `rows` × `columns`, turned, in blocks that stay in the cache.
pub(crate) fn transpose(from: &[f32], rows: usize, columns: usize, to: &mut [f32]) {
    const BLOCK: usize = 16;
    for row in (0..rows).step_by(BLOCK) {
        for column in (0..columns).step_by(BLOCK) {
            for r in row..(row + BLOCK).min(rows) {
                for c in column..(column + BLOCK).min(columns) {
                    to[c * rows + r] = from[r * columns + c];
                }
            }
        }
    }
}

/// `to` = the sum of `count` partial results of equal length, as a balanced binary tree over them:
/// ((p0 + p1) + (p2 + p3)) + … . `first` is where `to` begins in each of them.
pub(crate) fn add_tree(isa: Isa, partials: &[f32], count: usize, first: usize, to: &mut [f32]) {
    const BLOCK: usize = 512;
    let len = partials.len() / count;
    for (block, to) in to.chunks_mut(BLOCK).enumerate() {
        let at = first + block * BLOCK;
        isa.run(Plain(|| branch::<BLOCK>(&partials[at..], len, count, to)));
    }
}

fn branch<const BLOCK: usize>(partials: &[f32], len: usize, count: usize, to: &mut [f32]) {
    if count == 1 {
        to.copy_from_slice(&partials[..to.len()]);
        return;
    }
    let left = count.next_power_of_two() / 2;
    branch::<BLOCK>(partials, len, left, to);
    let mut right = [0.0; BLOCK];
    let right = &mut right[..to.len()];
    branch::<BLOCK>(&partials[left * len..], len, count - left, right);
    for (to, right) in to.iter_mut().zip(right) {
        *to += *right;
    }
}
