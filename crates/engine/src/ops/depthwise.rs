//! A convolution in which every channel has a window of its own, over channels-last pictures. As with
//! other convolutions, a batch is cut into chunks with partial weight gradients, whatever the number of
//! threads.

use super::partials::{self, chunks, finish};
use super::{Run, disjoint};
use crate::kernels::depthwise::{Forward, InputGradient, WeightGradient};
use crate::kernels::plain;
use crate::program::{Depthwise, Operation};
use crate::share::{Cut, portion};

impl Depthwise {
    /// Floats of scratch for a batch that is trained on.
    pub(super) fn scratch(&self, batch: usize) -> usize {
        chunks(batch) * self.weights()
    }

    /// Floats of the kernel's and the bias's gradients together.
    fn weights(&self) -> usize {
        partials::len(&self.kernel, self.bias.as_ref())
    }

    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (x_len, y_len) = (window.input.len(), window.output.len());
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let kernel = &run.weights[self.kernel.clone()];
        let bias = self.bias.as_ref().map_or(&[][..], |bias| &run.weights[bias.clone()]);
        let parts = run.cpu.parts(n * y_len * window.height * window.width, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            for (sample, y) in portion(n, parts, part).zip(y.chunks_exact_mut(y_len)) {
                let x = &x[sample * x_len..][..x_len];
                isa.run(Forward { window, x, kernel, bias, y });
            }
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (x_len, y_len, parts) = (window.input.len(), window.output.len(), chunks(n));
        let empty = operation.x.offset..operation.x.offset;
        let dx = operation.dx.map_or(empty, |dx| dx.range(n));
        let [x, dy, dx] = disjoint(run.values, [operation.x.range(n), dy.range(n), dx]);
        let (x, dy) = (&*x, &*dy);
        let kernel = &run.weights[self.kernel.clone()];
        let partials = &mut run.scratch[..parts * self.weights()];
        let memory = (Cut::new(dx, n, parts), Cut::new(partials, parts, parts));
        run.cpu.each(parts, memory, |part, (dx, partial)| {
            partial.fill(0.0);
            let (dw, db) = partial.split_at_mut(self.kernel.len());
            let mut dx = dx.chunks_exact_mut(x_len);
            for sample in portion(n, parts, part) {
                let (x, dy) = (&x[sample * x_len..][..x_len], &dy[sample * y_len..][..y_len]);
                isa.run(WeightGradient { window, x, dy, dw: &mut *dw });
                if !db.is_empty() {
                    plain::add_rows(isa, dy, db);
                }
                if let Some(dx) = dx.next() {
                    isa.run(InputGradient { window, dy, kernel, dx });
                }
            }
        });
        finish(run, (&self.kernel, self.bias.as_ref()), 0, (parts, self.weights()));
    }
}
