//! What a model answers, and how it is told.

use std::ops::Range;

use engine::{Input, Jury};
use model::Verdict;
use serde::Serialize;

use crate::gallery::Near;
use crate::kind::Kind;
use crate::reader::Word;
use crate::served::{Combine, Served};

/// The answers to a request's samples, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answers {
    /// What the network says: probabilities, or for faces an embedding of length 1.
    pub predictions: Vec<Vec<f32>>,
    /// The most probable class of each; none for faces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<usize>,
    /// What these classes are called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Of an ensemble that votes, how many models are for each class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vec<u32>>,
    /// Of texts, which words were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Vec<Word>>,
    /// Of faces, the nearest in the gallery.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Vec<Near>>,
}

impl Served {
    /// The answers to `count` samples, computed a batch at a time. `input` gives the samples of a range.
    pub fn answer<'x>(
        &self,
        jury: &mut Jury<'_>,
        count: usize,
        mut input: impl FnMut(Range<usize>) -> Input<'x>,
    ) -> Answers {
        let mut all = Answers::default();
        for first in (0..count).step_by(self.batch) {
            let n = self.batch.min(count - first);
            let x = input(first..first + n);
            all.extend(match self.kind {
                Kind::Faces => self.tell_faces(&jury.embed(x, n)),
                _ => self.tell(&jury.ask(x, n)),
            });
        }
        all
    }

    /// Tells a verdict.
    fn tell(&self, verdict: &Verdict) -> Answers {
        let outputs = self.about.outputs;
        // One number of a network is the second of two probabilities.
        let width = outputs.max(2);
        let rows = verdict.probabilities.chunks_exact(width);
        let votes = self.published.members().len() > 1 && self.combine == Combine::Vote;
        let classes: Vec<usize> = match self.combine {
            Combine::Vote => verdict.classes.clone(),
            Combine::Mean => verdict.most_probable(width),
        };
        Answers {
            predictions: rows.map(|row| row[width - outputs..].to_vec()).collect(),
            labels: classes.iter().map(|&class| self.about.labels[class].clone()).collect(),
            classes,
            votes: match votes {
                true => verdict.votes.chunks_exact(width).map(<[u32]>::to_vec).collect(),
                false => vec![],
            },
            ..Answers::default()
        }
    }

    /// Tells embeddings, with those of the gallery that are nearest.
    fn tell_faces(&self, embeddings: &[f32]) -> Answers {
        let rows = embeddings.chunks_exact(self.about.outputs);
        let nearest = self.gallery.iter().flat_map(|all| rows.clone().map(|row| all.nearest(row)));
        Answers {
            nearest: nearest.collect(),
            predictions: rows.map(<[f32]>::to_vec).collect(),
            ..Answers::default()
        }
    }
}

impl Answers {
    /// Splits off the answers to the first `count` samples.
    pub(crate) fn take(&mut self, count: usize) -> Answers {
        fn first<T>(all: &mut Vec<T>, count: usize) -> Vec<T> {
            all.drain(..count.min(all.len())).collect()
        }
        Answers {
            predictions: first(&mut self.predictions, count),
            classes: first(&mut self.classes, count),
            labels: first(&mut self.labels, count),
            votes: first(&mut self.votes, count),
            words: first(&mut self.words, count),
            nearest: first(&mut self.nearest, count),
        }
    }

    /// Appends the answers to more samples.
    pub fn extend(&mut self, more: Answers) {
        self.predictions.extend(more.predictions);
        self.classes.extend(more.classes);
        self.labels.extend(more.labels);
        self.votes.extend(more.votes);
        self.words.extend(more.words);
        self.nearest.extend(more.nearest);
    }

    /// Whether all of it is numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.predictions.iter().flatten().all(|number| number.is_finite())
    }
}
