//! Pixels that are weighted sums of four others, wherever these lie.

use crate::simd::kernel;

/// Where a pixel comes from: the places of pixels, and what each counts.
pub(crate) type Taps = [(Option<usize>, f32); 4];

kernel! {
    /// Each pixel of y is the sum of its taps in x.
    fn gather<'a>(taps: &'a [Taps], channels: usize, x: &'a [f32], y: &'a mut [f32]) {
        // Where the number of channels is known to the compiler, it writes their loop out.
        match channels {
            1 => gather_of(taps, 1, x, y),
            3 => gather_of(taps, 3, x, y),
            _ => gather_of(taps, channels, x, y),
        }
    }
}

#[inline(always)]
fn gather_of(taps: &[Taps], channels: usize, x: &[f32], y: &mut [f32]) {
    for (taps, y) in taps.iter().zip(y.chunks_exact_mut(channels)) {
        y.fill(0.0);
        for &(from, weight) in taps {
            let Some(from) = from else { continue };
            for (y, x) in y.iter_mut().zip(&x[from * channels..][..channels]) {
                *y = weight.mul_add(*x, *y);
            }
        }
    }
}

kernel! {
    /// Each pixel of dy gives its taps in dx their share.
    fn scatter<'a>(taps: &'a [Taps], channels: usize, dy: &'a [f32], dx: &'a mut [f32]) {
        for (taps, dy) in taps.iter().zip(dy.chunks_exact(channels)) {
            for &(from, weight) in taps {
                let Some(from) = from else { continue };
                for (dx, dy) in dx[from * channels..][..channels].iter_mut().zip(dy) {
                    *dx = weight.mul_add(*dy, *dx);
                }
            }
        }
    }
}
