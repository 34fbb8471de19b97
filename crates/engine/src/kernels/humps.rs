//! Activations that fall before they rise, so that the result does not tell the slope: backward, it is a
//! function of the input.

use super::curves::{clamp, curve};
use crate::math;
use crate::simd::kernel;

curve!(
    /// x times the share of a normal distribution that lies below x.
    gelu, gelu_backward, |x| x * below(x), |x| (x * DENSITY).mul_add(math::exp(-0.5 * x * x), below(x))
);
curve!(
    /// x / (1 + e^-x).
    silu, silu_backward, |x| x * math::sigmoid(x), |x| {
        let s = math::sigmoid(x);
        (x * s).mul_add(1.0 - s, s)
    }
);
curve!(
    /// x·tanh(ln(1 + e^x)).
    mish, mish_backward, |x| x * math::tanh(math::softplus(x)), |x| {
        let t = math::tanh(math::softplus(x));
        (x * math::sigmoid(x)).mul_add(1.0 - t * t, t)
    }
);
curve!(
    /// x times x/6 + 1/2, which goes from 0 to 1.
    hard_silu, hard_silu_backward, |x| x * clamp(x + 3.0, 6.0) / 6.0, |x| {
        let between = if x > -3.0 && x < 3.0 { x } else { 0.0 };
        (clamp(x + 3.0, 6.0) + between) / 6.0
    }
);

/// 1 / √(2π): a normal distribution's density at its middle.
const DENSITY: f32 = 0.398_942_3;

/// The share of a normal distribution that lies below x.
#[inline(always)]
fn below(x: f32) -> f32 {
    0.5 * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2))
}
