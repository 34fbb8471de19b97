//! Batch normalization over rows of channels. Vectors run over channels; each sum is one chain over
//! the rows of a part.

use super::block::{BLOCK, load};
use crate::math;
use crate::simd::kernel;

kernel! {
    /// Σ d and Σ d² of each channel, where d is how far x is from `shift`. Sums of numbers that are
    /// small beside their mean would lose the digits that the variance is made of.
    fn moments<'a>(shift: &'a [f32], x: &'a [f32], sums: [&'a mut [f32]; 2]) {
        let channels = shift.len();
        let [first, second] = sums;
        for start in (0..channels).step_by(BLOCK) {
            let len = BLOCK.min(channels - start);
            let base = load(&shift[start..start + len]);
            let mut ones = [0.0f32; BLOCK];
            let mut squares = [0.0f32; BLOCK];
            for row in x.chunks_exact(channels) {
                let row = load(&row[start..start + len]);
                for i in 0..BLOCK {
                    let d = row[i] - base[i];
                    ones[i] += d;
                    squares[i] = d.mul_add(d, squares[i]);
                }
            }
            first[start..start + len].copy_from_slice(&ones[..len]);
            second[start..start + len].copy_from_slice(&squares[..len]);
        }
    }
}

kernel! {
    /// y = x·scale + offset, channel by channel, and perhaps ReLU.
    fn apply<'a>(line: [&'a [f32]; 2], relu: bool, x: &'a [f32], y: &'a mut [f32]) {
        let [scale, offset] = line;
        let rows = x.chunks_exact(scale.len()).zip(y.chunks_exact_mut(scale.len()));
        for (x, y) in rows {
            for (((y, x), scale), offset) in y.iter_mut().zip(x).zip(scale).zip(offset) {
                let value = x.mul_add(*scale, *offset);
                *y = if relu { math::relu(value) } else { value };
            }
        }
    }
}

kernel! {
    /// The gradient of ReLU where the output is computed again: zero where it is not positive.
    fn mask<'a>(line: [&'a [f32]; 2], x: &'a [f32], dy: &'a mut [f32]) {
        let [scale, offset] = line;
        let rows = x.chunks_exact(scale.len()).zip(dy.chunks_exact_mut(scale.len()));
        for (x, dy) in rows {
            for (((dy, x), scale), offset) in dy.iter_mut().zip(x).zip(scale).zip(offset) {
                *dy = if x.mul_add(*scale, *offset) > 0.0 { *dy } else { 0.0 };
            }
        }
    }
}

kernel! {
    /// Σ dy and Σ dy·(x − mean) of each channel.
    fn slopes<'a>(mean: &'a [f32], values: [&'a [f32]; 2], sums: [&'a mut [f32]; 2]) {
        let [x, dy] = values;
        let channels = mean.len();
        let [first, second] = sums;
        for start in (0..channels).step_by(BLOCK) {
            let len = BLOCK.min(channels - start);
            let base = load(&mean[start..start + len]);
            let mut ones = [0.0f32; BLOCK];
            let mut products = [0.0f32; BLOCK];
            for (x, dy) in x.chunks_exact(channels).zip(dy.chunks_exact(channels)) {
                let (x, dy) = (load(&x[start..start + len]), load(&dy[start..start + len]));
                for i in 0..BLOCK {
                    ones[i] += dy[i];
                    products[i] = dy[i].mul_add(x[i] - base[i], products[i]);
                }
            }
            first[start..start + len].copy_from_slice(&ones[..len]);
            second[start..start + len].copy_from_slice(&products[..len]);
        }
    }
}

/// What the gradient of the input is made with, for each channel.
#[derive(Clone, Copy)]
pub(crate) struct Spread<'a> {
    pub(crate) mean: &'a [f32],
    pub(crate) scale: &'a [f32],
    /// What is added for each step away from the mean, and what is always added.
    pub(crate) tilt: &'a [f32],
    pub(crate) offset: &'a [f32],
}

kernel! {
    /// dx = dy·scale + (x − mean)·tilt + offset.
    fn spread<'a>(spread: Spread<'a>, values: [&'a [f32]; 2], dx: &'a mut [f32]) {
        let [x, dy] = values;
        let Spread { mean, scale, tilt, offset } = spread;
        let channels = mean.len();
        let rows = x.chunks_exact(channels).zip(dy.chunks_exact(channels));
        for ((x, dy), dx) in rows.zip(dx.chunks_exact_mut(channels)) {
            let lines = scale.iter().zip(mean).zip(tilt.iter().zip(offset));
            let values = x.iter().zip(dy).zip(dx);
            for (((x, dy), dx), ((scale, mean), (tilt, offset))) in values.zip(lines) {
                *dx = dy.mul_add(*scale, (x - mean).mul_add(*tilt, *offset));
            }
        }
    }
}
