//! Counting right answers and losses.

use engine::Outcome;
use serde::{Deserialize, Serialize};

use crate::event::Metrics;

/// Sums over some batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Sum of the samples' losses.
    pub loss: f64,
    /// How many answers were right.
    pub correct: u64,
    /// How many samples there were.
    pub samples: u64,
}

impl Tally {
    /// Adds a batch.
    pub fn count(&mut self, outcome: &Outcome) {
        self.loss += outcome.loss;
        self.correct += u64::from(outcome.correct);
        self.samples += u64::from(outcome.samples);
    }

    /// Means over the samples, if there were any.
    pub fn metrics(&self) -> Option<Metrics> {
        let samples = self.samples as f64;
        (self.samples > 0)
            .then(|| Metrics { loss: self.loss / samples, accuracy: self.correct as f64 / samples })
    }
}
