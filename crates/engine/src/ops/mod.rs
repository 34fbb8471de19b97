//! The operations on the CPU: one file each, forward and backward.

mod activate;
mod augment;
mod average;
mod conv;
mod dense;
mod depthwise;
mod drop;
mod embed;
mod head;
mod join;
mod layer_normalize;
mod normalize;
mod partials;
mod pool;
mod recurrent;
mod scale;
mod unit;

use crate::Noise;
use crate::cpu::Cpu;
use crate::program::{Op, Operation, Place};

pub(crate) use head::Labels;
pub use head::cross_entropy;

/// A step's surroundings: the processor, the samples in this batch, all memory.
pub(crate) struct Run<'a> {
    pub(crate) cpu: &'a Cpu,
    /// Samples in this batch.
    pub(crate) n: usize,
    pub(crate) weights: &'a [f32],
    pub(crate) gradients: &'a mut [f32],
    pub(crate) values: &'a mut [f32],
    pub(crate) choices: &'a mut [u8],
    pub(crate) scratch: &'a mut [f32],
    /// What dropout is a function of; `None` when nothing is trained.
    pub(crate) noise: Option<Noise>,
    /// What this batch counts among those of other workers.
    pub(crate) share: f32,
}

/// Floats of scratch that an operation needs, in a batch of this size.
pub(crate) fn scratch(operation: &Operation, batch: usize) -> usize {
    let trains = operation.dy.is_some();
    match &operation.op {
        Op::Dense(dense) => dense.scratch(batch, trains, operation.dx.is_some()),
        Op::Conv(conv) => conv.scratch(batch, trains, operation.dx.is_some()),
        Op::Normalize(normalize) => normalize.scratch(batch),
        Op::LayerNormalize(layer) => layer.scratch(batch),
        Op::Depthwise(depthwise) if trains => depthwise.scratch(batch),
        Op::Recurrent(recurrent) => recurrent.scratch(batch, trains, operation.dx.is_some()),
        _ => 0,
    }
}

impl Operation {
    /// Computes `y` from `x`.
    pub(crate) fn forward(&self, run: &mut Run<'_>) {
        match &self.op {
            Op::Dense(dense) => dense.forward(self, run),
            Op::Conv(conv) => conv.forward(self, run),
            Op::Depthwise(depthwise) => depthwise.forward(self, run),
            Op::Average(average) => average.forward(self, run),
            Op::Repeat(times) => join::repeat(*times, self, run),
            Op::Pool(pool) => pool.forward(self, run),
            Op::Normalize(normalize) => normalize.forward(self, run),
            Op::LayerNormalize(layer) => layer.forward(self, run),
            Op::Unit(row) => unit::forward(*row, self, run),
            Op::Embed(embed) => embed.forward(self, run),
            Op::Recurrent(recurrent) => recurrent.forward(self, run),
            Op::Drop(drop) => drop.forward(self, run),
            Op::Augment(augment) => augment.forward(self, run),
            Op::Scale(scale) => scale.forward(self, run),
            Op::Pad(window) => scale::pad(window, self, run),
            Op::Activate(activate) => activate.forward(self, run),
            Op::Add => join::add(self, run),
            Op::Concatenate(rows) => join::concatenate(rows, self, run),
            Op::Fork => {}
        }
    }

    /// Computes the gradients of the weights and, if anything needs it, of `x`, from that of `y`,
    /// which may be overwritten.
    pub(crate) fn backward(&self, run: &mut Run<'_>) {
        match &self.op {
            Op::Dense(dense) => dense.backward(self, run),
            Op::Conv(conv) => conv.backward(self, run),
            Op::Depthwise(depthwise) => depthwise.backward(self, run),
            Op::Average(average) => average.backward(self, run),
            Op::Repeat(times) => join::repeat_backward(*times, self, run),
            Op::Pool(pool) => pool.backward(self, run),
            Op::Normalize(normalize) => normalize.backward(self, run),
            Op::LayerNormalize(layer) => layer.backward(self, run),
            Op::Unit(row) => unit::backward(*row, self, run),
            Op::Embed(embed) => embed.backward(self, run),
            Op::Recurrent(recurrent) => recurrent.backward(self, run),
            Op::Drop(drop) => drop.backward(self, run),
            Op::Augment(augment) => augment.backward(self, run),
            Op::Scale(scale) => scale.backward(self, run),
            Op::Pad(window) => scale::pad_backward(window, self, run),
            Op::Activate(activate) => activate.backward(self, run),
            Op::Add => join::add_backward(self, run),
            Op::Concatenate(rows) => join::concatenate_backward(rows, self, run),
            Op::Fork => join::fork_backward(self, run),
        }
    }
}

/// What a product reads and writes backward: x, y where ReLU needs it, dy, and dx where anything does.
pub(crate) fn backward_values<'a>(
    operation: &Operation,
    dy: Place,
    (values, n): (&'a mut [f32], usize),
    relu: bool,
) -> [&'a mut [f32]; 4] {
    let empty = operation.x.offset..operation.x.offset;
    let dx = operation.dx.map_or(empty, |dx| dx.range(n));
    let (x, y, dy) = (operation.x.range(n), operation.y.range(n), dy.range(n));
    if relu {
        return disjoint(values, [x, y, dy, dx]);
    }
    let [x, dy, dx] = disjoint(values, [x, dy, dx]);
    [x, &mut [], dy, dx]
}

/// Ranges of one arena that do not overlap, all to be written.
pub(crate) fn disjoint<const N: usize>(
    values: &mut [f32],
    ranges: [std::ops::Range<usize>; N],
) -> [&mut [f32]; N] {
    values.get_disjoint_mut(ranges).expect("values that live at the same time do not share a place")
}
