//! Gradients of weights, and other sums over a batch, in parts.
//!
//! A batch is cut into at most [`CHUNKS`] runs of samples, whatever the number of threads. Each has its own partial sum, a
//! chain over its samples; partial sums are then added as a balanced tree. So the sums are the same for any number of
//! threads.

use std::ops::Range;

use super::Run;
use crate::cpu::Cpu;
use crate::kernels::plain;
use crate::share::{Cut, portion};

/// The most chunks a batch is cut into.
const CHUNKS: usize = 16;

/// Chunks for a batch of `n` samples.
pub(super) fn chunks(n: usize) -> usize {
    n.clamp(1, CHUNKS)
}

/// Floats of a kernel's and its bias's gradients together: the first, then the other.
pub(super) fn len(kernel: &Range<usize>, bias: Option<&Range<usize>>) -> usize {
    kernel.len() + bias.map_or(0, |bias| bias.len())
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
    add(run.cpu, partials, parts, 0, &mut run.gradients[kernel.clone()]);
    if let Some(bias) = bias {
        add(run.cpu, partials, parts, kernel.len(), &mut run.gradients[bias.clone()]);
    }
}

/// `to` = the tree sum of that part of all partial sums that begins at `first`.
pub(super) fn add(cpu: &Cpu, partials: &[f32], parts: usize, first: usize, to: &mut [f32]) {
    const BLOCK: usize = 2048;
    let len = to.len();
    let blocks = len.div_ceil(BLOCK);
    cpu.each(blocks, Cut::new(to, len, blocks), |block, to| {
        let first = first + portion(len, blocks, block).start;
        plain::add_tree(cpu.isa(), partials, parts, first, to);
    });
}
