//! Channels in blocks of one length, so that their sums stay in registers.
//!
//! Kernels write their loops over blocks out: what a closure does is not always compiled with the
//! kernel's instructions (docs/decisions/0005-engine-kernels.md).

/// Channels that are worked on together.
pub(crate) const BLOCK: usize = 32;

/// Up to a block of values. What is missing at the end is zero.
#[inline(always)]
pub(crate) fn load(values: &[f32]) -> [f32; BLOCK] {
    match <&[f32; BLOCK]>::try_from(values) {
        Ok(whole) => *whole,
        Err(_) => {
            let mut block = [0.0; BLOCK];
            block[..values.len()].copy_from_slice(values);
            block
        }
    }
}
