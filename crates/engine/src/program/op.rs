//! The operations of a program. Each is a description; `crate::ops` runs them on the CPU.

use std::ops::Range;

use spec::{Activation, Fill, Flip, LossName, Reduction};

use super::{Picture, Place, Recurrent, Window};

/// One operation and the memory it works on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) op: Op,
    /// The number of its layer in the graph.
    pub(crate) layer: usize,
    /// What it reads.
    pub(crate) x: Place,
    /// What it writes; the same place as `x` when it works in place.
    pub(crate) y: Place,
    /// Where the gradient of `x` goes, when anything before needs it.
    pub(crate) dx: Option<Place>,
    /// Where the gradient of `y` comes from, in a program that trains.
    pub(crate) dy: Option<Place>,
    /// What else it reads, or for a fork what else reads it; and the gradients of these.
    pub(crate) more: Vec<(Place, Option<Place>)>,
    /// What it keeps for itself from forward to backward, if anything.
    pub(crate) kept: Place,
}

/// What an operation computes: one variant for each file in `crate::ops`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Dense(Dense),
    Conv(Conv),
    Depthwise(Depthwise),
    Pool(Pool),
    Normalize(Normalize),
    LayerNormalize(LayerNormalize),
    /// Rows of so many numbers, each brought to length 1.
    Unit(usize),
    Average(Average),
    Drop(Drop),
    Augment(Augment),
    Scale(Scale),
    /// A picture with zeros around it, as this window has them.
    Pad(Window),
    Activate(Activate),
    /// The sum of all it reads.
    Add,
    /// The rows of all it reads, one after another; how long the row of each is.
    Concatenate(Vec<usize>),
    /// Every number so many times.
    Repeat(usize),
    Embed(Embed),
    Recurrent(Recurrent),
    /// Nothing, forward. Backward, the gradients of all who read the value are summed.
    Fork,
}

/// y = x·kernel + bias, and perhaps ReLU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense {
    /// Rows of x in each sample.
    pub(crate) rows: usize,
    pub(crate) inputs: usize,
    pub(crate) units: usize,
    /// Inputs × units, in the arena of weights.
    pub(crate) kernel: Range<usize>,
    pub(crate) bias: Option<Range<usize>>,
    pub(crate) relu: bool,
}

/// A window of weights over a picture, and perhaps ReLU, and perhaps the largest of each 2×2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conv {
    pub(crate) window: Window,
    /// They divide the channels and the filters; filters see the channels of their group.
    pub(crate) groups: usize,
    /// Window height × window width × channels of a group × filters, in the arena of weights.
    pub(crate) kernel: Range<usize>,
    pub(crate) bias: Option<Range<usize>>,
    pub(crate) relu: bool,
    /// When a 2×2 max pooling is fused: where its choices lie, one byte for each output.
    pub(crate) choices: Option<Place>,
}

/// A window of weights for each channel, over a picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Depthwise {
    /// Where its pixels do not touch, strides are 1.
    pub(crate) window: Window,
    /// Window height × window width × channels, in the arena of weights.
    pub(crate) kernel: Range<usize>,
    pub(crate) bias: Option<Range<usize>>,
}

/// Brings each channel to mean 0 and variance 1, scales and shifts it, and perhaps ReLU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Normalize {
    pub(crate) channels: usize,
    /// What is multiplied, and what is added; in the arena of weights.
    pub(crate) gamma: Option<Range<usize>>,
    pub(crate) beta: Option<Range<usize>>,
    /// The moving mean and variance, in the arena of weights.
    pub(crate) mean: Range<usize>,
    pub(crate) variance: Range<usize>,
    /// How slowly these follow.
    pub(crate) momentum: f32,
    pub(crate) epsilon: f32,
    /// Whether nothing of it is trained, and it goes by the moving ones even in training.
    pub(crate) frozen: bool,
    pub(crate) relu: bool,
    /// Where the mean of a batch and one over its deviation lie until the backward pass: not by
    /// sample, so that the length is that of both.
    pub(crate) seen: Place,
}

/// Brings each row of a sample to mean 0 and variance 1, then scales and shifts its numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerNormalize {
    /// Numbers of a row.
    pub(crate) row: usize,
    /// What is multiplied, and what is added; in the arena of weights.
    pub(crate) gamma: Option<Range<usize>>,
    pub(crate) beta: Option<Range<usize>>,
    pub(crate) epsilon: f32,
}

/// The mean of each window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Average {
    pub(crate) window: Window,
}

/// The largest value in each window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pool {
    pub(crate) window: Window,
}

/// Drops random elements, scales up the others. A pure function of the noise, so the backward pass
/// computes the same choice again instead of keeping it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drop {
    /// The layer's number, part of the key of its random bits.
    pub(crate) layer: u64,
    pub(crate) rate: f32,
}

/// Flips or turns pictures at random while training.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Augment {
    /// The layer's number, part of the key of its random bits.
    pub(crate) layer: u64,
    pub(crate) picture: Picture,
    pub(crate) turn: Turn,
}

/// What may happen to a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    Flip(Flip),
    /// By up to so many whole turns either way.
    Rotate {
        factor: f32,
        fill: Fill,
    },
    /// By up to such shares of height and width either way.
    Shift {
        factors: [f32; 2],
        fill: Fill,
    },
}

/// Numbers times a constant, plus another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) scale: f32,
    pub(crate) offset: f32,
}

/// An activation on its own. Its gradient is a function of its output, or of its input where the output
/// does not tell the slope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Activate {
    pub(crate) activation: Activation,
    /// The length of the last axis, over which softmax runs.
    pub(crate) row: usize,
}

/// A row of the table for each id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embed {
    /// Rows of the table.
    pub(crate) words: usize,
    /// Numbers of a row.
    pub(crate) row: usize,
    /// Words × row, in the arena of weights.
    pub(crate) table: Range<usize>,
}

/// What the head makes of the last values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// They are the answer as they are.
    Values,
    /// They are logits of classes.
    Softmax,
    /// Each is the logit of a yes.
    Sigmoid,
}

/// The end of the network: the loss, with the last softmax or sigmoid in it when there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) ending: Ending,
    pub(crate) loss: LossName,
    pub(crate) reduction: Reduction,
    /// What triplets are kept apart by.
    pub(crate) alpha: f32,
    /// The last operation's values.
    pub(crate) x: Place,
    /// The answer; the same place as `x` where that is the answer.
    pub(crate) y: Place,
    /// Where the gradient of `x` goes, when anything before needs it.
    pub(crate) dx: Option<Place>,
}

impl Operation {
    /// Whether the backward pass reads `x`.
    pub(crate) fn needs_x(op: &Op) -> bool {
        match op {
            Op::Activate(activate) => activate.by_input(),
            Op::Pool(_) | Op::LayerNormalize(_) | Op::Unit(_) => true,
            _ => Operation::has_weights(op),
        }
    }

    /// Whether the backward pass reads `y`.
    pub(crate) fn needs_y(op: &Op) -> bool {
        match op {
            Op::Dense(dense) => dense.relu,
            Op::Conv(conv) => conv.relu && conv.choices.is_none(),
            Op::Activate(activate) => !activate.by_input(),
            _ => false,
        }
    }

    /// Whether it has weights.
    pub(crate) fn has_weights(op: &Op) -> bool {
        match op {
            Op::Dense(_) | Op::Conv(_) | Op::Depthwise(_) | Op::Normalize(_) => true,
            Op::Embed(_) | Op::Recurrent(_) => true,
            Op::LayerNormalize(layer) => layer.gamma.is_some() || layer.beta.is_some(),
            _ => false,
        }
    }

    /// Floats for a sample that it keeps for itself.
    pub(crate) fn keeps(op: &Op, trains: bool) -> usize {
        match op {
            Op::Recurrent(recurrent) => recurrent.kept(trains),
            _ => 0,
        }
    }

    /// Whether it may write its output over its first input, and the gradients likewise.
    pub(crate) fn works_in_place(op: &Op) -> bool {
        match op {
            Op::Activate(activate) => !activate.by_input(),
            _ => matches!(op, Op::Drop(_) | Op::Add | Op::Scale(_)),
        }
    }
}

impl Activate {
    /// Whether the slope is a function of the input: the same output may come on the way down and on the
    /// way up.
    pub(crate) fn by_input(&self) -> bool {
        use Activation::{Gelu, HardSilu, Mish, Silu};
        matches!(self.activation, Gelu | Silu | Mish | HardSilu)
    }
}
