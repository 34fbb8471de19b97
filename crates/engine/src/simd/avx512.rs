//! AVX-512: 16 lanes, 32 registers, masks for what is left over.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::*;

use super::{Kernel, Simd};

pub(super) struct Avx512;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
}

/// # Safety
/// The machine has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn enter<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx512>()
}

// SAFETY: these functions run inside `enter`, on a machine with AVX-512, and pointers are good by the
// trait's contract. The same holds for every block below.
unsafe impl Simd for Avx512 {
    const LANES: usize = 16;
    const ROWS: usize = 14;
    type V = __m512;

    #[inline(always)]
    fn splat(x: f32) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    fn fma(a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn relu(v: __m512) -> __m512 {
        // SAFETY: see above. The second operand is the answer when either is not a number.
        unsafe { _mm512_max_ps(_mm512_setzero_ps(), v) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, v: __m512) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_ps(to, v) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> __m512 {
        // SAFETY: see above; masked lanes are not read.
        unsafe { _mm512_maskz_loadu_ps(first(count), from) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f32, v: __m512, count: usize) {
        // SAFETY: see above; masked lanes are not written.
        unsafe { _mm512_mask_storeu_ps(to, first(count), v) }
    }
}

#[inline(always)]
fn first(count: usize) -> __mmask16 {
    ((1u32 << count) - 1) as __mmask16
}
