//! A convolution over channels-last pictures, perhaps with ReLU and 2×2 max pooling fused to it.
//!
//! A batch is cut into chunks. Each has its own scratch and, backward, its own
//! [partial weight gradient](super::partials).
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

use super::partials::{self, chunks};
use crate::program::{Conv, Window};
use crate::share::Cut;

/// Floats of scratch: some for all chunks, and some for each.
#[derive(Clone, Copy, Default)]
struct Scratch {
    shared: usize,
    each: usize,
}

impl Scratch {
    /// For all chunks of a batch together.
    fn total(self, batch: usize) -> usize {
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
        partials::len(&self.kernel, self.bias.as_ref())
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
