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
        let row = window.width * window.input.channels;
        for (down, dw) in dw.chunks_exact_mut(row).enumerate() {
            // Sums of several taps at a time do not wait for each other.
            let mut taps = Taps { window, down, across: 0 };
            while taps.across + 3 <= window.width {
                taps.add::<3>(x, dy, dw);
                taps.across += 3;
            }
            while taps.across < window.width {
                taps.add::<1>(x, dy, dw);
                taps.across += 1;
            }
        }
    }
}

/// Taps of a window that lie side by side.
#[derive(Clone, Copy)]
struct Taps {
    window: Window,
    down: usize,
    /// The first of them.
    across: usize,
}

impl Taps {
    /// Adds what all outputs give `N` taps, in a row of the kernel.
    #[inline(always)]
    fn add<const N: usize>(self, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        let channels = self.window.input.channels;
        for first in (0..channels).step_by(BLOCK) {
            let len = BLOCK.min(channels - first);
            let mut sums = [[0.0; BLOCK]; N];
            for (n, sums) in sums.iter_mut().enumerate() {
                *sums = load(&dw[(self.across + n) * channels + first..][..len]);
            }
            // What is known to be whole stays in registers.
            if len == BLOCK {
                self.add_rows(&mut sums, [&x[first..], &dy[first..]], BLOCK);
            } else {
                self.add_rows(&mut sums, [&x[first..], &dy[first..]], len);
            }
            for (n, sums) in sums.iter().enumerate() {
                dw[(self.across + n) * channels + first..][..len].copy_from_slice(&sums[..len]);
            }
        }
    }

    /// Where the first tap lies in x for an output, and the output in dy.
    #[inline(always)]
    fn pixels(self, row: usize, column: usize) -> [usize; 2] {
        let Taps { window, down, across } = self;
        let above = row * window.stride[0] + down - window.before[0];
        // It may lie left of the picture, when another is asked for.
        let left = (column * window.stride[1] + across).wrapping_sub(window.before[1]);
        let from = (above * window.input.width).wrapping_add(left);
        let to = row * window.output.width + column;
        [from.wrapping_mul(window.input.channels), to * window.input.channels]
    }

    #[inline(always)]
    fn add_rows<const N: usize>(self, sums: &mut [[f32; BLOCK]; N], both: [&[f32]; 2], len: usize) {
        let Taps { window, down, across } = self;
        let last = across + N - 1;
        // Outputs whose windows have all of these taps inside the picture; left and right of them those that have some.
        let first = window.reaching(1, across).start;
        let end = window.reaching(1, last).end.max(first);
        let some = window.reaching(1, last).start..window.reaching(1, across).end.max(end);
        for row in window.reaching(0, down) {
            for column in some.start..first {
                self.add_edge(sums, both, (row, column), len);
            }
            let mut at = self.pixels(row, first);
            for _ in first..end {
                let dy = load(&both[1][at[1]..at[1] + len]);
                for (n, sums) in sums.iter_mut().enumerate() {
                    let from = at[0] + n * window.input.channels;
                    let x = load(&both[0][from..from + len]);
                    for i in 0..BLOCK {
                        sums[i] = x[i].mul_add(dy[i], sums[i]);
                    }
                }
                at[0] += window.stride[1] * window.input.channels;
                at[1] += window.input.channels;
            }
            for column in end..some.end {
                self.add_edge(sums, both, (row, column), len);
            }
        }
    }

    /// Adds what one output gives those taps that lie inside the picture.
    #[inline(always)]
    fn add_edge<const N: usize>(
        self,
        sums: &mut [[f32; BLOCK]; N],
        [x, dy]: [&[f32]; 2],
        (row, column): (usize, usize),
        len: usize,
    ) {
        let [from, to] = self.pixels(row, column);
        for (n, sums) in sums.iter_mut().enumerate() {
            if self.window.reaching(1, self.across + n).contains(&column) {
                let from = from.wrapping_add(n * self.window.input.channels);
                add(sums, &x[from..from + len], &dy[to..to + len]);
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
