//! Numbers multiplied and shifted by constants; and pictures with zeros around them.

use super::{Run, disjoint, join};
use crate::kernels::plain;
use crate::program::{Operation, Scale, Window};
use crate::share::Cut;

impl Scale {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        join::copy(operation.x, operation.y, run);
        self.apply(run, operation.y.range(run.n), self.offset);
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
        join::copy(dy, dx, run);
        self.apply(run, dx.range(run.n), 0.0);
    }

    fn apply(&self, run: &mut Run<'_>, range: std::ops::Range<usize>, offset: f32) {
        let (n, isa) = (run.n, run.cpu.isa());
        let parts = run.cpu.parts(range.len(), n);
        run.cpu.each(parts, Cut::new(&mut run.values[range], n, parts), |_, values| {
            plain::scale(isa, self.scale, offset, values);
        });
    }
}

/// A picture inside zeros.
pub(super) fn pad(window: &Window, operation: &Operation, run: &mut Run<'_>) {
    let [x, y] = disjoint(run.values, [operation.x.range(run.n), operation.y.range(run.n)]);
    y.fill(0.0);
    let pictures = x.chunks_exact(operation.x.len).zip(y.chunks_exact_mut(operation.y.len));
    for (x, y) in pictures {
        lines(window, |small, large| y[large].copy_from_slice(&x[small]));
    }
}

pub(super) fn pad_backward(window: &Window, operation: &Operation, run: &mut Run<'_>) {
    let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
    let [dy, dx] = disjoint(run.values, [dy.range(run.n), dx.range(run.n)]);
    let pictures = dx.chunks_exact_mut(operation.x.len).zip(dy.chunks_exact(operation.y.len));
    for (dx, dy) in pictures {
        lines(window, |small, large| dx[small].copy_from_slice(&dy[large]));
    }
}

/// Calls `each` with where every row of pixels lies: in the picture, and inside the zeros.
fn lines(window: &Window, mut each: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>)) {
    let (row, wide) = (window.input.row(), window.padded().row());
    for line in 0..window.input.height {
        let start = (line + window.before[0]) * wide + window.before[1] * window.input.channels;
        each(line * row..(line + 1) * row, start..start + row);
    }
}
