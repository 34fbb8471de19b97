//! Recurrent layers as an operation: what it computes, and what it keeps for the way back.

use std::ops::Range;

use model::Weight;
use spec::{MergeMode, Recurrent as Layer};

/// Reads sequences step by step, in one direction or both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recurrent {
    pub(crate) cell: Cell,
    pub(crate) steps: usize,
    /// Numbers of a step.
    pub(crate) inputs: usize,
    pub(crate) units: usize,
    /// One, or two.
    pub(crate) directions: Vec<Direction>,
    /// What the results of two directions come to.
    pub(crate) merge: MergeMode,
    /// Whether there is a result for each step, and not for the last one alone.
    pub(crate) sequences: bool,
    /// Whether the results are in the opposite order of the steps.
    pub(crate) flipped: bool,
    /// Whether ids are read too, and steps with the id 0 are passed by.
    pub(crate) masked: bool,
}

/// What is computed in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Gated recurrent units that reset after the product.
    GruAfter,
    /// The same, resetting before the product.
    GruBefore,
    /// Long short-term memory.
    Lstm,
}

/// The weights of a direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Direction {
    /// Inputs × gates, in the arena of weights.
    pub(crate) kernel: Range<usize>,
    /// Units × gates.
    pub(crate) recurrent: Range<usize>,
    pub(crate) bias: Option<Range<usize>>,
    /// Whether it begins at the last step.
    pub(crate) reversed: bool,
}

/// Floats between the gates of two samples, so that their addresses do not fall on each other in the
/// cache.
const GAP: usize = 16;

impl Recurrent {
    /// A layer that reads sequences of a shape, with its weights in order.
    pub(crate) fn new(
        (layer, merge): (&Layer, Option<MergeMode>),
        (steps, inputs): (usize, usize),
        weights: &[Weight],
        masked: bool,
    ) -> Self {
        let cell = match layer {
            Layer::Gru(gru) if gru.reset_after => Cell::GruAfter,
            Layer::Gru(_) => Cell::GruBefore,
            Layer::Lstm(_) => Cell::Lstm,
        };
        let count = 1 + usize::from(merge.is_some());
        let flipped = layer.go_backwards();
        let directions = weights.chunks_exact(weights.len() / count).enumerate();
        let direction = |(number, own): (usize, &[Weight])| Direction {
            kernel: own[0].range.clone(),
            recurrent: own[1].range.clone(),
            bias: own.get(2).map(|bias| bias.range.clone()),
            reversed: flipped != (number == 1),
        };
        Recurrent {
            cell,
            steps,
            inputs,
            units: layer.units(),
            directions: directions.map(direction).collect(),
            merge: merge.unwrap_or(MergeMode::Concat),
            sequences: layer.return_sequences(),
            flipped,
            masked,
        }
    }

    /// Columns of the kernels.
    pub(crate) fn columns(&self) -> usize {
        if self.cell == Cell::Lstm { 4 * self.units } else { 3 * self.units }
    }

    /// Floats from one sample's gates to the next one's, of a step.
    pub(crate) fn pitch(&self) -> usize {
        4 * self.units + GAP
    }

    /// Floats of one sample's gates, in one direction: of every step, or of one at a time.
    pub(crate) fn gates(&self, trains: bool) -> usize {
        self.pitch() * if trains { self.steps } else { 1 }
    }

    /// Floats of one sample's states, in one direction.
    pub(crate) fn states(&self) -> usize {
        let kinds = if self.cell == Cell::Lstm { 2 } else { 1 };
        kinds * self.steps * self.units
    }

    /// Floats for a sample that live from forward to backward.
    pub(crate) fn kept(&self, trains: bool) -> usize {
        self.directions.len() * (self.gates(trains) + self.states())
    }

    /// The step that a direction comes to after `done` others.
    pub(crate) fn step(&self, direction: &Direction, done: usize) -> usize {
        if direction.reversed { self.steps - 1 - done } else { done }
    }
}
