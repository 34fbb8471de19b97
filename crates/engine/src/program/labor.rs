//! How much work operations are, for tables that set it beside the time it took.

use super::{Op, Operation, Program};

/// What an operation is, and its multiply-adds for one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labor {
    /// The number of its layer in the graph.
    pub layer: usize,
    /// What it is.
    pub name: &'static str,
    /// Forward.
    pub forward: usize,
    /// Backward, where it trains.
    pub backward: usize,
}

impl Program {
    /// The work of each operation, in order.
    pub fn labor(&self) -> Vec<Labor> {
        self.operations.iter().map(Operation::labor).collect()
    }
}

impl Operation {
    fn labor(&self) -> Labor {
        let (name, forward) = self.op.labor();
        // The gradient of the weights is as much again, and that of the input.
        let weights = usize::from(self.dy.is_some());
        // Of four outputs that are pooled, one at most has a gradient.
        let pooled = matches!(&self.op, Op::Conv(conv) if conv.choices.is_some());
        let outputs = if pooled { forward / 4 } else { forward };
        let backward = outputs * (weights + usize::from(self.dx.is_some()));
        Labor { layer: self.layer, name, forward, backward }
    }
}

impl Op {
    /// Its name, and its multiply-adds for one sample; none for what is bound by memory.
    fn labor(&self) -> (&'static str, usize) {
        match self {
            Op::Dense(dense) => ("dense", dense.rows * dense.inputs * dense.units),
            Op::Conv(conv) => ("conv", conv.window.output.len() * conv.window.len() / conv.groups),
            Op::Depthwise(depthwise) => {
                let window = &depthwise.window;
                ("depthwise", window.output.len() * window.height * window.width)
            }
            Op::Recurrent(recurrent) => {
                let each = (recurrent.inputs + recurrent.units) * recurrent.columns();
                ("recurrent", recurrent.directions.len() * recurrent.steps * each)
            }
            Op::Normalize(_) => ("normalize", 0),
            Op::LayerNormalize(_) => ("layer normalize", 0),
            Op::Unit(_) => ("unit", 0),
            Op::Pool(_) => ("pool", 0),
            Op::Average(_) => ("average", 0),
            Op::Drop(_) => ("drop", 0),
            Op::Augment(_) => ("augment", 0),
            Op::Scale(_) => ("scale", 0),
            Op::Pad(_) => ("pad", 0),
            Op::Activate(_) => ("activate", 0),
            Op::Add => ("add", 0),
            Op::Concatenate(_) => ("concatenate", 0),
            Op::Repeat(_) => ("repeat", 0),
            Op::Embed(_) => ("embed", 0),
            Op::Fork => ("fork", 0),
        }
    }
}
