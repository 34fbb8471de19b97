//! A program: what is computed, in which order, in which memory. Pure data, made once from a graph
//! and a batch size; a [`Session`](crate::Session) gives it memory and a processor.
//!
//! Four files make it. `layers` (with `convolve`) says what each layer becomes; `lower` puts that in an order and fuses what belongs together; `place`
//! gives every value its place, so that values that do not live at the same time share one; `op` says
//! what operations there are.

mod convolve;
mod labor;
mod layers;
mod lower;
mod op;
mod place;
mod recurrent;
mod sizes;
mod window;

use std::ops::Range;

use model::{Graph, Kind};
use spec::{Loss, LossName};

pub use labor::Labor;
pub(crate) use op::{
    Activate, Augment, Average, Conv, Dense, Depthwise, Drop, Embed, Ending, Head, LayerNormalize,
    Normalize, Op, Operation, Pool, Scale, Turn,
};
pub(crate) use place::Place;
pub(crate) use recurrent::{Cell, Direction, Recurrent};
pub(crate) use window::{Picture, Window};

use crate::EngineError;

/// A network and a batch size, compiled: operations, and where their values lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The most pictures, or other things to answer to, at a time.
    pub(crate) batch: usize,
    /// How many of them make a sample to train on: of a triplet, three.
    pub(crate) pictures: usize,
    /// Floats of one sample.
    pub(crate) sample: usize,
    /// Where the samples of a batch lie as floats.
    pub(crate) input: Place,
    /// In the order of computation.
    pub(crate) operations: Vec<Operation>,
    pub(crate) head: Head,
    /// Floats of all weights.
    pub(crate) weights: usize,
    /// Those of layers that are frozen.
    pub(crate) frozen: Vec<Range<usize>>,
    /// Whether gradients are computed.
    pub(crate) trains: bool,
    /// Floats that hold values, by [`Place`].
    pub(crate) values: usize,
    /// Bytes that hold which input a pooling took, by place.
    pub(crate) choices: usize,
    /// Floats that an operation may use while it runs.
    pub(crate) scratch: usize,
    /// Where samples are ids of words: these are below.
    pub(crate) vocabulary: Option<usize>,
}

/// The memory of a session, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The weights.
    pub weights: usize,
    /// Their gradients.
    pub gradients: usize,
    /// Values that flow from layer to layer and back.
    pub activations: usize,
    /// What operations need while they run.
    pub scratch: usize,
}

impl Memory {
    /// All of it.
    pub fn total(&self) -> usize {
        self.weights + self.gradients + self.activations + self.scratch
    }
}

impl Program {
    /// A program that computes gradients, and also answers. Where samples are triplets, the batch is of
    /// triplets.
    pub fn training(graph: &Graph, loss: Loss, batch: usize) -> Result<Self, EngineError> {
        if graph.output_shape().len() != 1 {
            let shape = graph.output_shape().to_vec();
            return Err(EngineError::Output { shape });
        }
        Self::compile(graph, batch, Some(loss), true)
    }

    /// A program that judges answers by a loss. It needs less memory.
    pub fn judging(graph: &Graph, loss: Loss, batch: usize) -> Result<Self, EngineError> {
        Self::compile(graph, batch, Some(loss), false)
    }

    /// A program that only answers. It needs less memory.
    pub fn inference(graph: &Graph, batch: usize) -> Result<Self, EngineError> {
        Self::compile(graph, batch, None, false)
    }

    /// The exact memory a session of this program allocates.
    pub fn memory(&self) -> Memory {
        let floats = |count: usize| crate::arena::size(count);
        // Gradients may lie elsewhere, so that their own arena is held at one remove.
        let gradients = if self.trains { floats(self.weights) } else { 0 };
        Memory {
            weights: floats(self.weights),
            gradients: gradients + size_of::<crate::Arena>(),
            activations: floats(self.values) + self.choices,
            scratch: floats(self.scratch),
        }
    }

    /// The most samples that a call takes.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Floats of one sample.
    pub fn sample_len(&self) -> usize {
        self.sample
    }

    /// Floats of the answer to one sample.
    pub fn outputs(&self) -> usize {
        self.head.y.len
    }

    /// Floats of all weights.
    pub fn parameter_count(&self) -> usize {
        self.weights
    }

    fn compile(
        graph: &Graph,
        batch: usize,
        loss: Option<Loss>,
        trains: bool,
    ) -> Result<Self, EngineError> {
        let pictures = loss.map_or(1, |loss| loss.pictures());
        let batch = batch.saturating_mul(pictures);
        check(graph, batch)?;
        let usual = LossName::usual(graph.output_shape().iter().product());
        let loss = loss.unwrap_or(Loss::of(usual));
        let draft = lower::lower(graph, loss.name);
        let placed = place::place(&draft, batch, trains);
        let scratch = placed.operations.iter().map(|o| crate::ops::scratch(o, batch)).max();
        Ok(Program {
            batch,
            pictures,
            sample: placed.input.len,
            input: placed.input,
            head: Head {
                ending: draft.ending,
                loss: loss.name,
                reduction: loss.reduction,
                alpha: loss.margin(),
                x: placed.logits,
                y: placed.answer,
                dx: placed.gradient,
            },
            operations: placed.operations,
            weights: graph.parameter_count(),
            frozen: graph
                .weights()
                .iter()
                .filter(|weight| weight.kind == Kind::Frozen)
                .map(|weight| weight.range.clone())
                .collect(),
            trains,
            values: placed.values,
            choices: placed.choices,
            scratch: scratch.unwrap_or(0),
            vocabulary: graph.vocabulary(),
        })
    }

    /// How many gradients there are: one for each weight, where it trains.
    pub(crate) fn gradients(&self) -> usize {
        if self.trains { self.weights } else { 0 }
    }
}

fn check(graph: &Graph, batch: usize) -> Result<(), EngineError> {
    if batch == 0 {
        return Err(EngineError::Empty);
    }
    for (number, node) in graph.nodes().iter().enumerate() {
        let sample = graph.shape(number).iter().product::<usize>();
        let elements = sample as u128 * batch as u128;
        if elements > u128::from(u32::MAX) {
            return Err(EngineError::Batch {
                name: node.name.clone(),
                elements,
                batch,
                limit: u32::MAX as usize / sample + 1,
            });
        }
    }
    Ok(())
}
