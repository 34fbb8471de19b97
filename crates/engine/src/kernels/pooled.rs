//! Max pooling of 2×2 fused to a convolution: the choice forward, and the sparse sums backward.

use crate::simd::{Isa, Plain};

/// No output of the four has a gradient: ReLU made all of them zero.
const NONE: u8 = 4;

/// Two rows of a convolution's output, to be pooled into one.
pub(crate) struct Pair<'a> {
    pub(crate) above: &'a [f32],
    pub(crate) below: &'a [f32],
    pub(crate) channels: usize,
    /// Whether a largest value of zero has no gradient.
    pub(crate) relu: bool,
}

/// The largest of each 2×2, and which it was: 0 1 above, 2 3 below. The first of equals is chosen.
pub(crate) fn largest(isa: Isa, pair: &Pair<'_>, y: &mut [f32], choices: &mut [u8]) {
    let channels = pair.channels;
    isa.run(Plain(|| {
        let pixels = y
            .chunks_exact_mut(channels)
            .zip(choices.chunks_exact_mut(channels));
        let above = pair.above.chunks_exact(2 * channels);
        let below = pair.below.chunks_exact(2 * channels);
        for ((y, choices), (above, below)) in pixels.zip(above.zip(below)) {
            let (a, b) = above.split_at(channels);
            let (c, d) = below.split_at(channels);
            for i in 0..channels {
                let mut best = a[i];
                let mut choice = 0u32;
                for (number, value) in [(1, b[i]), (2, c[i]), (3, d[i])] {
                    choice = if value > best { number } else { choice };
                    best = if value > best { value } else { best };
                }
                let dead = pair.relu && !(best > 0.0);
                y[i] = best;
                choices[i] = if dead { NONE } else { choice as u8 };
            }
        }
    }));
}

/// The gradient of a pooled picture, and how its outputs lie over the picture that windows slide over.
pub(crate) struct Sparse<'a> {
    /// Of each pooled output: pixel by pixel, filters innermost.
    pub(crate) gradient: &'a [f32],
    /// Which of the four outputs under it was chosen.
    pub(crate) choices: &'a [u8],
    pub(crate) filters: usize,
    /// Pooled pixels in a row.
    pub(crate) width: usize,
    /// From one output of the convolution to the next: floats of the picture.
    pub(crate) across: usize,
    /// The same downwards.
    pub(crate) down: usize,
    /// Lines of a window.
    pub(crate) lines: usize,
    /// Floats of a window's line.
    pub(crate) line: usize,
    /// Floats of a row of the picture.
    pub(crate) row: usize,
}

impl Sparse<'_> {
    fn window(&self) -> usize {
        self.lines * self.line
    }

    /// Calls `each` with every gradient that is not zero: its filter, where its window begins in the
    /// picture, and the gradient. Pixels upwards, then filters upwards.
    #[inline(always)]
    fn for_each(&self, mut each: impl FnMut(usize, usize, f32)) {
        let pixels = self
            .gradient
            .chunks_exact(self.filters)
            .zip(self.choices.chunks_exact(self.filters));
        for (pixel, (gradient, choices)) in pixels.enumerate() {
            let (y, x) = (pixel / self.width, pixel % self.width);
            let first = 2 * (y * self.down + x * self.across);
            for (filter, (&g, &choice)) in gradient.iter().zip(choices).enumerate() {
                if g != 0.0 && choice != NONE {
                    let (below, right) = (usize::from(choice >> 1), usize::from(choice & 1));
                    each(filter, first + below * self.down + right * self.across, g);
                }
            }
        }
    }
}

/// Adds g·window to each filter's weight gradient, which lies [filter][window].
pub(crate) fn add_weight_gradient(isa: Isa, sparse: &Sparse<'_>, x: &[f32], dw: &mut [f32]) {
    let window = sparse.window();
    isa.run(Plain(|| {
        sparse.for_each(|filter, first, g| {
            let dw = &mut dw[filter * window..][..window];
            for (line, dw) in dw.chunks_exact_mut(sparse.line).enumerate() {
                let x = &x[first + line * sparse.row..][..sparse.line];
                for (dw, x) in dw.iter_mut().zip(x) {
                    *dw = g.mul_add(*x, *dw);
                }
            }
        });
    }));
}

/// Adds each gradient to its filter's bias gradient.
pub(crate) fn add_bias_gradient(sparse: &Sparse<'_>, db: &mut [f32]) {
    sparse.for_each(|filter, _, g| db[filter] += g);
}

/// Adds g·kernel, which lies [filter][window], to the input gradient under each window.
pub(crate) fn add_input_gradient(isa: Isa, sparse: &Sparse<'_>, kernel: &[f32], dx: &mut [f32]) {
    let window = sparse.window();
    isa.run(Plain(|| {
        sparse.for_each(|filter, first, g| {
            let kernel = &kernel[filter * window..][..window];
            for (line, kernel) in kernel.chunks_exact(sparse.line).enumerate() {
                let dx = &mut dx[first + line * sparse.row..][..sparse.line];
                for (dx, k) in dx.iter_mut().zip(kernel) {
                    *dx = g.mul_add(*k, *dx);
                }
            }
        });
    }));
}
