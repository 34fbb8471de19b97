//! The end of the network: answers, the loss, and where the gradient begins.
//!
//! With a softmax at the end the loss works on the logits, as Keras does: minus the logarithm of the
//! right class's probability is ln Σ e^z − z(label), and its gradient is the probabilities less one
//! at the label. Without one the last values are taken as probabilities, clipped away from 0 and 1
//! and divided by their sum, as Keras with TensorFlow does.

use spec::Reduction;

use super::{Run, disjoint};
use crate::Outcome;
use crate::kernels::softmax;
use crate::math;
use crate::program::Head;

/// The right answers, and, if a gradient is wanted, what it is multiplied by.
pub(crate) struct Labels<'a> {
    pub(crate) labels: &'a [u32],
    pub(crate) gradient: Option<f32>,
}

/// Keras' `epsilon`: probabilities are kept this far from 0 and 1 before the logarithm.
const EPSILON: f32 = 1e-7;

impl Head {
    /// The answers of the network: the softmax of the last values, or these as they are.
    pub(crate) fn answer(&self, run: &mut Run<'_>) {
        for sample in 0..run.n {
            self.answer_one(run, sample);
        }
    }

    /// The answer to one sample; with a softmax also the largest logit z* and ln Σ e^(z - z*).
    fn answer_one(&self, run: &mut Run<'_>, sample: usize) -> (f32, f32) {
        if !self.softmax {
            return (0.0, 0.0);
        }
        let [x, y] = disjoint(run.values, [self.x.one(sample), self.y.one(sample)]);
        y.copy_from_slice(x);
        softmax::forward(run.cpu.isa(), y)
    }

    /// The answers and the loss of a batch, summed over its samples; and its gradient, as reduced.
    pub(crate) fn judge(&self, run: &mut Run<'_>, right: &Labels<'_>) -> Outcome {
        let share = right.gradient.unwrap_or(1.0);
        let scale = match self.reduction {
            Reduction::Mean => share / run.n as f32,
            Reduction::Sum => share,
        };
        let classes = self.y.len;
        let mut outcome = Outcome::default();
        for (sample, &label) in right.labels.iter().enumerate() {
            let label = label as usize;
            assert!(label < classes, "label {label} of {classes} classes");
            let (top, logarithm) = self.answer_one(run, sample);
            let y = &run.values[self.y.one(sample)];
            outcome.loss += f64::from(if self.softmax {
                logarithm - (run.values[self.x.one(sample)][label] - top)
            } else {
                math::ln(clipped_sum(y)) - math::ln(clip(y[label]))
            });
            outcome.correct += u32::from(largest(y) == label);
            outcome.samples += 1;
            if let (Some(_), Some(dx)) = (right.gradient, self.dx) {
                let [y, dx] = disjoint(run.values, [self.y.one(sample), dx.one(sample)]);
                self.gradient(y, dx, label, scale);
            }
        }
        outcome
    }

    fn gradient(&self, y: &[f32], dx: &mut [f32], label: usize, scale: f32) {
        if self.softmax {
            for (dx, y) in dx.iter_mut().zip(y) {
                *dx = y * scale;
            }
            dx[label] = (y[label] - 1.0) * scale;
        } else {
            let share = scale / clipped_sum(y);
            for (i, (dx, &y)) in dx.iter_mut().zip(y).enumerate() {
                let right = if i == label { scale / clip(y) } else { 0.0 };
                // What was clipped has no gradient; not-a-number stays.
                let passes = clip(y) == y || y.is_nan();
                *dx = if passes { share - right } else { 0.0 };
            }
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

/// The first largest.
fn largest(row: &[f32]) -> usize {
    (1..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
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
