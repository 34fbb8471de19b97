//! Sums over pixels of channels that lie side by side, as vectors that stay in registers.
#![expect(
    unsafe_code,
    reason = "vectors are read through pointers; the ends of a walk are checked before"
)]

use crate::simd::Simd;

/// A way through two memories side by side, a pixel each at a time.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) memory: [&'a [f32]; 2],
    pub(crate) start: [usize; 2],
    /// How far the next pixel is; it may be before.
    pub(crate) step: [usize; 2],
    pub(crate) len: usize,
}

impl Walk<'_> {
    /// Makes sure that it stays inside both memories, where pixels are so long.
    #[inline(always)]
    fn check(&self, lengths: [usize; 2]) {
        for (side, length) in lengths.into_iter().enumerate() {
            let (start, step) = (self.start[side], self.step[side]);
            let last = start.wrapping_add(step.wrapping_mul(self.len - 1));
            let end = start.max(last).saturating_add(length);
            assert!(end <= self.memory[side].len(), "a walk inside its memory");
        }
    }
}

/// Sums of channels, one chain of fused multiply-adds each.
pub(crate) struct Sums<S: Simd, const NV: usize, const TAIL: bool> {
    vectors: [S::V; NV],
    /// Channels of the last vector, where it is cut short.
    tail: usize,
}

impl<S: Simd, const NV: usize, const TAIL: bool> Sums<S, NV, TAIL> {
    /// Sums that begin at zero, or at what is given. How many channels there are tells how short the last vector is.
    #[inline(always)]
    pub(crate) fn begin(channels: usize, from: &[f32]) -> Self {
        let tail = channels % S::LANES;
        if from.is_empty() {
            return Sums { vectors: [S::splat(0.0); NV], tail };
        }
        assert!(Self::width(tail) <= from.len(), "a beginning for each channel");
        // SAFETY: as long as was just seen.
        Sums { vectors: unsafe { Self::load(from.as_ptr(), tail) }, tail }
    }

    #[inline(always)]
    pub(crate) fn store(&self, to: &mut [f32]) {
        assert!(Self::width(self.tail) <= to.len(), "room for each channel");
        for (v, vector) in self.vectors.iter().enumerate() {
            // SAFETY: as long as was just seen.
            unsafe {
                let to = to.as_mut_ptr().add(v * S::LANES);
                if TAIL && v == NV - 1 {
                    S::store_first(to, *vector, self.tail);
                } else {
                    S::store(to, *vector);
                }
            }
        }
    }

    /// Adds the products of both pixels of each step. The n-th sums read n times `apart` further in the first memory.
    #[inline(always)]
    pub(crate) fn add<const N: usize>(sums: &mut [Self; N], walk: Walk<'_>, apart: usize) {
        if walk.len == 0 {
            return;
        }
        let (tail, [step_left, step_right]) = (sums[0].tail, walk.step);
        let width = Self::width(tail);
        walk.check([width + (N - 1) * apart, width]);
        let mut left = walk.memory[0].as_ptr().wrapping_add(walk.start[0]);
        let mut right = walk.memory[1].as_ptr().wrapping_add(walk.start[1]);
        for _ in 0..walk.len {
            // SAFETY: `check` has seen that the first and the last step are inside, and so are those between.
            unsafe {
                let factors = Self::load(right, tail);
                for (n, sums) in sums.iter_mut().enumerate() {
                    let values = Self::load(left.add(n * apart), tail);
                    for v in 0..NV {
                        sums.vectors[v] = S::fma(values[v], factors[v], sums.vectors[v]);
                    }
                }
            }
            left = left.wrapping_add(step_left);
            right = right.wrapping_add(step_right);
        }
    }

    /// Floats of all vectors.
    #[inline(always)]
    fn width(tail: usize) -> usize {
        if TAIL { (NV - 1) * S::LANES + tail } else { NV * S::LANES }
    }

    /// # Safety
    /// As many floats can be read.
    #[inline(always)]
    unsafe fn load(from: *const f32, tail: usize) -> [S::V; NV] {
        // SAFETY: by the contract; the last vector is cut to its tail.
        std::array::from_fn(|v| unsafe {
            let from = from.add(v * S::LANES);
            if TAIL && v == NV - 1 { S::load_first(from, tail) } else { S::load(from) }
        })
    }
}
