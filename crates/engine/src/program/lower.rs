//! From layers to operations.
//!
//! - `Input` and `Flatten` compute nothing: samples are flat rows in memory all the time.
//! - ReLU is part of the product before it. Other activations follow it as operations of their own,
//!   in place; a softmax at the very end becomes part of the loss.
//! - A 2×2 max pooling with stride 2 is part of the convolution before it, whose own output is then
//!   never stored.

use model::Graph;
use spec::{Activation, Layer, Padding, Pair};

use super::{Activate, Conv, Dense, Drop, Op, Picture, Place, Pool, Window};

/// Operations in order, before they have places.
pub(super) struct Draft {
    /// Each with the length of its output for one sample.
    pub(super) ops: Vec<(Op, usize)>,
    /// Floats of one sample.
    pub(super) input: usize,
    /// Whether the network ends in a softmax, which is then not among the operations.
    pub(super) softmax: bool,
}

pub(super) fn lower(graph: &Graph) -> Draft {
    let mut draft =
        Draft { ops: Vec::new(), input: graph.input_shape().iter().product(), softmax: false };
    for (number, node) in graph.nodes().iter().enumerate() {
        let shape = graph.shape(number);
        match &node.layer {
            Layer::Input(_) | Layer::Flatten(_) => {}
            Layer::Dense(dense) => {
                draft.push(lower_dense(graph, number, dense), shape);
                draft.activate(dense.activation, shape);
            }
            Layer::Conv2D(conv) => {
                draft.push(lower_conv(graph, number, conv), shape);
                draft.activate(conv.activation, shape);
            }
            Layer::MaxPooling2D(pool) => {
                let input = picture(graph.shape(node.inputs[0]));
                let strides = pool.strides.unwrap_or(pool.pool_size);
                let window = window(input, picture(shape), [pool.pool_size, strides], pool.padding);
                draft.pool(window, shape);
            }
            Layer::Dropout(dropout) if dropout.rate == 0.0 => {}
            Layer::Dropout(dropout) => {
                let layer = number as u64;
                let rate = dropout.rate;
                draft.push(Op::Drop(Drop { layer, rate }), shape);
            }
            Layer::Activation(layer) => draft.activate(layer.activation, shape),
        }
    }
    draft.take_softmax(graph.output_shape());
    draft
}

impl Draft {
    fn push(&mut self, op: Op, shape: &[usize]) {
        self.ops.push((op, shape.iter().product()));
    }

    /// Adds an activation: into the product before it if that is possible.
    fn activate(&mut self, activation: Activation, shape: &[usize]) {
        let fused = match self.ops.last_mut() {
            Some((Op::Dense(dense), _)) => Some(&mut dense.relu),
            Some((Op::Conv(conv), _)) if conv.choices.is_none() => Some(&mut conv.relu),
            _ => None,
        };
        match (activation, fused) {
            (Activation::Linear, _) => {}
            (Activation::Relu, Some(relu)) => *relu = true,
            _ => {
                let row = shape[shape.len() - 1];
                self.push(Op::Activate(Activate { activation, row }), shape);
            }
        }
    }

    /// Adds a max pooling: into the convolution before it if that is possible.
    fn pool(&mut self, window: Window, shape: &[usize]) {
        let halves = window.height == 2
            && window.width == 2
            && window.stride == [2, 2]
            && !window.is_padded();
        match self.ops.last_mut() {
            Some((Op::Conv(conv), len)) if halves && conv.choices.is_none() => {
                *len = window.output.len();
                conv.choices = Some(Place { offset: 0, len: *len });
            }
            _ => self.push(Op::Pool(Pool { window }), shape),
        }
    }

    /// Makes a softmax over the whole output part of the head.
    fn take_softmax(&mut self, output: &[usize]) {
        let whole = |op: &Op| {
            matches!(op, Op::Activate(a)
                if a.activation == Activation::Softmax && output == [a.row])
        };
        if self.ops.last().is_some_and(|(op, _)| whole(op)) {
            self.ops.pop();
            self.softmax = true;
        }
    }
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
