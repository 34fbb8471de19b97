//! Channels, or columns, that lie side by side, a few vectors of them at a time.

use crate::simd::Simd;

/// Work on some channels at a time: those of `NV` vectors from `first` on, the last of them cut short if `TAIL`.
pub(crate) trait ByChannels {
    fn some<S: Simd, const NV: usize, const TAIL: bool>(&mut self, first: usize);
}

/// All of so many channels: two vectors at a time as long as there are as many, then what is left.
#[inline(always)]
pub(crate) fn each<S: Simd>(channels: usize, work: &mut impl ByChannels) {
    let (width, whole) = (2 * S::LANES, channels - channels % S::LANES);
    let mut first = 0;
    while first + width <= channels {
        work.some::<S, 2, false>(first);
        first += width;
    }
    match (whole > first, channels > whole) {
        (false, false) => {}
        (true, false) => work.some::<S, 1, false>(first),
        (false, true) => work.some::<S, 1, true>(first),
        (true, true) => work.some::<S, 2, true>(first),
    }
}
