//! Plain Rust: the same numbers on any machine.
#![expect(unsafe_code, reason = "the trait's loads and stores take pointers")]

use super::Simd;

pub(super) struct Portable;

type V = [f32; 8];

// SAFETY: no special instructions, and pointers are good by the trait's contract. The same holds for
// every block below.
unsafe impl Simd for Portable {
    const LANES: usize = 8;
    const ROWS: usize = 4;
    type V = V;

    #[inline(always)]
    fn splat(x: f32) -> V {
        [x; 8]
    }

    #[inline(always)]
    fn fma(a: V, b: V, c: V) -> V {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn relu(v: V) -> V {
        v.map(crate::math::relu)
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> V {
        // SAFETY: see above.
        unsafe { from.cast::<V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, v: V) {
        // SAFETY: see above.
        unsafe { to.cast::<V>().write_unaligned(v) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> V {
        let mut v = [0.0; 8];
        // SAFETY: see above.
        v[..count].copy_from_slice(unsafe { std::slice::from_raw_parts(from, count) });
        v
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f32, v: V, count: usize) {
        // SAFETY: see above.
        unsafe { std::slice::from_raw_parts_mut(to, count) }.copy_from_slice(&v[..count]);
    }
}
