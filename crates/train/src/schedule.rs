//! Learning rates over time: a pure function of the step.
//!
//! Computed in `f64` from additions, multiplications and divisions alone, which round the same
//! everywhere; the mathematics library's `cos` and `pow` do not.

use spec::Schedule;

/// The size of step `step` (counted from 0) out of `steps`.
pub(crate) fn rate(schedule: &Schedule, base: f32, step: u64, steps: u64) -> f32 {
    let base = f64::from(base);
    let rate = match schedule {
        Schedule::Constant => base,
        Schedule::Cosine { warmup_steps, .. } if step < *warmup_steps => {
            base * (step + 1) as f64 / *warmup_steps as f64
        }
        Schedule::Cosine { warmup_steps, final_share } => {
            let length = steps.saturating_sub(*warmup_steps).max(1);
            let along = (step - warmup_steps) as f64 / length as f64;
            let wave = 0.5 * (1.0 + cos_pi(along.min(1.0)));
            let last = f64::from(*final_share);
            base * (last + (1.0 - last) * wave)
        }
        Schedule::Exponential { decay_steps, rate, staircase } => {
            let times = step as f64 / *decay_steps as f64;
            let times = if *staircase { times.floor() } else { times };
            base * power(f64::from(*rate), times)
        }
        Schedule::Piecewise { boundaries, rates } => {
            let piece = boundaries.iter().filter(|&&boundary| step > boundary).count();
            rates.get(piece).map_or(base, |&rate| f64::from(rate))
        }
    };
    rate as f32
}

/// cos(πx) for 0 ≤ x ≤ 1, by its series around the middle: cos(πx) = -sin(π(x - ½)).
fn cos_pi(x: f64) -> f64 {
    let angle = std::f64::consts::PI * (x - 0.5);
    let square = angle * angle;
    let series = (1..=10).rev().fold(1.0, |rest, k| {
        let k = f64::from(k);
        1.0 - rest * square / ((2.0 * k) * (2.0 * k + 1.0))
    });
    -angle * series
}

/// `base` to the power of `exponent` ≥ 0: whole powers by multiplication, the rest by
/// square roots, a bit of the fraction each.
fn power(base: f64, exponent: f64) -> f64 {
    let whole = exponent.floor();
    let mut result = 1.0;
    let (mut factor, mut left) = (base, whole as u64);
    while left > 0 {
        if left & 1 == 1 {
            result *= factor;
        }
        factor *= factor;
        left >>= 1;
    }
    let (mut root, mut fraction) = (base, exponent - whole);
    for _ in 0..52 {
        root = root.sqrt();
        fraction *= 2.0;
        if fraction >= 1.0 {
            result *= root;
            fraction -= 1.0;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_cosine_and_power_are_the_known_ones() {
        for i in 0..=20 {
            let x = f64::from(i) / 20.0;
            assert!((cos_pi(x) - (std::f64::consts::PI * x).cos()).abs() < 1e-13, "{x}");
            assert!((power(0.96, 7.0 * x) - 0.96f64.powf(7.0 * x)).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn warm_up_then_down_to_the_final_share() {
        let cosine = Schedule::Cosine { warmup_steps: 10, final_share: 0.1 };
        assert_eq!(rate(&cosine, 1.0, 0, 110), 0.1);
        assert_eq!(rate(&cosine, 1.0, 9, 110), 1.0);
        assert_eq!(rate(&cosine, 1.0, 10, 110), 1.0);
        assert!((rate(&cosine, 1.0, 60, 110) - 0.55).abs() < 1e-6);
        assert!((rate(&cosine, 1.0, 110, 110) - 0.1).abs() < 1e-6);
    }

    #[test]
    fn stairs_and_pieces() {
        let stairs = Schedule::Exponential { decay_steps: 10, rate: 0.5, staircase: true };
        assert_eq!([9, 10, 25].map(|step| rate(&stairs, 1.0, step, 100)), [1.0, 0.5, 0.25]);
        let pieces = Schedule::Piecewise { boundaries: vec![10, 20], rates: vec![1.0, 0.5, 0.1] };
        assert_eq!([10, 11, 21].map(|step| rate(&pieces, 1.0, step, 100)), [1.0, 0.5, 0.1]);
    }
}
