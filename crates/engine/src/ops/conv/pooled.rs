//! Backward through pooling and ReLU.
//!
//! Of the four outputs of the convolution under a pooled one, only the chosen one has a gradient, and
//! none if ReLU made it zero or dropout dropped it. So the pass goes through the pooled gradients that
//! are not zero, and for each adds g·window to its filter's weight gradient, and g·kernel to the input
//! gradient under its window. In both, a window is a few contiguous rows of floats. The kernel, and the
//! partial weight gradient, lie filter by filter for this: [filter][window].
//!
//! Against dense products this leaves out three quarters of the work always, and more with dropout.

use super::{Scratch, cut_scratch, padded};
use crate::kernels::plain;
use crate::kernels::sparse::{InputGradient, Lines, Sparse, WeightGradient};
use crate::ops::partials::{self, chunks};
use crate::ops::{Run, disjoint};
use crate::program::{Conv, Operation};
use crate::share::{Cut, portion};
use crate::simd::Isa;

impl Conv {
    pub(super) fn pooled_scratch(&self, input_gradient: bool) -> Scratch {
        let frame = if input_gradient { self.window.copy_len() } else { 0 };
        Scratch {
            // The kernel, filter by filter; later, in its place, the sum of the partial gradients.
            shared: self.kernel.len(),
            each: self.weights() + self.window.copy_len() + frame,
        }
    }

    pub(super) fn pooled_backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (Some(dy), Some(choices)) = (operation.dy, self.choices) else {
            return;
        };
        let (n, isa, window) = (run.n, run.cpu.isa(), &self.window);
        let parts = chunks(n);
        let need = self.pooled_scratch(operation.dx.is_some());
        let (turned, scratch) = cut_scratch(run.scratch, need, parts);
        if operation.dx.is_some() {
            let kernel = &run.weights[self.kernel.clone()];
            plain::transpose(kernel, window.len(), self.filters(), turned);
        }
        let empty = operation.x.offset..operation.x.offset;
        let dx_range = operation.dx.map_or(empty, |dx| dx.range(n));
        let [x, dy, dx] = disjoint(run.values, [operation.x.range(n), dy.range(n), dx_range]);
        let (x, dy, turned) = (&*x, &*dy, &*turned);
        let choices = &run.choices[choices.range(n)];
        let (x_len, y_len) = (window.input.len(), operation.y.len);
        let memory = (Cut::new(dx, n, parts), scratch);
        run.cpu.each(parts, memory, |part, (dx, scratch)| {
            let (partial, scratch) = scratch.split_at_mut(self.weights());
            let (copy, frame) = scratch.split_at_mut(self.window.copy_len());
            let (dw, db) = partial.split_at_mut(self.kernel.len());
            dw.fill(0.0);
            db.fill(0.0);
            copy.fill(0.0);
            let mut dx = dx.chunks_exact_mut(x_len);
            for sample in portion(n, parts, part) {
                let sparse = self
                    .sparse(&dy[sample * y_len..][..y_len], &choices[sample * y_len..][..y_len]);
                let x = padded(window, &x[sample * x_len..][..x_len], copy);
                isa.run(WeightGradient { sparse, picture: x, dw, db });
                if let Some(dx) = dx.next() {
                    self.pooled_input_gradient(isa, sparse, turned, (frame, dx));
                }
            }
        });
        self.pooled_finish(run, need, parts);
    }

    fn sparse<'a>(&self, gradient: &'a [f32], choices: &'a [u8]) -> Sparse<'a> {
        let window = &self.window;
        let source = window.source();
        Sparse {
            gradient,
            choices,
            filters: self.filters(),
            width: window.output.width / 2,
            across: window.stride[1] * source.channels,
            down: window.stride[0] * source.row(),
            window: Lines { count: window.height, len: window.row(), row: source.row() },
        }
    }

    fn pooled_input_gradient(
        &self,
        isa: Isa,
        sparse: Sparse<'_>,
        turned: &[f32],
        (frame, dx): (&mut [f32], &mut [f32]),
    ) {
        let window = &self.window;
        if frame.is_empty() {
            dx.fill(0.0);
            isa.run(InputGradient { sparse, kernel: turned, dx });
            return;
        }
        frame.fill(0.0);
        isa.run(InputGradient { sparse, kernel: turned, dx: &mut *frame });
        let (row, width) = (window.input.row(), window.padded().row());
        let first = window.before[0] * width + window.before[1] * window.input.channels;
        for (y, line) in dx.chunks_exact_mut(row).enumerate() {
            line.copy_from_slice(&frame[first + y * width..][..row]);
        }
    }

    /// Adds up the partial gradients, and turns the kernel's back.
    fn pooled_finish(&self, run: &mut Run<'_>, need: Scratch, parts: usize) {
        let gradients = std::mem::take(&mut run.gradients);
        let scratch = std::mem::take(&mut run.scratch);
        let (sum, partials) = scratch.split_at_mut(need.shared);
        let partials = &partials[..parts * need.each];
        partials::add(run.cpu, partials, parts, 0, &mut sum[..self.kernel.len()]);
        let dw = &mut gradients[self.kernel.clone()];
        plain::transpose(sum, self.filters(), self.window.len(), dw);
        if let Some(bias) = &self.bias {
            let first = self.kernel.len();
            partials::add(run.cpu, partials, parts, first, &mut gradients[bias.clone()]);
        }
        run.scratch = scratch;
        run.gradients = gradients;
    }
}
