//! Sums over the few outputs of a pooled convolution that have a gradient.
//!
//! A *spike* is one of them: its filter, where its window begins in the picture, its gradient g. Each
//! adds g·window(picture) to its filter's weight gradient, and g·kernel(filter) to the picture's
//! gradient under its window. A window is a few *lines* of contiguous floats.
//!
//! Order of the sums: a weight's chain goes through the pixels upwards. An input's chain goes through
//! groups of [`FILTERS`] filters, in each through pixels, and there through filters. Both follow from
//! shapes and gradients alone.
#![expect(
    unsafe_code,
    reason = "the inner loop reads through pointers; lengths are checked before"
)]

use super::pooled::NONE;
use crate::simd::{Kernel, Simd};

/// Filters that are handled together: their part of the kernel stays in the nearest cache.
const FILTERS: usize = 16;

/// Pooled pixels that are handled together: the part of the picture they cover stays there too.
const PIXELS: usize = 32;

/// The gradient of a pooled picture, and how its outputs lie over the picture that windows slide over.
#[derive(Clone, Copy)]
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
    pub(crate) window: Lines,
}

/// A window: some lines, equally far apart in the picture, one after another in the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    pub(crate) count: usize,
    /// Floats of a line.
    pub(crate) len: usize,
    /// From one line to the next in the picture.
    pub(crate) row: usize,
}

impl Lines {
    fn floats(&self) -> usize {
        self.count * self.len
    }

    /// One more than the last place of a window that begins at 0.
    fn extent(&self) -> usize {
        (self.count - 1) * self.row + self.len
    }
}

#[derive(Clone, Copy, Default)]
struct Spike {
    /// Where its window begins in the picture.
    first: usize,
    g: f32,
    /// Counted from the group's first.
    filter: u32,
}

impl Sparse<'_> {
    fn pixels(&self) -> usize {
        self.gradient.len() / self.filters
    }

    /// Where the windows of each of the four outputs under a pooled pixel begin.
    #[inline(always)]
    fn places(&self, pixel: usize) -> [usize; 4] {
        let (y, x) = (pixel / self.width, pixel % self.width);
        let first = 2 * (y * self.down + x * self.across);
        let below = first + self.down;
        [first, first + self.across, below, below + self.across]
    }

    /// The spikes of a pooled pixel among filters `group`, appended without branches: `push` is told
    /// each candidate and whether it counts.
    #[inline(always)]
    fn candidates(&self, pixel: usize, group: usize, mut push: impl FnMut(Spike, bool)) {
        let end = (group + FILTERS).min(self.filters);
        let places = self.places(pixel);
        let start = pixel * self.filters;
        let gradients = &self.gradient[start + group..start + end];
        let choices = &self.choices[start + group..start + end];
        for (filter, (&g, &choice)) in gradients.iter().zip(choices).enumerate() {
            let first = places[usize::from(choice & 3)];
            let filter = filter as u32;
            push(Spike { first, g, filter }, (g != 0.0) & (choice < NONE));
        }
    }

    /// Makes sure that every window lies inside a picture of `len` floats.
    fn check(&self, len: usize) {
        assert_eq!(self.gradient.len(), self.choices.len(), "a choice for each gradient");
        assert_eq!(self.pixels() * self.filters, self.gradient.len(), "whole pixels");
        assert_eq!(self.pixels() % self.width, 0, "whole rows");
        if let Some(last) = self.pixels().checked_sub(1) {
            let furthest = self.places(last)[3];
            assert!(furthest + self.window.extent() <= len, "windows inside the picture");
        }
    }
}

/// Adds each filter's weight gradient to `dw`, which lies [filter][window], and `db`, if not empty.
pub(crate) struct WeightGradient<'a> {
    pub(crate) sparse: Sparse<'a>,
    pub(crate) picture: &'a [f32],
    pub(crate) dw: &'a mut [f32],
    pub(crate) db: &'a mut [f32],
}

impl Kernel for WeightGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (sparse, window) = (self.sparse, self.sparse.window);
        sparse.check(self.picture.len());
        assert_eq!(self.dw.len(), sparse.filters * window.floats(), "a window for each filter");
        let mut spikes = [[Spike::default(); PIXELS]; FILTERS];
        for pixel in (0..sparse.pixels()).step_by(PIXELS) {
            let last = (pixel + PIXELS).min(sparse.pixels());
            for group in (0..sparse.filters).step_by(FILTERS) {
                let mut counts = [0usize; FILTERS];
                for pixel in pixel..last {
                    sparse.candidates(pixel, group, |spike, counts_too| {
                        let count = &mut counts[spike.filter as usize % FILTERS];
                        spikes[spike.filter as usize % FILTERS][*count % PIXELS] = spike;
                        *count += usize::from(counts_too);
                    });
                }
                for filter in group..(group + FILTERS).min(sparse.filters) {
                    let spikes = &spikes[filter - group][..counts[filter - group]];
                    if let Some(db) = self.db.get_mut(filter) {
                        spikes.iter().for_each(|spike| *db += spike.g);
                    }
                    let dw = &mut self.dw[filter * window.floats()..][..window.floats()];
                    for (line, dw) in dw.chunks_exact_mut(window.len).enumerate() {
                        let picture = self.picture[line * window.row..].as_ptr();
                        // SAFETY: `check` has seen that all windows lie inside the picture.
                        unsafe { add_line::<S>(dw, spikes, picture) };
                    }
                }
            }
        }
    }
}

/// sums += Σ g·line, for the line that begins at each spike's place from `picture` on.
///
/// # Safety
/// From `picture` on there are as many floats as any spike's place and the line need.
#[inline(always)]
unsafe fn add_line<S: Simd>(sums: &mut [f32], spikes: &[Spike], picture: *const f32) {
    let mut at = 0;
    // SAFETY: `at` stays inside `sums`, and the rest by the contract.
    unsafe {
        macro_rules! blocks {
            ($($vectors:literal)*) => {$(
                while at + $vectors * S::LANES <= sums.len() {
                    add_block::<S, $vectors>(sums.as_mut_ptr().add(at), spikes, picture.add(at));
                    at += $vectors * S::LANES;
                }
            )*};
        }
        blocks!(6 4 2 1);
        let tail = sums.len() - at;
        if tail > 0 {
            let to = sums.as_mut_ptr().add(at);
            let mut sum = S::load_first(to, tail);
            for spike in spikes {
                let x = S::load_first(picture.add(spike.first + at), tail);
                sum = S::fma(S::splat(spike.g), x, sum);
            }
            S::store_first(to, sum, tail);
        }
    }
}

/// # Safety
/// `N` vectors can be read and written at `sums`, and read at each spike's place from `picture` on.
#[inline(always)]
unsafe fn add_block<S: Simd, const N: usize>(
    sums: *mut f32,
    spikes: &[Spike],
    picture: *const f32,
) {
    // SAFETY: by the contract.
    unsafe {
        let mut block: [S::V; N] = std::array::from_fn(|v| S::load(sums.add(v * S::LANES)));
        for spike in spikes {
            let g = S::splat(spike.g);
            let x = picture.add(spike.first);
            for (v, sum) in block.iter_mut().enumerate() {
                *sum = S::fma(g, S::load(x.add(v * S::LANES)), *sum);
            }
        }
        for (v, sum) in block.into_iter().enumerate() {
            S::store(sums.add(v * S::LANES), sum);
        }
    }
}

/// Adds the picture's gradient to `dx`. The kernel lies [filter][window].
pub(crate) struct InputGradient<'a> {
    pub(crate) sparse: Sparse<'a>,
    pub(crate) kernel: &'a [f32],
    pub(crate) dx: &'a mut [f32],
}

impl Kernel for InputGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (sparse, window) = (self.sparse, self.sparse.window);
        sparse.check(self.dx.len());
        assert_eq!(self.kernel.len(), sparse.filters * window.floats(), "a window for each filter");
        let dx = self.dx.as_mut_ptr();
        let mut spikes = [Spike::default(); FILTERS];
        for group in (0..sparse.filters).step_by(FILTERS) {
            let kernel = &self.kernel[group * window.floats()..];
            for pixel in 0..sparse.pixels() {
                let mut count = 0;
                sparse.candidates(pixel, group, |spike, counts_too| {
                    spikes[count % FILTERS] = spike;
                    count += usize::from(counts_too);
                });
                for spike in &spikes[..count] {
                    let kernel =
                        &kernel[spike.filter as usize * window.floats()..][..window.floats()];
                    for (line, kernel) in kernel.chunks_exact(window.len).enumerate() {
                        // SAFETY: `check` has seen that all windows lie inside the picture.
                        unsafe {
                            add_scaled::<S>(
                                dx.add(spike.first + line * window.row),
                                spike.g,
                                kernel,
                            )
                        };
                    }
                }
            }
        }
    }
}

/// to += g·line.
///
/// # Safety
/// `line.len()` floats can be read and written at `to`.
#[inline(always)]
unsafe fn add_scaled<S: Simd>(to: *mut f32, g: f32, line: &[f32]) {
    let factor = S::splat(g);
    let whole = line.len() - line.len() % S::LANES;
    // SAFETY: by the contract.
    unsafe {
        let mut at = 0;
        while at < whole {
            let sum = S::fma(factor, S::load(line.as_ptr().add(at)), S::load(to.add(at)));
            S::store(to.add(at), sum);
            at += S::LANES;
        }
        let tail = line.len() - whole;
        if tail > 0 {
            let x = S::load_first(line.as_ptr().add(whole), tail);
            let sum = S::fma(factor, x, S::load_first(to.add(whole), tail));
            S::store_first(to.add(whole), sum, tail);
        }
    }
}
