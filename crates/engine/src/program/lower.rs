//! From layers to operations.
//!
//! - `Input` and `Flatten` compute nothing: samples are flat rows in memory all the time.
//! - ReLU is part of the product or the normalization before it. Other activations follow it as operations of their own,
//!   in place unless backward they need what they read; a softmax or sigmoid at the very end becomes part of the loss.
//! - A 2×2 max pooling with stride 2 is part of the convolution before it, whose own output is then
//!   never stored.
//! - All this holds only where nothing else reads the value in between. A value that several operations
//!   read is forked, so that each reads one of its own and backward their gradients are summed.

use model::Graph;
use spec::{Activation, LossName};

use super::layers::last;
use super::{Activate, Ending, Op, Operation, Place, Pool, Window};

/// Operations in order, before they have places.
pub(super) struct Draft {
    pub(super) steps: Vec<Step>,
    /// The length of each value for one sample. The first is the network's input.
    pub(super) values: Vec<usize>,
    /// The value that the head reads.
    pub(super) last: usize,
    /// How the network ends, if the loss goes through that; it is then not among the operations.
    pub(super) ending: Ending,
}

/// An operation and the values it has to do with. Each value is written once and read once.
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) reads: Vec<usize>,
    /// One value, or those of a fork.
    pub(super) writes: Vec<usize>,
    /// Whether it has weights, and its layer is not frozen.
    pub(super) trained: bool,
    /// The number of its layer.
    pub(super) layer: usize,
}

pub(super) fn lower(graph: &Graph, loss: LossName) -> Draft {
    let readers = graph.readers();
    let mut lowering = Lowering {
        draft: Draft { steps: vec![], values: vec![], last: 0, ending: Ending::Values },
        shared: vec![],
        trained: false,
        layer: 0,
    };
    let mut value_of: Vec<usize> = vec![];
    for (number, node) in graph.nodes().iter().enumerate() {
        let reads = node.inputs.iter().map(|&input| value_of[input]).collect();
        (lowering.layer, lowering.trained) = (number, node.layer.trainable());
        let value = lowering.node(graph, number, reads);
        lowering.shared[value] |= readers[number] > 1;
        value_of.push(value);
    }
    let mut draft = lowering.draft;
    draft.last = value_of[value_of.len() - 1];
    draft.take_ending(graph.output_shape(), loss);
    draft.fork();
    draft
}

pub(super) struct Lowering {
    draft: Draft,
    /// Whether several layers read a value.
    shared: Vec<bool>,
    /// Whether the layer at hand is trained.
    trained: bool,
    /// Its number.
    layer: usize,
}

impl Lowering {
    pub(super) fn value(&mut self, len: usize) -> usize {
        self.draft.values.push(len);
        self.shared.push(false);
        self.shared.len() - 1
    }

    pub(super) fn push(&mut self, op: Op, reads: Vec<usize>, shape: &[usize]) -> usize {
        let value = self.value(shape.iter().product());
        let trained = self.trained && Operation::has_weights(&op);
        self.draft.steps.push(Step { op, reads, writes: vec![value], trained, layer: self.layer });
        value
    }

    /// What makes a value, where nothing but what comes now reads it.
    fn maker(&mut self, value: usize) -> Option<&mut Op> {
        let makes = |step: &&mut Step| step.writes == [value];
        let maker = self.draft.steps.iter_mut().find(makes).filter(|_| !self.shared[value]);
        maker.map(|step| &mut step.op)
    }

    /// Adds an activation: into the product before it if that is possible.
    pub(super) fn activate(
        &mut self,
        activation: Activation,
        value: usize,
        shape: &[usize],
    ) -> usize {
        let fused = match self.maker(value) {
            Some(Op::Dense(dense)) => Some(&mut dense.relu),
            Some(Op::Conv(conv)) if conv.choices.is_none() => Some(&mut conv.relu),
            Some(Op::Normalize(normalize)) => Some(&mut normalize.relu),
            _ => None,
        };
        match (activation, fused) {
            (Activation::Linear, _) => value,
            (Activation::Relu, Some(relu)) => {
                *relu = true;
                value
            }
            _ => {
                let row = last(shape);
                self.push(Op::Activate(Activate { activation, row }), vec![value], shape)
            }
        }
    }

    /// Adds a max pooling: into the convolution before it if that is possible.
    pub(super) fn pool(&mut self, window: Window, value: usize, shape: &[usize]) -> usize {
        let halves = window.height == 2
            && window.width == 2
            && window.stride == [2, 2]
            && !window.is_padded();
        let len = window.output.len();
        match self.maker(value) {
            Some(Op::Conv(conv)) if halves && conv.is_plain() && conv.choices.is_none() => {
                conv.choices = Some(Place { offset: 0, len });
                self.draft.values[value] = len;
                value
            }
            _ => self.push(Op::Pool(Pool { window }), vec![value], shape),
        }
    }
}

impl Draft {
    /// Makes the activation that belongs to the loss part of the head, if that ends the network.
    fn take_ending(&mut self, output: &[usize], loss: LossName) {
        let (activation, ending) = match loss {
            LossName::BinaryCrossentropy => (Activation::Sigmoid, Ending::Sigmoid),
            LossName::MeanSquaredError | LossName::Triplet => return,
            LossName::SparseCategoricalCrossentropy | LossName::CategoricalCrossentropy => {
                (Activation::Softmax, Ending::Softmax)
            }
        };
        let whole = |step: &Step| matches!(&step.op, Op::Activate(a) if a.activation == activation && output == [a.row]);
        let ends = |step: &&Step| step.writes == [self.last] && whole(step);
        if self.steps.last().filter(ends).is_some()
            && let Some(step) = self.steps.pop()
        {
            self.values.pop();
            self.last = step.reads[0];
            self.ending = ending;
        }
    }

    /// Gives every reader of a value that has several a value of its own.
    fn fork(&mut self) {
        for value in 0..self.values.len() {
            let reads = self.steps.iter().flat_map(|step| &step.reads);
            let readers = reads.chain([&self.last]).filter(|read| **read == value).count();
            if readers < 2 {
                continue;
            }
            let first = self.values.len();
            self.values.extend(vec![self.values[value]; readers]);
            let mut own = first..first + readers;
            let reads = self.steps.iter_mut().flat_map(|step| &mut step.reads);
            for read in reads.chain([&mut self.last]).filter(|read| **read == value) {
                *read = own.next().unwrap_or(value);
            }
            let made = self.steps.iter().position(|step| step.writes.contains(&value));
            let writes = (first..first + readers).collect();
            let layer = made.map_or(0, |made| self.steps[made].layer);
            let fork = Step { op: Op::Fork, reads: vec![value], writes, trained: false, layer };
            self.steps.insert(made.map_or(0, |made| made + 1), fork);
        }
    }
}
