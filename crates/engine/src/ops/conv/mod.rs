//! A convolution over channels-last pictures, perhaps with ReLU and 2×2 max pooling fused to it.
//!
//! A batch is cut into at most [`CHUNKS`] runs of samples, whatever the number of threads. Each has
//! its own scratch and, backward, its own partial weight gradient, a chain over its samples; partial
//! gradients are then added as a balanced tree. So the sums are the same for any number of threads.
//!
//! - `forward`: each row of outputs is one product of windows with the kernel.
//! - `backward`: the gradients of a convolution whose outputs all count.
//! - `grouped`: the products of both where windows have gaps, or filters see the channels of their group.
//! - `pooled`: the gradients when pooling follows. At most one output in four has a gradient then, so
//!   the work goes from one such output to the next and leaves out the zeros.

mod backward;
mod forward;
mod grouped;
mod pooled;

use std::ops::Range;

use crate::cpu::Cpu;
use crate::kernels::plain;
use crate::ops::Run;
use crate::program::{Conv, Window};
use crate::share::Cut;

/// The most chunks a batch is cut into.
const CHUNKS: usize = 16;

/// Chunks for a batch of `n` samples.
pub(super) fn chunks(n: usize) -> usize {
    n.clamp(1, CHUNKS)
}

/// Floats of scratch: some for all chunks, and some for each.
#[derive(Clone, Copy, Default)]
pub(super) struct Scratch {
    pub(super) shared: usize,
    pub(super) each: usize,
}

impl Scratch {
    /// For all chunks of a batch together.
    pub(super) fn total(self, batch: usize) -> usize {
        self.shared + chunks(batch) * self.each
    }
}

impl Conv {
    /// Floats of scratch for a batch.
    pub(crate) fn scratch(&self, batch: usize, trains: bool, input_gradient: bool) -> usize {
        let backward = match (trains, self.choices) {
            (false, _) => 0,
            (true, None) => self.backward_scratch(input_gradient).total(batch),
            (true, Some(_)) => self.pooled_scratch(input_gradient).total(batch),
        };
        self.forward_scratch().total(batch).max(backward)
    }

    fn filters(&self) -> usize {
        self.window.output.channels
    }

    /// Floats of the kernel's and the bias's gradients together.
    fn weights(&self) -> usize {
        self.kernel.len() + self.bias.as_ref().map_or(0, |bias| bias.len())
    }

    /// Whether a row of a window is contiguous, and all filters see it.
    pub(crate) fn is_plain(&self) -> bool {
        self.groups == 1 && self.window.touches()
    }
}

/// The floats of scratch for all chunks, and the rest, cut for each.
fn cut_scratch(scratch: &mut [f32], need: Scratch, parts: usize) -> (&mut [f32], Cut<'_, f32>) {
    let (shared, each) = scratch.split_at_mut(need.shared);
    (shared, Cut::new(&mut each[..parts * need.each], parts, parts))
}

/// The picture that windows slide over: `x` itself, or its copy inside zeros. The zeros around it are
/// there already.
fn padded<'a>(window: &Window, x: &'a [f32], copy: &'a mut [f32]) -> &'a [f32] {
    if !window.is_padded() {
        return x;
    }
    let (row, width) = (window.input.row(), window.padded().row());
    let first = window.before[0] * width + window.before[1] * window.input.channels;
    for (y, line) in x.chunks_exact(row).enumerate() {
        copy[first + y * width..][..row].copy_from_slice(line);
    }
    copy
}

/// Adds up the partial gradients of a kernel and its bias. The first begins at `first` in the scratch, and each next one
/// so much further on.
pub(super) fn finish(
    run: &mut Run<'_>,
    (kernel, bias): (&Range<usize>, Option<&Range<usize>>),
    first: usize,
    (parts, each): (usize, usize),
) {
    let partials = &run.scratch[first..first + parts * each];
    add_partials(run.cpu, partials, parts, 0, &mut run.gradients[kernel.clone()]);
    if let Some(bias) = bias {
        add_partials(run.cpu, partials, parts, kernel.len(), &mut run.gradients[bias.clone()]);
    }
}

/// `to` = the tree sum of the part of all partial gradients that begins at `first`.
pub(super) fn add_partials(
    cpu: &Cpu,
    partials: &[f32],
    parts: usize,
    first: usize,
    to: &mut [f32],
) {
    const BLOCK: usize = 2048;
    let len = to.len();
    let blocks = len.div_ceil(BLOCK);
    cpu.each(blocks, Cut::new(to, len, blocks), |block, to| {
        let first = first + crate::share::portion(len, blocks, block).start;
        plain::add_tree(cpu.isa(), partials, parts, first, to);
    });
}
