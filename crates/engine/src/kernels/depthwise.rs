//! A convolution in which every channel has a window of its own, perhaps with gaps. Vectors run over channels; each sum
//! is one chain of fused multiply-adds over the window, row by row, or over the outputs.

use super::vectors::{self, ByChannels};
use super::walk::{Sums, Walk};
use crate::program::Window;
use crate::simd::{Kernel, Simd};

/// One picture forward: y = Σ x·kernel, starting at the bias where there is one.
pub(crate) struct Forward<'a> {
    pub(crate) window: Window,
    pub(crate) x: &'a [f32],
    pub(crate) kernel: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) y: &'a mut [f32],
}

/// The gradient of one picture: dx = Σ dy·kernel over all windows that a pixel is in.
pub(crate) struct InputGradient<'a> {
    pub(crate) window: Window,
    pub(crate) dy: &'a [f32],
    pub(crate) kernel: &'a [f32],
    pub(crate) dx: &'a mut [f32],
}

/// Adds the gradient that one picture gives the kernel: Σ x·dy over all outputs, for each tap.
pub(crate) struct WeightGradient<'a> {
    pub(crate) window: Window,
    pub(crate) x: &'a [f32],
    pub(crate) dy: &'a [f32],
    pub(crate) dw: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Forward { window, x, kernel, bias, y } = self;
        let channels = window.input.channels;
        for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
            let at = [pixel / window.output.width, pixel % window.output.width];
            let taps = [0, 1].map(|axis| window.inside(axis, at[axis]));
            let [row, column] = [0, 1].map(|axis| window.under(axis, at[axis], taps[axis].start));
            let from = row * window.input.width + column;
            let tap = taps[0].start * window.width + taps[1].start;
            let first = Walk {
                memory: [x, kernel],
                start: [from * channels, tap * channels],
                step: [window.dilation[1] * channels, channels],
                len: taps[1].len(),
            };
            let down = [window.dilation[0] * window.input.row(), window.row()];
            let mut pixel = Pixel { first, down, rows: taps[0].len(), bias, y };
            vectors::each::<S>(channels, &mut pixel);
        }
    }
}

impl Kernel for InputGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let InputGradient { window, dy, kernel, dx } = self;
        let channels = window.input.channels;
        for (pixel, dx) in dx.chunks_exact_mut(channels).enumerate() {
            let at = [pixel / window.input.width, pixel % window.input.width];
            let [([row, tap_down], rows), ([column, tap_across], columns)] =
                [0, 1].map(|axis| window.over(axis, at[axis]));
            let from = row * window.output.width + column;
            let tap = tap_down * window.width + tap_across;
            // The next output's window lies further on, and so this pixel further back in it.
            let first = Walk {
                memory: [dy, kernel],
                start: [from * channels, tap * channels],
                step: [window.dilation[1] * channels, (window.stride[1] * channels).wrapping_neg()],
                len: columns,
            };
            let down = [
                window.dilation[0] * window.output.row(),
                (window.stride[0] * window.row()).wrapping_neg(),
            ];
            vectors::each::<S>(channels, &mut Pixel { first, down, rows, bias: &[], y: dx });
        }
    }
}

impl Kernel for WeightGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        vectors::each::<S>(self.window.input.channels, &mut self);
    }
}

/// A pixel that is a sum over some rows of two memories.
struct Pixel<'a> {
    /// Through the first row.
    first: Walk<'a>,
    /// How far the next row is in each; it may be before.
    down: [usize; 2],
    rows: usize,
    bias: &'a [f32],
    y: &'a mut [f32],
}

impl ByChannels for Pixel<'_> {
    #[inline(always)]
    fn some<S: Simd, const NV: usize, const TAIL: bool>(&mut self, first: usize) {
        let bias = if self.bias.is_empty() { &[] } else { &self.bias[first..] };
        let mut sums = [Sums::<S, NV, TAIL>::begin(self.y.len(), bias)];
        let mut walk = self.first;
        walk.start = walk.start.map(|start| start + first);
        for _ in 0..self.rows {
            Sums::add(&mut sums, walk, 0);
            walk.start = [0, 1].map(|side| walk.start[side].wrapping_add(self.down[side]));
        }
        sums[0].store(&mut self.y[first..]);
    }
}

impl ByChannels for WeightGradient<'_> {
    #[inline(always)]
    fn some<S: Simd, const NV: usize, const TAIL: bool>(&mut self, first: usize) {
        let window = self.window;
        for down in 0..window.height {
            // Sums of several taps at a time do not wait for each other.
            let threes = window.width / 3 * 3;
            for across in (0..threes).step_by(3) {
                self.taps::<S, NV, TAIL, 3>([down, across], first);
            }
            for across in threes..window.width {
                self.taps::<S, NV, TAIL, 1>([down, across], first);
            }
        }
    }
}

impl WeightGradient<'_> {
    /// What all outputs give `N` taps that lie side by side.
    #[inline(always)]
    fn taps<S: Simd, const NV: usize, const TAIL: bool, const N: usize>(
        &mut self,
        tap: [usize; 2],
        first: usize,
    ) {
        let (window, channels, [down, across]) = (self.window, self.window.input.channels, tap);
        let mut sums: [Sums<S, NV, TAIL>; N] =
            std::array::from_fn(|n| Sums::begin(channels, &self.dw[self.place(tap, n) + first..]));
        // Outputs whose windows have all these taps inside the picture; beside them, those that have some.
        let [leftmost, rightmost] = [across, across + N - 1].map(|tap| window.reaching(1, tap));
        let all = leftmost.start..rightmost.end.max(leftmost.start);
        for row in window.reaching(0, down) {
            for column in rightmost.start..all.start {
                self.edge(&mut sums, tap, [row, column], first);
            }
            if !all.is_empty() {
                let walk = self.walk(tap, [row, all.start], first);
                let apart = window.dilation[1] * channels;
                Sums::add(&mut sums, Walk { len: all.len(), ..walk }, apart);
            }
            for column in all.end..leftmost.end {
                self.edge(&mut sums, tap, [row, column], first);
            }
        }
        for (n, sums) in sums.iter().enumerate() {
            let place = self.place(tap, n) + first;
            sums.store(&mut self.dw[place..]);
        }
    }

    /// What one output gives those of some taps that lie inside the picture.
    #[inline(always)]
    fn edge<S: Simd, const NV: usize, const TAIL: bool, const N: usize>(
        &self,
        sums: &mut [Sums<S, NV, TAIL>; N],
        [down, across]: [usize; 2],
        at: [usize; 2],
        first: usize,
    ) {
        for (n, sums) in sums.iter_mut().enumerate() {
            if self.window.reaching(1, across + n).contains(&at[1]) {
                let walk = self.walk([down, across + n], at, first);
                Sums::add(std::array::from_mut(sums), walk, 0);
            }
        }
    }

    /// Where the n-th of some taps lies in the kernel.
    #[inline(always)]
    fn place(&self, [down, across]: [usize; 2], n: usize) -> usize {
        (down * self.window.width + across + n) * self.window.input.channels
    }

    /// Through the picture under a tap and through the outputs, one of them.
    #[inline(always)]
    fn walk(&self, tap: [usize; 2], at: [usize; 2], first: usize) -> Walk<'_> {
        let (window, channels) = (&self.window, self.window.input.channels);
        let [row, column] = [0, 1].map(|axis| window.under(axis, at[axis], tap[axis]));
        let from = (row * window.input.width + column) * channels + first;
        let to = (at[0] * window.output.width + at[1]) * channels + first;
        let step = [window.stride[1] * channels, channels];
        Walk { memory: [self.x, self.dy], start: [from, to], step, len: 1 }
    }
}
