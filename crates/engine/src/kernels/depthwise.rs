//! A convolution in which every channel has a window of its own. Vectors run over channels; each sum is
//! one chain of fused multiply-adds over the window, row by row, or over the outputs.

use super::block::{BLOCK, load};
use crate::program::Window;
use crate::simd::kernel;

kernel! {
    /// One picture forward: y = Σ x·kernel, starting at the bias where there is one.
    fn forward<'a>(window: Window, x: &'a [f32], weights: [&'a [f32]; 2], y: &'a mut [f32]) {
        let [kernel, bias] = weights;
        let channels = window.input.channels;
        for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
            let at = [pixel / window.output.width, pixel % window.output.width];
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = match bias {
                    [] => [0.0; BLOCK],
                    _ => load(&bias[first..first + len]),
                };
                for row in window.covered(0, at[0]) {
                    for column in window.covered(1, at[1]) {
                        let from = (row * window.input.width + column) * channels + first;
                        let tap = window.tap(at, [row, column]) * channels + first;
                        add(&mut sums, &x[from..from + len], &kernel[tap..tap + len]);
                    }
                }
                y[first..first + len].copy_from_slice(&sums[..len]);
            }
        }
    }
}

kernel! {
    /// The gradient of one picture: dx = Σ dy·kernel over all windows that a pixel is in.
    fn input_gradient<'a>(window: Window, dy: &'a [f32], kernel: &'a [f32], dx: &'a mut [f32]) {
        let channels = window.input.channels;
        for (pixel, dx) in dx.chunks_exact_mut(channels).enumerate() {
            let at = [pixel / window.input.width, pixel % window.input.width];
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = [0.0; BLOCK];
                for row in window.covering(0, at[0]) {
                    for column in window.covering(1, at[1]) {
                        let from = (row * window.output.width + column) * channels + first;
                        let tap = window.tap([row, column], at) * channels + first;
                        add(&mut sums, &dy[from..from + len], &kernel[tap..tap + len]);
                    }
                }
                dx[first..first + len].copy_from_slice(&sums[..len]);
            }
        }
    }
}

kernel! {
    /// Adds the gradient that one picture gives the kernel: Σ x·dy over all outputs, for each tap.
    fn add_weight_gradient<'a>(window: Window, x: &'a [f32], dy: &'a [f32], dw: &'a mut [f32]) {
        let channels = window.input.channels;
        for (tap, dw) in dw.chunks_exact_mut(channels).enumerate() {
            let [down, across] = [tap / window.width, tap % window.width];
            let (rows, columns) = (window.reaching(0, down), window.reaching(1, across));
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = load(&dw[first..first + len]);
                for row in rows.clone() {
                    let above = row * window.stride[0] + down - window.before[0];
                    for column in columns.clone() {
                        let left = column * window.stride[1] + across - window.before[1];
                        let from = (above * window.input.width + left) * channels + first;
                        let to = (row * window.output.width + column) * channels + first;
                        add(&mut sums, &x[from..from + len], &dy[to..to + len]);
                    }
                }
                dw[first..first + len].copy_from_slice(&sums[..len]);
            }
        }
    }
}

/// Adds products of channels to their sums.
#[inline(always)]
pub(super) fn add(sums: &mut [f32; BLOCK], left: &[f32], right: &[f32]) {
    let (left, right) = (load(left), load(right));
    for i in 0..BLOCK {
        sums[i] = left[i].mul_add(right[i], sums[i]);
    }
}
