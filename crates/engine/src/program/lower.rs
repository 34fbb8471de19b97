//! From layers to operations.
//!
//! - `Input` and `Flatten` compute nothing: samples are flat rows in memory all the time.
//! - ReLU is part of the product before it. Other activations follow it as operations of their own,
//!   in place; a softmax at the very end becomes part of the loss.
//! - A 2×2 max pooling with stride 2 is part of the convolution before it, whose own output is then
//!   never stored.
//! - All this holds only where nothing else reads the value in between. A value that several operations
//!   read is forked, so that each reads one of its own and backward their gradients are summed.

use model::Graph;
use spec::{Activation, Layer, Padding, Pair};

use super::{Activate, Conv, Dense, Drop, Op, Picture, Place, Pool, Window};

/// Operations in order, before they have places.
pub(super) struct Draft {
    pub(super) steps: Vec<Step>,
    /// The length of each value for one sample. The first is the network's input.
    pub(super) values: Vec<usize>,
    /// The value that the head reads.
    pub(super) last: usize,
    /// Whether the network ends in a softmax, which is then not among the operations.
    pub(super) softmax: bool,
}

/// An operation and the values it has to do with. Each value is written once and read once.
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) reads: Vec<usize>,
    /// One value, or those of a fork.
    pub(super) writes: Vec<usize>,
}

pub(super) fn lower(graph: &Graph) -> Draft {
    let mut readers = vec![0; graph.nodes().len()];
    let read = graph.nodes().iter().flat_map(|node| &node.inputs);
    read.for_each(|&input| readers[input] += 1);
    let mut lowering = Lowering {
        draft: Draft { steps: vec![], values: vec![], last: 0, softmax: false },
        shared: vec![],
    };
    let mut value_of: Vec<usize> = vec![];
    for (number, node) in graph.nodes().iter().enumerate() {
        let reads = node.inputs.iter().map(|&input| value_of[input]).collect();
        let value = lowering.node(graph, number, reads);
        lowering.shared[value] |= readers[number] > 1;
        value_of.push(value);
    }
    let mut draft = lowering.draft;
    draft.last = value_of[value_of.len() - 1];
    draft.take_softmax(graph.output_shape());
    draft.fork();
    draft
}

struct Lowering {
    draft: Draft,
    /// Whether several layers read a value.
    shared: Vec<bool>,
}

impl Lowering {
    /// Adds what a layer computes. Its value.
    fn node(&mut self, graph: &Graph, number: usize, reads: Vec<usize>) -> usize {
        let node = &graph.nodes()[number];
        let shape = graph.shape(number);
        match &node.layer {
            Layer::Input(_) => self.value(shape.iter().product()),
            Layer::Flatten(_) => reads[0],
            Layer::Dense(dense) => {
                let value = self.push(lower_dense(graph, number, dense), reads, shape);
                self.activate(dense.activation, value, shape)
            }
            Layer::Conv2D(conv) => {
                let value = self.push(lower_conv(graph, number, conv), reads, shape);
                self.activate(conv.activation, value, shape)
            }
            Layer::MaxPooling2D(pool) => {
                let input = picture(graph.shape(node.inputs[0]));
                let strides = pool.strides.unwrap_or(pool.pool_size);
                let window = window(input, picture(shape), [pool.pool_size, strides], pool.padding);
                self.pool(window, reads[0], shape)
            }
            Layer::Dropout(dropout) if dropout.rate == 0.0 => reads[0],
            Layer::Dropout(dropout) => {
                let (layer, rate) = (number as u64, dropout.rate);
                self.push(Op::Drop(Drop { layer, rate }), reads, shape)
            }
            Layer::Activation(layer) => self.activate(layer.activation, reads[0], shape),
            Layer::Add(_) => self.push(Op::Add, reads, shape),
            Layer::Concatenate(_) => {
                let row = |&input: &usize| last(graph.shape(input));
                let rows = node.inputs.iter().map(row).collect();
                self.push(Op::Concatenate(rows), reads, shape)
            }
        }
    }

    fn value(&mut self, len: usize) -> usize {
        self.draft.values.push(len);
        self.shared.push(false);
        self.shared.len() - 1
    }

    fn push(&mut self, op: Op, reads: Vec<usize>, shape: &[usize]) -> usize {
        let value = self.value(shape.iter().product());
        self.draft.steps.push(Step { op, reads, writes: vec![value] });
        value
    }

    /// What makes a value, where nothing but what comes now reads it.
    fn maker(&mut self, value: usize) -> Option<&mut Op> {
        let makes = |step: &&mut Step| step.writes == [value];
        let maker = self.draft.steps.iter_mut().find(makes).filter(|_| !self.shared[value]);
        maker.map(|step| &mut step.op)
    }

    /// Adds an activation: into the product before it if that is possible.
    fn activate(&mut self, activation: Activation, value: usize, shape: &[usize]) -> usize {
        let fused = match self.maker(value) {
            Some(Op::Dense(dense)) => Some(&mut dense.relu),
            Some(Op::Conv(conv)) if conv.choices.is_none() => Some(&mut conv.relu),
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
    fn pool(&mut self, window: Window, value: usize, shape: &[usize]) -> usize {
        let halves = window.height == 2
            && window.width == 2
            && window.stride == [2, 2]
            && !window.is_padded();
        let len = window.output.len();
        match self.maker(value) {
            Some(Op::Conv(conv)) if halves && conv.choices.is_none() => {
                conv.choices = Some(Place { offset: 0, len });
                self.draft.values[value] = len;
                value
            }
            _ => self.push(Op::Pool(Pool { window }), vec![value], shape),
        }
    }
}

impl Draft {
    /// Makes a softmax over the whole output part of the head.
    fn take_softmax(&mut self, output: &[usize]) {
        let whole = |step: &Step| {
            matches!(&step.op, Op::Activate(a)
                if a.activation == Activation::Softmax && output == [a.row])
        };
        let ends = |step: &&Step| step.writes == [self.last] && whole(step);
        if self.steps.last().filter(ends).is_some()
            && let Some(step) = self.steps.pop()
        {
            self.values.pop();
            self.last = step.reads[0];
            self.softmax = true;
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
            let fork = Step { op: Op::Fork, reads: vec![value], writes };
            self.steps.insert(made.map_or(0, |made| made + 1), fork);
        }
    }
}

fn last(shape: &[usize]) -> usize {
    shape[shape.len() - 1]
}

fn lower_dense(graph: &Graph, number: usize, dense: &spec::Dense) -> Op {
    let weights = graph.weights_of(number);
    Op::Dense(Dense {
        inputs: weights[0].shape[0],
        units: dense.units,
        kernel: weights[0].range.clone(),
        bias: weights.get(1).map(|bias| bias.range.clone()),
        relu: false,
    })
}

fn lower_conv(graph: &Graph, number: usize, conv: &spec::Conv2D) -> Op {
    let weights = graph.weights_of(number);
    let input = picture(graph.shape(graph.nodes()[number].inputs[0]));
    let output = picture(graph.shape(number));
    Op::Conv(Conv {
        window: window(input, output, [conv.kernel_size, conv.strides], conv.padding),
        kernel: weights[0].range.clone(),
        bias: weights.get(1).map(|bias| bias.range.clone()),
        relu: false,
        choices: None,
    })
}

fn picture(shape: &[usize]) -> Picture {
    let &[height, width, channels] = shape else {
        unreachable!("the graph has checked that this is a picture: {shape:?}");
    };
    Picture { height, width, channels }
}

fn window(input: Picture, output: Picture, [size, stride]: [Pair; 2], padding: Padding) -> Window {
    let before_and_after = |windows: usize, size: usize, stride: usize, pixels: usize| {
        let total = match padding {
            Padding::Valid => 0,
            Padding::Same => ((windows - 1) * stride + size).saturating_sub(pixels),
        };
        // The odd one goes after, as in TensorFlow.
        (total / 2, total - total / 2)
    };
    let down = before_and_after(output.height, size.height, stride.height, input.height);
    let across = before_and_after(output.width, size.width, stride.width, input.width);
    Window {
        input,
        output,
        height: size.height,
        width: size.width,
        stride: [stride.height, stride.width],
        before: [down.0, across.0],
        after: [down.1, across.1],
    }
}
