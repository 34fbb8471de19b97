//! Loops over slices that need no order, or one that vectors keep by themselves.

use crate::math;
use crate::simd::{Isa, kernel};

kernel! {
    /// Negative elements become zero.
    fn relu<'a>(values: &'a mut [f32]) {
        for value in values {
            *value = math::relu(*value);
        }
    }
}

kernel! {
    /// The gradient of ReLU: zero where the output `y` is not positive.
    fn relu_backward<'a>(y: &'a [f32], d: &'a mut [f32]) {
        for (d, y) in d.iter_mut().zip(y) {
            *d = if *y > 0.0 { *d } else { 0.0 };
        }
    }
}

kernel! {
    /// Adds each row of `rows` to `sums`, first to last.
    fn add_rows<'a>(rows: &'a [f32], sums: &'a mut [f32]) {
        for row in rows.chunks_exact(sums.len()) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

kernel! {
    /// Bytes as floats, scaled.
    fn scale_bytes<'a>(bytes: &'a [u8], scale: f32, values: &'a mut [f32]) {
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = f32::from(*byte) * scale;
        }
    }
}

kernel! {
    /// Every value times `scale`, plus `offset`.
    fn scale<'a>(scale: f32, offset: f32, values: &'a mut [f32]) {
        for value in values {
            *value = value.mul_add(scale, offset);
        }
    }
}

kernel! {
    /// Whether all values are whole numbers from 0 to below `end`.
    fn are_ids<'a>(values: &'a [f32], end: f32) -> bool {
        let mut all = true;
        for &value in values {
            all &= (value >= 0.0) & (value < end) & (value.trunc() == value);
        }
        all
    }
}

kernel! {
    /// Adds rows that lie `pitch` apart to `sums`, first to last.
    fn add_apart<'a>(rows: &'a [f32], pitch: usize, sums: &'a mut [f32]) {
        for row in rows.chunks(pitch) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

kernel! {
    /// The sum of squares.
    fn square_sum<'a>(values: &'a [f32]) -> f32 {
        math::dot(values, values)
    }
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

kernel! {
    /// Drops elements; the first has the number `first`.
    fn drop_elements<'a>(choice: Choice, first: u32, values: &'a mut [f32]) {
        for (i, value) in values.iter_mut().enumerate() {
            let bits = random::bits32(choice.words, first.wrapping_add(i as u32));
            let kept = *value * choice.scale;
            *value = if bits >= choice.threshold { kept } else { 0.0 };
        }
    }
}

/// As many columns of a matrix as `to` takes, turned, in blocks that stay in the cache. The matrix has so
/// many rows, which lie `pitch` apart.
pub(crate) fn transpose(from: &[f32], rows: usize, pitch: usize, to: &mut [f32]) {
    const BLOCK: usize = 16;
    let columns = to.len() / rows;
    for row in (0..rows).step_by(BLOCK) {
        for column in (0..columns).step_by(BLOCK) {
            for r in row..(row + BLOCK).min(rows) {
                for c in column..(column + BLOCK).min(columns) {
                    to[c * rows + r] = from[r * pitch + c];
                }
            }
        }
    }
}

/// Elements that are summed over all partial results at a time.
const BLOCK: usize = 512;

/// `to` = the sum of `count` partial results of equal length, as a balanced binary tree over them:
/// ((p0 + p1) + (p2 + p3)) + … . `first` is where `to` begins in each of them.
pub(crate) fn add_tree(isa: Isa, partials: &[f32], count: usize, first: usize, to: &mut [f32]) {
    let len = partials.len() / count;
    for (block, to) in to.chunks_mut(BLOCK).enumerate() {
        branch(isa, &partials[first + block * BLOCK..], (len, count), to);
    }
}

fn branch(isa: Isa, partials: &[f32], (len, count): (usize, usize), to: &mut [f32]) {
    if count == 1 {
        to.copy_from_slice(&partials[..to.len()]);
        return;
    }
    let left = count.next_power_of_two() / 2;
    branch(isa, partials, (len, left), to);
    let mut right = [0.0; BLOCK];
    let right = &mut right[..to.len()];
    branch(isa, &partials[left * len..], (len, count - left), right);
    add_rows(isa, right, to);
}
