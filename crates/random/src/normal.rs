//! The quantile function of the normal distribution (Wichura's algorithm AS 241, PPND16), in
//! arithmetic that rounds the same everywhere: the mathematics library's `ln` does not.

/// The share of a normal distribution below minus two deviations.
pub(crate) const BELOW_MINUS_TWO: f64 = 0.022_750_131_948_179_21;

/// The value below which the share `p` of a normal distribution lies, for `0 < p < 1`.
pub(crate) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180_625 - q * q, &CENTRE);
    }
    let tail = (-ln(if q < 0.0 { p } else { 1.0 - p })).sqrt();
    let magnitude = if tail <= 5.0 { ratio(tail - 1.6, &MIDDLE) } else { ratio(tail - 5.0, &FAR) };
    if q < 0.0 { -magnitude } else { magnitude }
}

/// Numerator and denominator of a rational approximation, lowest power first.
type Ratio = ([f64; 8], [f64; 8]);

fn ratio(x: f64, (above, below): &Ratio) -> f64 {
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    horner(above) / horner(below)
}

/// The natural logarithm of a positive, normal number, to about 15 digits:
/// x = m·2^e with m near 1, and ln m = 2 artanh((m-1)/(m+1)) as a series.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..12).rev().fold(0.0, |sum, k| sum * (s * s) + 1.0 / f64::from(2 * k + 1));
    2.0 * s * series + exponent as f64 * std::f64::consts::LN_2
}

const CENTRE: Ratio = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_545,
    ],
);

const MIDDLE: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_published_ones() {
        // Table values; the third lies in the far tail.
        for (p, z) in [(0.25, -0.674_489_750_196_081_7), (0.001, -3.090_232_306_167_813_5)] {
            assert!((quantile(p) - z).abs() < 1e-14 * z.abs().max(1.0), "{p}");
            assert!((quantile(1.0 - p) + z).abs() < 1e-13, "{p}");
        }
        assert!((quantile(1e-20) + 9.262_340_089_798_409).abs() < 1e-12);
        assert!((quantile(BELOW_MINUS_TWO) + 2.0).abs() < 1e-14);
        assert_eq!(quantile(0.5), 0.0);
    }

    #[test]
    fn the_logarithm_agrees_with_the_library() {
        for x in [1e-300, 1e-20, 0.3, 0.999, 1.0, 1.5, 2.0, 123.456] {
            assert!((ln(x) - f64::ln(x)).abs() <= 4e-15 * f64::ln(x).abs().max(1.0), "{x}");
        }
    }
}
