//! AVX2 with fused multiply-add: 8 lanes, 16 registers.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::*;

use super::{Kernel, Simd};

pub(super) struct Avx2;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// # Safety
/// The machine has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn enter<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx2>()
}

// SAFETY: these functions run inside `enter`, on a machine with AVX2 and FMA, and pointers are good by the
// trait's contract. The same holds for every block below.
unsafe impl Simd for Avx2 {
    const LANES: usize = 8;
    const ROWS: usize = 6;
    type V = __m256;

    #[inline(always)]
    fn splat(x: f32) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_set1_ps(x) }
    }

    #[inline(always)]
    fn fma(a: __m256, b: __m256, c: __m256) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn relu(v: __m256) -> __m256 {
        // SAFETY: see above. The second operand is the answer when either is not a number.
        unsafe { _mm256_max_ps(_mm256_setzero_ps(), v) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, v: __m256) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_ps(to, v) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> __m256 {
        // SAFETY: see above; masked lanes are not read.
        unsafe { _mm256_maskload_ps(from, first(count)) }
    }

    /// In pieces of 4, 2 and 1: some processors take longer for a masked store than for all of these.
    #[inline(always)]
    unsafe fn store_first(to: *mut f32, v: __m256, count: usize) {
        // SAFETY: see above; no more than `count` are written.
        unsafe {
            let (mut rest, mut to) = (_mm256_castps256_ps128(v), to);
            if count & 4 != 0 {
                _mm_storeu_ps(to, rest);
                (rest, to) = (_mm256_extractf128_ps::<1>(v), to.add(4));
            }
            if count & 2 != 0 {
                _mm_store_sd(to.cast(), _mm_castps_pd(rest));
                (rest, to) = (_mm_movehl_ps(rest, rest), to.add(2));
            }
            if count & 1 != 0 {
                _mm_store_ss(to, rest);
            }
        }
    }
}

#[inline(always)]
fn first(count: usize) -> __m256i {
    // SAFETY: see above.
    unsafe {
        let lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lane)
    }
}
