//! The losses: what an answer costs, and the gradient of that.
//!
//! A softmax or sigmoid at the end is part of the loss, which then works on the logits, as Keras does:
//! minus the logarithm of the right class's probability is ln Σ e^z − z(label), and its gradient is the
//! probabilities less one at the label. Without one the last values are taken as probabilities, clipped
//! away from 0 and 1 (and for classes divided by their sum), as Keras with TensorFlow does.

use spec::LossName;

use crate::math;
use crate::program::Ending;

/// An answer and what it should have been.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) loss: LossName,
    pub(super) ending: Ending,
    pub(super) y: &'a [f32],
    pub(super) label: usize,
}

/// Keras' `epsilon`: probabilities are kept this far from 0 and 1 before the logarithm.
const EPSILON: f32 = 1e-7;

impl Case<'_> {
    /// The loss. `z` are the values before the ending; of a softmax, `top` is the largest of them and
    /// `logarithm` is ln Σ e^(z - top).
    pub(super) fn loss(&self, z: &[f32], (top, logarithm): (f32, f32)) -> f32 {
        let y = self.y;
        let mean = |of: &dyn Fn(usize) -> f32| (0..y.len()).map(of).sum::<f32>() / y.len() as f32;
        match (self.loss, self.ending) {
            (LossName::MeanSquaredError, _) => mean(&|i| {
                let off = y[i] - self.target(i);
                off * off
            }),
            (LossName::BinaryCrossentropy, Ending::Sigmoid) => mean(&|i| {
                let unlikely = math::ln(1.0 + math::exp(-z[i].abs()));
                math::relu(z[i]) - z[i] * self.target(i) + unlikely
            }),
            (LossName::BinaryCrossentropy, _) => mean(&|i| {
                let (p, yes) = (clip(y[i]), self.target(i));
                -(yes * math::ln(p) + (1.0 - yes) * math::ln(1.0 - p))
            }),
            (_, Ending::Softmax) => logarithm - (z[self.label] - top),
            _ => math::ln(clipped_sum(y)) - math::ln(clip(y[self.label])),
        }
    }

    /// The gradient, times `scale`: of the values before the ending where the loss has been through
    /// it, of the answer otherwise.
    pub(super) fn gradient(&self, scale: f32, dx: &mut [f32]) {
        let y = self.y;
        let each = scale / y.len() as f32;
        let sum = clipped_sum(y);
        for (i, (dx, &y)) in dx.iter_mut().zip(y).enumerate() {
            let target = self.target(i);
            *dx = match (self.loss, self.ending) {
                (LossName::MeanSquaredError, _) => 2.0 * (y - target) * each,
                (LossName::BinaryCrossentropy, Ending::Sigmoid) => (y - target) * each,
                (LossName::BinaryCrossentropy, _) => {
                    unclipped(y, ((1.0 - target) / (1.0 - clip(y)) - target / clip(y)) * each)
                }
                (_, Ending::Softmax) => (y - target) * scale,
                _ => unclipped(y, scale / sum - target * (scale / clip(y))),
            };
        }
    }

    /// Whether the answer is the right one: the first largest, or on the right side of a half.
    pub(super) fn is_right(&self) -> bool {
        match (self.loss, self.y) {
            (LossName::BinaryCrossentropy, [p]) => usize::from(*p > 0.5) == self.label,
            (LossName::MeanSquaredError, [value]) => (value - self.label as f32).abs() < 0.5,
            (_, y) => {
                let larger = |best, i| if y[i] > y[best] { i } else { best };
                (1..y.len()).fold(0, larger) == self.label
            }
        }
    }

    /// What an output should be: the class itself where there is one, else 1 for the right class.
    fn target(&self, output: usize) -> f32 {
        match (self.loss, self.y.len()) {
            (LossName::BinaryCrossentropy | LossName::MeanSquaredError, 1) => self.label as f32,
            _ => f32::from(u8::from(output == self.label)),
        }
    }
}

/// The loss where the right class was found so probable: minus the natural logarithm, in the same bits
/// on every machine. What rounds to nothing counts as the smallest normal float, a loss of 87; what is
/// not a finite number has a loss that is none.
pub fn cross_entropy(probability: f32) -> f32 {
    if !probability.is_finite() {
        return f32::NAN;
    }
    -math::ln(probability.max(f32::MIN_POSITIVE))
}

fn clipped_sum(probabilities: &[f32]) -> f32 {
    probabilities.iter().map(|&p| clip(p)).sum()
}

fn clip(probability: f32) -> f32 {
    // Written so that not-a-number stays.
    let p = if probability < EPSILON { EPSILON } else { probability };
    if p > 1.0 - EPSILON { 1.0 - EPSILON } else { p }
}

/// What was clipped has no gradient; not-a-number stays.
fn unclipped(probability: f32, gradient: f32) -> f32 {
    if clip(probability) == probability || probability.is_nan() { gradient } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_of_a_probability_is_minus_its_logarithm() {
        for p in [1.0f32, 0.5, 0.1, 1e-7, 1e-30] {
            let exact = -f64::from(p).ln();
            assert!((f64::from(cross_entropy(p)) - exact).abs() <= 1e-6 * exact, "{p}");
        }
        for tiny in [0.0, -0.5, f32::from_bits(1)] {
            assert!((cross_entropy(tiny) - 87.336_55).abs() < 1e-4);
        }
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(cross_entropy(odd).is_nan());
        }
    }
}
