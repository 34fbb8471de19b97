//! Asking what was published: a model alone, or the members of an ensemble one after another.

use std::borrow::Cow;

use data::View;
use engine::{Cpu, Program, Session};
use model::{Model, Published, Verdict, vote};

use crate::{Error, input};

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
    pub fn new(published: &'a Published, batch: usize, cpu: Cpu) -> Result<Self, Error> {
        let members: Vec<_> = published.members().iter().map(Model::folded).collect();
        let program = Program::inference(&members[0].graph, batch)?;
        Ok(Jury { members, session: Session::new(program, cpu), seated: None })
    }

    /// What all members together answer to `n` samples. Bytes are scaled as their cards say. A single
    /// number is the probability of the second of two classes.
    ///
    /// # Panics
    /// When there are more samples than the batch.
    pub fn ask(&mut self, x: View<'_>, n: usize) -> Verdict {
        let Model { graph, card, .. } = &*self.members[0];
        let outputs: usize = graph.output_shape().iter().product();
        let x = input(x, card.input.scale);
        let members = 0..self.members.len();
        let ask = |rank| match self.seat(rank).predict(x, n) {
            ps if outputs == 1 => ps.iter().flat_map(|p| [1.0 - p, *p]).collect(),
            answers => answers.to_vec(),
        };
        let answers: Vec<Vec<f32>> = members.map(ask).collect();
        vote(&answers, outputs.max(2))
    }

    /// The session with the weights of a member.
    pub(crate) fn seat(&mut self, rank: usize) -> &mut Session {
        if self.seated != Some(rank) {
            self.session.weights_mut().copy_from_slice(&self.members[rank].weights);
            self.seated = Some(rank);
        }
        &mut self.session
    }
}
