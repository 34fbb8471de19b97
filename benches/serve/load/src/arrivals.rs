//! When requests are to be sent: planned beforehand, the same for the same seed.

use std::time::Duration;

use crate::arguments::Spacing;

/// The moments after the start, in order, until `seconds` are over.
pub fn planned(rate: f64, seconds: Duration, spacing: Spacing, seed: u64) -> Vec<Duration> {
    let mut state = seed;
    let mut moments = vec![];
    let mut at = 0.0;
    loop {
        at += match spacing {
            Spacing::Constant => 1.0 / rate,
            Spacing::Poisson => -uniform(&mut state).ln() / rate,
        };
        if at >= seconds.as_secs_f64() {
            return moments;
        }
        moments.push(Duration::from_secs_f64(at));
    }
}

/// Above 0 and up to 1, by splitmix64.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    ((mixed >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spacings_keep_the_rate() {
        let ten = Duration::from_secs(10);
        let constant = planned(1000.0, ten, Spacing::Constant, 0).len();
        assert!((9_999..=10_000).contains(&constant), "{constant}");
        let poisson = planned(1000.0, ten, Spacing::Poisson, 0);
        // Within four standard deviations, and as irregular as they should be.
        assert!((9_600..=10_400).contains(&poisson.len()), "{}", poisson.len());
        let gaps: Vec<f64> =
            poisson.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1000.0).collect();
        let longer = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.02, "{longer}");
    }
}
