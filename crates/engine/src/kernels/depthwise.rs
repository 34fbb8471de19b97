//! A convolution in which every channel has a window of its own. Vectors run over channels; each sum is
//! one chain of fused multiply-adds over the window, row by row, or over the outputs.

use super::block::{BLOCK, add, load};
use crate::program::Window;
use crate::simd::kernel;

kernel! {
    /// One picture forward: y = Σ x·kernel, starting at the bias where there is one.
    fn forward<'a>(window: Window, x: &'a [f32], weights: [&'a [f32]; 2], y: &'a mut [f32]) {
        let [kernel, bias] = weights;
        let channels = window.input.channels;
        for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
            let at = [pixel / window.output.width, pixel % window.output.width];
            let (rows, columns) = (window.covered(0, at[0]), window.covered(1, at[1]));
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = match bias {
                    [] => [0.0; BLOCK],
                    _ => load(&bias[first..first + len]),
                };
                for row in rows.clone() {
                    let from = (row * window.input.width + columns.start) * channels + first;
                    let tap = window.tap(at, [row, columns.start]) * channels + first;
                    let walk = Walk { start: [from, tap], step: [channels; 2], len: columns.len() };
                    sums = walk.add(sums, [x, kernel], len);
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
            let (rows, columns) = (window.covering(0, at[0]), window.covering(1, at[1]));
            // The next output's window lies further right, and so this pixel further left in it.
            let step = [channels, (window.stride[1] * channels).wrapping_neg()];
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = [0.0; BLOCK];
                for row in rows.clone().filter(|_| !columns.is_empty()) {
                    let from = (row * window.output.width + columns.start) * channels + first;
                    let tap = window.tap([row, columns.start], at) * channels + first;
                    let walk = Walk { start: [from, tap], step, len: columns.len() };
                    sums = walk.add(sums, [dy, kernel], len);
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
            let step = [window.stride[1] * channels, channels];
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = load(&dw[first..first + len]);
                for row in rows.clone().filter(|_| !columns.is_empty()) {
                    let above = row * window.stride[0] + down - window.before[0];
                    let left = columns.start * window.stride[1] + across - window.before[1];
                    let from = (above * window.input.width + left) * channels + first;
                    let to = (row * window.output.width + columns.start) * channels + first;
                    let walk = Walk { start: [from, to], step, len: columns.len() };
                    sums = walk.add(sums, [x, dy], len);
                }
                dw[first..first + len].copy_from_slice(&sums[..len]);
            }
        }
    }
}

/// A way through two memories side by side, a pixel each at a time.
struct Walk {
    start: [usize; 2],
    /// How far the next pixel is; it may be before.
    step: [usize; 2],
    len: usize,
}

impl Walk {
    /// Adds the products of both pixels' channels, of which there are so many, to some sums.
    #[inline(always)]
    fn add(&self, sums: [f32; BLOCK], both: [&[f32]; 2], channels: usize) -> [f32; BLOCK] {
        // What is known to be whole stays in registers.
        if channels == BLOCK {
            self.add_some(sums, both, BLOCK)
        } else {
            self.add_some(sums, both, channels)
        }
    }

    #[inline(always)]
    fn add_some(&self, mut sums: [f32; BLOCK], both: [&[f32]; 2], channels: usize) -> [f32; BLOCK] {
        let [mut left, mut right] = self.start;
        for _ in 0..self.len {
            add(&mut sums, &both[0][left..left + channels], &both[1][right..right + channels]);
            left = left.wrapping_add(self.step[0]);
            right = right.wrapping_add(self.step[1]);
        }
        sums
    }
}
