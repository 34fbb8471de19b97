//! Batch normalization over rows of channels. Vectors run over channels. A sum over the rows of a part is
//! made of chains over runs of rows, added up one after another: a run is read from memory once for all
//! of its channels, and short chains lose fewer digits than one over all pixels of large pictures.

use super::block::{BLOCK, load};
use crate::math;
use crate::simd::kernel;

/// Rows of a run.
const RUN: usize = 64;

kernel! {
    /// Σ d and Σ d² of each channel, where d is how far x is from `shift`. Sums of numbers that are
    /// small beside their mean would lose the digits that the variance is made of.
    fn moments<'a>(shift: &'a [f32], x: &'a [f32], sums: [&'a mut [f32]; 2]) {
        let channels = shift.len();
        let [first, second] = sums;
        first.fill(0.0);
        second.fill(0.0);
        for run in x.chunks(RUN * channels) {
            for start in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - start);
                let base = load(&shift[start..start + len]);
                let mut ones = [0.0f32; BLOCK];
                let mut squares = [0.0f32; BLOCK];
                for row in run.chunks_exact(channels) {
                    let row = load(&row[start..start + len]);
                    for i in 0..BLOCK {
                        let d = row[i] - base[i];
                        ones[i] += d;
                        squares[i] = d.mul_add(d, squares[i]);
                    }
                }
                add(&mut first[start..start + len], &ones);
                add(&mut second[start..start + len], &squares);
            }
        }
    }
}

#[inline(always)]
fn add(sums: &mut [f32], run: &[f32; BLOCK]) {
    sums.iter_mut().zip(run).for_each(|(sum, run)| *sum += run);
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

/// The line that x is brought onto, which tells where a ReLU after it lets gradients through.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) mean: &'a [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) offset: &'a [f32],
    pub(crate) relu: bool,
}

/// A gradient, or zero where ReLU, computed again, stops it.
#[inline(always)]
fn through(relu: bool, x: f32, (scale, offset): (f32, f32), dy: f32) -> f32 {
    if (x.mul_add(scale, offset) > 0.0) | !relu { dy } else { 0.0 }
}

kernel! {
    /// Σ dy and Σ dy·(x − mean) of each channel.
    fn slopes<'a>(line: Line<'a>, values: [&'a [f32]; 2], sums: [&'a mut [f32]; 2]) {
        let [x, dy] = values;
        let channels = line.mean.len();
        let [first, second] = sums;
        first.fill(0.0);
        second.fill(0.0);
        for (x, dy) in x.chunks(RUN * channels).zip(dy.chunks(RUN * channels)) {
            for start in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - start);
                let base = load(&line.mean[start..start + len]);
                let scale = load(&line.scale[start..start + len]);
                let offset = load(&line.offset[start..start + len]);
                let mut ones = [0.0f32; BLOCK];
                let mut products = [0.0f32; BLOCK];
                for (x, dy) in x.chunks_exact(channels).zip(dy.chunks_exact(channels)) {
                    let (x, dy) = (load(&x[start..start + len]), load(&dy[start..start + len]));
                    for i in 0..BLOCK {
                        let dy = through(line.relu, x[i], (scale[i], offset[i]), dy[i]);
                        ones[i] += dy;
                        products[i] = dy.mul_add(x[i] - base[i], products[i]);
                    }
                }
                add(&mut first[start..start + len], &ones);
                add(&mut second[start..start + len], &products);
            }
        }
    }
}

kernel! {
    /// dx = dy·scale + (x − mean)·tilt + always: what the batch's own mean and variance add depends on how
    /// far x is from the mean, and does not.
    fn spread<'a>(line: Line<'a>, added: [&'a [f32]; 2], values: [&'a [f32]; 2], dx: &'a mut [f32]) {
        let ([tilt, always], [x, dy]) = (added, values);
        let Line { mean, scale, offset, relu } = line;
        let channels = mean.len();
        let rows = x.chunks_exact(channels).zip(dy.chunks_exact(channels));
        for ((x, dy), dx) in rows.zip(dx.chunks_exact_mut(channels)) {
            let lines = scale.iter().zip(offset).zip(mean).zip(tilt.iter().zip(always));
            let values = x.iter().zip(dy).zip(dx);
            for (((x, dy), dx), (((scale, offset), mean), (tilt, always))) in values.zip(lines) {
                let dy = through(relu, *x, (*scale, *offset), *dy);
                *dx = dy.mul_add(*scale, (x - mean).mul_add(*tilt, *always));
            }
        }
    }
}
