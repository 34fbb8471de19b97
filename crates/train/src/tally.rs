//! Counting right answers and losses.

use collective::Note;
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

    /// Adds what another rank has counted.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.loss += other.loss;
        self.correct += other.correct;
        self.samples += other.samples;
    }

    /// What all ranks have counted, added in the order of ranks.
    pub(crate) fn of_notes(notes: &[Note]) -> Tally {
        let mut all = Tally::default();
        for note in notes {
            let word =
                |i: usize| u64::from_le_bytes(note[8 * i..][..8].try_into().expect("8 bytes"));
            all.add(&Tally { loss: f64::from_bits(word(0)), correct: word(1), samples: word(2) });
        }
        all
    }

    /// As it rides along with an exchange.
    pub(crate) fn note(&self) -> Note {
        let mut note = [0; size_of::<Note>()];
        for (i, word) in [self.loss.to_bits(), self.correct, self.samples].into_iter().enumerate() {
            note[8 * i..][..8].copy_from_slice(&word.to_le_bytes());
        }
        note
    }

    /// Means over the samples, if there were any.
    pub fn metrics(&self) -> Option<Metrics> {
        let samples = self.samples as f64;
        (self.samples > 0)
            .then(|| Metrics { loss: self.loss / samples, accuracy: self.correct as f64 / samples })
    }
}
