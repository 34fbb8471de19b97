//! Max pooling of 2×2 fused to a convolution: which output of four is the largest.

use crate::simd::kernel;

/// None of the four outputs has a gradient: ReLU made all of them zero.
pub(crate) const NONE: u8 = 4;

/// Two rows of a convolution's output, to be pooled into one.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) above: &'a [f32],
    pub(crate) below: &'a [f32],
    pub(crate) channels: usize,
    /// Whether a largest value of zero has no gradient.
    pub(crate) relu: bool,
}

kernel! {
    /// The largest of each 2×2, and which it was: 0 1 above, 2 3 below. The first of equals is chosen.
    fn largest<'a>(pair: Pair<'a>, y: &'a mut [f32], choices: &'a mut [u8]) {
        let channels = pair.channels;
        let dead = if pair.relu { u32::from(NONE) } else { 0 };
        let pixels = y.chunks_exact_mut(channels).zip(choices.chunks_exact_mut(channels));
        let above = pair.above.chunks_exact(2 * channels);
        let below = pair.below.chunks_exact(2 * channels);
        for ((y, choices), (above, below)) in pixels.zip(above.zip(below)) {
            let (a, b) = above.split_at(channels);
            let (c, d) = (&below[..channels], &below[channels..][..channels]);
            let b = &b[..channels];
            // Not-a-number wins, so that it is seen further on.
            let larger = |v: f32, best: f32| v > best || v.is_nan();
            for i in 0..channels {
                let (mut best, mut choice) = (a[i], 0u32);
                choice = if larger(b[i], best) { 1 } else { choice };
                best = if larger(b[i], best) { b[i] } else { best };
                choice = if larger(c[i], best) { 2 } else { choice };
                best = if larger(c[i], best) { c[i] } else { best };
                choice = if larger(d[i], best) { 3 } else { choice };
                best = if larger(d[i], best) { d[i] } else { best };
                y[i] = best;
                choices[i] = if best > 0.0 { choice } else { choice | dead } as u8;
            }
        }
    }
}
