//! As `depthwise`, with gaps between the pixels of a window; strides are 1 then. Vectors run over channels, and each
//! sum is one chain of fused multiply-adds over the window, row by row, or over the outputs.

use super::block::{BLOCK, add, load};
use crate::program::Window;
use crate::simd::kernel;

impl Window {
    /// The row (axis 0) or column (axis 1) of the input under a tap of an output's window, if it is inside.
    #[inline(always)]
    fn input_under(&self, axis: usize, output: usize, tap: usize) -> Option<usize> {
        let pixels = [self.input.height, self.input.width][axis];
        match (output + tap * self.dilation[axis]).checked_sub(self.before[axis]) {
            Some(pixel) if pixel < pixels => Some(pixel),
            _ => None,
        }
    }

    /// The row or column of the output whose window has this tap on a row or column of the input, if there is one.
    #[inline(always)]
    fn output_over(&self, axis: usize, input: usize, tap: usize) -> Option<usize> {
        let outputs = [self.output.height, self.output.width][axis];
        match (input + self.before[axis]).checked_sub(tap * self.dilation[axis]) {
            Some(output) if output < outputs => Some(output),
            _ => None,
        }
    }
}

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
                for down in 0..window.height {
                    let Some(row) = window.input_under(0, at[0], down) else { continue };
                    for across in 0..window.width {
                        let Some(column) = window.input_under(1, at[1], across) else { continue };
                        let from = (row * window.input.width + column) * channels + first;
                        let tap = (down * window.width + across) * channels + first;
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
                for down in 0..window.height {
                    let Some(row) = window.output_over(0, at[0], down) else { continue };
                    for across in 0..window.width {
                        let Some(column) = window.output_over(1, at[1], across) else { continue };
                        let from = (row * window.output.width + column) * channels + first;
                        let tap = (down * window.width + across) * channels + first;
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
            for first in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - first);
                let mut sums = load(&dw[first..first + len]);
                for row in 0..window.output.height {
                    let Some(above) = window.input_under(0, row, down) else { continue };
                    for column in 0..window.output.width {
                        let Some(left) = window.input_under(1, column, across) else { continue };
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
