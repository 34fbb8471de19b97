//! Asking what was published: a model alone, or the members of an ensemble one after another.

use std::borrow::Cow;

use model::{Model, Published, Verdict, vote};

use crate::{Cpu, EngineError, Input, Program, Session};

/// A published model or ensemble at work. Its members share one session: they differ in weights
/// alone, and copying those costs little beside a batch. They are folded: see [`Model::folded`].
pub struct Jury<'a> {
    members: Vec<Cow<'a, Model>>,
    session: Session,
    /// The rank of the member whose weights the session holds.
    seated: Option<usize>,
}

impl<'a> Jury<'a> {
    /// Makes ready to answer up to `batch` samples at a time.
    pub fn new(published: &'a Published, batch: usize, cpu: Cpu) -> Result<Self, EngineError> {
        let members: Vec<_> = published.members().iter().map(Model::folded).collect();
        let program = Program::inference(&members[0].graph, batch)?;
        Ok(Jury { members, session: Session::new(program, cpu), seated: None })
    }

    /// What all members together answer to `n` samples. A single number is the probability of the
    /// second of two classes.
    ///
    /// # Panics
    /// When there are more samples than the batch, or when an id is not a word.
    pub fn ask(&mut self, x: Input<'_>, n: usize) -> Verdict {
        let outputs = self.session.program().outputs();
        let members = 0..self.members.len();
        let ask = |rank| match self.seat(rank).predict(x, n) {
            ps if outputs == 1 => ps.iter().flat_map(|p| [1.0 - p, *p]).collect(),
            answers => answers.to_vec(),
        };
        let answers: Vec<Vec<f32>> = members.map(ask).collect();
        vote(&answers, outputs.max(2))
    }

    /// The embeddings of `n` pictures by the first member, each of length 1.
    ///
    /// # Panics
    /// When there are more pictures than the batch.
    pub fn embed(&mut self, x: Input<'_>, n: usize) -> Vec<f32> {
        let mut rows = self.seat(0).predict(x, n).to_vec();
        to_length_one(&mut rows, n);
        rows
    }

    /// The session with the weights of a member.
    pub fn seat(&mut self, rank: usize) -> &mut Session {
        if self.seated != Some(rank) {
            self.session.weights_mut().copy_from_slice(&self.members[rank].weights);
            self.seated = Some(rank);
        }
        &mut self.session
    }
}

/// Scales each of `n` rows to length 1; a row of zeros stays.
pub fn to_length_one(rows: &mut [f32], n: usize) {
    let len = rows.len() / n.max(1);
    for row in rows.chunks_exact_mut(len.max(1)) {
        let square: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let length = square.sqrt() as f32;
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
}
