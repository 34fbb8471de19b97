//! Layer normalization: rows of numbers, each brought to mean 0 and variance 1. Sums run over a row in the
//! fixed lanes of [`math::sum`]; those of the weights' gradients are chains over the rows.

use crate::math::{self, LANES};
use crate::simd::kernel;

kernel! {
    /// y = (x − mean)·inverse·gamma + beta, row by row.
    fn forward<'a>(weights: [&'a [f32]; 2], epsilon: f32, x: &'a [f32], y: &'a mut [f32]) {
        let [gamma, beta] = weights;
        let rows = x.chunks_exact(gamma.len()).zip(y.chunks_exact_mut(gamma.len()));
        for (x, y) in rows {
            let (mean, inverse) = measure(x, epsilon);
            for (((y, x), gamma), beta) in y.iter_mut().zip(x).zip(gamma).zip(beta) {
                *y = ((x - mean) * inverse).mul_add(*gamma, *beta);
            }
        }
    }
}

kernel! {
    /// Σ dy·(x − mean)·inverse and Σ dy over rows, added to what is there.
    fn add_weight_gradient<'a>(epsilon: f32, values: [&'a [f32]; 2], sums: [&'a mut [f32]; 2]) {
        let [x, dy] = values;
        let [slopes, ones] = sums;
        let rows = x.chunks_exact(ones.len()).zip(dy.chunks_exact(ones.len()));
        for (x, dy) in rows {
            let (mean, inverse) = measure(x, epsilon);
            for (((x, dy), slope), one) in x.iter().zip(dy).zip(slopes.iter_mut()).zip(ones.iter_mut()) {
                *slope = dy.mul_add((x - mean) * inverse, *slope);
                *one += dy;
            }
        }
    }
}

kernel! {
    /// dx = inverse·(g − mean of g − unit·mean of g·unit), where g = dy·gamma and unit = (x − mean)·inverse.
    fn input_gradient<'a>(gamma: &'a [f32], epsilon: f32, values: [&'a [f32]; 2], dx: &'a mut [f32]) {
        let [x, dy] = values;
        let count = gamma.len() as f32;
        let rows = x.chunks_exact(gamma.len()).zip(dy.chunks_exact(gamma.len()));
        for ((x, dy), dx) in rows.zip(dx.chunks_exact_mut(gamma.len())) {
            let (mean, inverse) = measure(x, epsilon);
            for ((dx, dy), gamma) in dx.iter_mut().zip(dy).zip(gamma) {
                *dx = dy * gamma;
            }
            let always = math::sum(dx) / count;
            let tilt = inverse * inverse * (product(x, mean, dx) / count);
            for (dx, x) in dx.iter_mut().zip(x) {
                *dx = inverse * (x - mean).mul_add(-tilt, *dx - always);
            }
        }
    }
}

/// The mean of a row, and one over its deviation.
#[inline(always)]
fn measure(row: &[f32], epsilon: f32) -> (f32, f32) {
    let count = row.len() as f32;
    let mean = math::sum(row) / count;
    let mut lanes = [0.0f32; LANES];
    let blocks = row.chunks_exact(LANES);
    let rest = blocks.remainder();
    for block in blocks {
        for lane in 0..LANES {
            let d = block[lane] - mean;
            lanes[lane] = d.mul_add(d, lanes[lane]);
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        let d = x - mean;
        *lane = d.mul_add(d, *lane);
    }
    let variance = math::tree(lanes) / count;
    (mean, 1.0 / (variance + epsilon).sqrt())
}

/// Σ g·(x − mean).
#[inline(always)]
fn product(x: &[f32], mean: f32, g: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (x, g) = (x.chunks_exact(LANES), g.chunks_exact(LANES));
    let rest = x.remainder().iter().zip(g.remainder());
    for (x, g) in x.zip(g) {
        for lane in 0..LANES {
            lanes[lane] = g[lane].mul_add(x[lane] - mean, lanes[lane]);
        }
    }
    for (lane, (x, g)) in lanes.iter_mut().zip(rest) {
        *lane = g.mul_add(x - mean, *lane);
    }
    math::tree(lanes)
}
