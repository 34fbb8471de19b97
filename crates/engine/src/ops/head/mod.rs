//! The end of the network: answers, the loss, and where the gradient begins.

mod losses;
mod triplet;

use spec::{LossName, Reduction};

use super::{Run, disjoint};
use crate::Outcome;
use crate::kernels::softmax;
use crate::math;
use crate::program::{Ending, Head};
use losses::Case;

pub use losses::cross_entropy;

/// The right answers, and, if a gradient is wanted, what it is multiplied by.
pub(crate) struct Labels<'a> {
    pub(crate) labels: &'a [u32],
    pub(crate) gradient: Option<f32>,
}

impl Head {
    /// The answers of the network: what the ending makes of the last values.
    pub(crate) fn answer(&self, run: &mut Run<'_>) {
        for sample in 0..run.n {
            self.answer_one(run, sample);
        }
    }

    /// The answer to one sample; with a softmax also the largest logit z* and ln Σ e^(z - z*).
    fn answer_one(&self, run: &mut Run<'_>, sample: usize) -> (f32, f32) {
        if self.ending == Ending::Values {
            return (0.0, 0.0);
        }
        let [x, y] = disjoint(run.values, [self.x.one(sample), self.y.one(sample)]);
        if self.ending == Ending::Softmax {
            y.copy_from_slice(x);
            return softmax::forward(run.cpu.isa(), y);
        }
        y.iter_mut().zip(x).for_each(|(y, x)| *y = math::sigmoid(*x));
        (0.0, 0.0)
    }

    /// The answers and the loss of a batch, summed over its samples; and its gradient, as reduced.
    pub(crate) fn judge(&self, run: &mut Run<'_>, right: &Labels<'_>) -> Outcome {
        let share = right.gradient.unwrap_or(1.0);
        let scale = match self.reduction {
            Reduction::Mean => share / right.labels.len() as f32,
            Reduction::Sum => share,
        };
        if self.loss == LossName::Triplet {
            return self.judge_triplets(run, right.gradient.map(|_| scale));
        }
        let classes = self.loss.classes(self.y.len);
        let mut outcome = Outcome::default();
        for (sample, &label) in right.labels.iter().enumerate() {
            let label = label as usize;
            assert!(label < classes, "label {label} of {classes} classes");
            let total = self.answer_one(run, sample);
            let (z, y) = (&run.values[self.x.one(sample)], &run.values[self.y.one(sample)]);
            let case = self.case(y, label);
            outcome.loss += f64::from(case.loss(z, total));
            outcome.correct += u32::from(case.is_right());
            outcome.samples += 1;
            if let (Some(_), Some(dx)) = (right.gradient, self.dx) {
                let [y, dx] = disjoint(run.values, [self.y.one(sample), dx.one(sample)]);
                self.case(y, label).gradient(scale, dx);
            }
        }
        outcome
    }

    fn case<'a>(&self, y: &'a [f32], label: usize) -> Case<'a> {
        Case { loss: self.loss, ending: self.ending, y, label }
    }
}
