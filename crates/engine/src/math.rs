//! Functions of one float, and sums, whose bits do not depend on the machine.
//!
//! The mathematics library's `expf` and the like differ between machines, so these are our own:
//! polynomials after range reduction (the coefficients are the classic ones of the Cephes library),
//! a fixed sequence of correctly rounded operations. They are written for one float, without
//! branches, so that a loop over a slice becomes vector code.

use std::f32::consts::LOG2_E;

/// Lanes of every sum that is not a chain: fixed, whatever the machine's vectors are.
pub(crate) const LANES: usize = 16;

/// Zero where negative; not-a-number stays, so that a diverged network shows it.
#[inline(always)]
pub(crate) fn relu(x: f32) -> f32 {
    if 0.0 > x { 0.0 } else { x }
}

/// Zero where so near to it that a product with it would soon be subnormal; not-a-number stays.
#[inline(always)]
pub(crate) fn settle(x: f32) -> f32 {
    if x.abs() < 1e-36 { 0.0 } else { x }
}

/// ln(1 + e^x).
#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    relu(x) + ln(1.0 + exp(-x.abs()))
}

/// e^x, within 2 units in the last place for -87 <= x <= 88; clamped outside.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding 1.5·2^23 rounds to an integer and leaves that integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x.mul_add(LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-0.693_359_4, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    let p = 1.987_569_1e-4_f32
        .mul_add(r, 1.398_2e-3)
        .mul_add(r, 8.333_452e-3)
        .mul_add(r, 4.166_579_6e-2)
        .mul_add(r, 1.666_666_5e-1)
        .mul_add(r, 5e-1);
    let value = p.mul_add(r * r, r) + 1.0;
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits());
    value * f32::from_bits(exponent.wrapping_add(127) << 23)
}

/// The natural logarithm of a positive, normal number, within 2 units in the last place.
/// Not-a-number stays.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    // x = m·2^e with √½ <= m < √2: subtracting the bits of √½ makes the exponent field count from it.
    const ROOT_HALF: u32 = 0x3f35_04f3;
    let above = x.to_bits().wrapping_sub(ROOT_HALF);
    let e = (above as i32 >> 23) as f32;
    let m = f32::from_bits((above & 0x007f_ffff).wrapping_add(ROOT_HALF)) - 1.0;
    let p = 7.037_683_6e-2_f32
        .mul_add(m, -1.151_461e-1)
        .mul_add(m, 1.167_699_9e-1)
        .mul_add(m, -1.242_014_1e-1)
        .mul_add(m, 1.424_932_3e-1)
        .mul_add(m, -1.666_805_8e-1)
        .mul_add(m, 2.000_071_5e-1)
        .mul_add(m, -2.499_999_4e-1)
        .mul_add(m, 3.333_333e-1);
    let square = m * m;
    let low = e.mul_add(-2.121_944_4e-4, p * m * square);
    let low = square.mul_add(-0.5, low);
    let value = e.mul_add(0.693_359_4, m + low);
    if x.is_nan() { x } else { value }
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let s = 1.0 / (1.0 + e);
    if x < 0.0 { e * s } else { s }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let large = (1.0 - 2.0 / (exp(2.0 * size) + 1.0)).copysign(x);
    let square = x * x;
    let p = (-5.704_988_7e-3_f32)
        .mul_add(square, 2.063_909e-2)
        .mul_add(square, -5.373_972e-2)
        .mul_add(square, 1.333_144_2e-1)
        .mul_add(square, -3.333_328e-1);
    let small = (p * square).mul_add(x, x);
    if size < 0.625 { small } else { large }
}

/// The error function: how much of a normal distribution of variance ½ lies within ±x. A quotient of
/// polynomials, within 4e-7 of the exact one.
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    // Beyond this it is one, to all the digits there are.
    const END: f32 = 4.0;
    let x = if x > END { END } else { x };
    let x = if x < -END { -END } else { x };
    let square = x * x;
    let above = (-2.726_142_3e-10_f32)
        .mul_add(square, 2.770_681_4e-8)
        .mul_add(square, -2.101_024e-6)
        .mul_add(square, -5.692_506_5e-5)
        .mul_add(square, -7.349_906_5e-4)
        .mul_add(square, -2.954_6e-3)
        .mul_add(square, -1.609_603_3e-2);
    let below = (-1.456_607_2e-5_f32)
        .mul_add(square, -2.133_740_6e-4)
        .mul_add(square, -1.682_827e-3)
        .mul_add(square, -7.373_329e-3)
        .mul_add(square, -1.426_473_9e-2);
    x * above / below
}

/// The sum of a slice: [`LANES`] lanes side by side, then a balanced tree.
#[inline(always)]
pub(crate) fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let blocks = values.chunks_exact(LANES);
    let rest = blocks.remainder();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value;
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += value;
    }
    tree(lanes)
}

/// The sum of products, in the same order.
#[inline(always)]
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (left, right) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    for (left, right) in left.zip(right) {
        for lane in 0..LANES {
            lanes[lane] = left[lane].mul_add(right[lane], lanes[lane]);
        }
    }
    for (lane, (left, right)) in lanes.iter_mut().zip(rest) {
        *lane = left.mul_add(*right, *lane);
    }
    tree(lanes)
}

/// The sum of the lanes, pair by pair.
#[inline(always)]
pub(crate) fn tree(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error of `ours` against `exact`, in units of the last place, over a range.
    fn worst(from: f32, to: f32, ours: fn(f32) -> f32, exact: fn(f64) -> f64) -> f64 {
        let steps = 20_000;
        (0..=steps)
            .map(|i| from + (to - from) * i as f32 / steps as f32)
            .map(|x| {
                let want = exact(f64::from(x));
                let unit = f64::from((want as f32).abs().max(1e-30)) * f64::from(f32::EPSILON);
                (f64::from(ours(x)) - want).abs() / unit
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_close_to_the_exact_ones() {
        let exact_sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        assert!(worst(-86.9, 87.9, exp, f64::exp) < 2.0);
        assert!(worst(1e-7, 3.0, ln, f64::ln) < 2.0);
        assert!(worst(1.0, 1e6, ln, f64::ln) < 2.0);
        assert!(worst(-40.0, 40.0, sigmoid, exact_sigmoid) < 4.0);
        assert!(worst(-12.0, 12.0, tanh, f64::tanh) < 3.0);
    }

    /// A series whose terms are all positive.
    fn exact_erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= 2.0 * x * x / (2.0 * f64::from(n) + 1.0);
            sum += term;
        }
        2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum
    }

    #[test]
    fn the_error_function_is_close_to_the_exact_one() {
        for i in -6000..=6000 {
            let x = i as f32 / 1000.0;
            let error = (f64::from(erf(x)) - exact_erf(f64::from(x))).abs();
            assert!(error < 4e-7, "{x}: {error:e}");
        }
        assert!(worst(1e-6, 1.0, erf, exact_erf) < 4.0);
        assert_eq!((erf(100.0), erf(-100.0)), (erf(4.0), -erf(4.0)));
    }

    #[test]
    fn ends_and_not_a_number_are_sane() {
        assert!(exp(-1e30) < 2e-38 && exp(1e30).is_finite());
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(tanh(100.0), 1.0);
        assert_eq!(sigmoid(-200.0), exp(-87.0));
        for f in [relu, exp, ln, sigmoid, tanh, erf] {
            assert!(f(f32::NAN).is_nan());
        }
    }

    #[test]
    fn a_sum_takes_every_term_once() {
        for n in [0usize, 1, 15, 16, 17, 1000] {
            let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
            assert_eq!(sum(&values), (n * n.saturating_sub(1) / 2) as f32);
            assert_eq!(dot(&values, &vec![2.0; n]), (n * n.saturating_sub(1)) as f32);
        }
    }
}
