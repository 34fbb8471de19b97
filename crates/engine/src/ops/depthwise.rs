//! A convolution in which every channel has a window of its own, over channels-last pictures. As with
//! other convolutions, a batch is cut into chunks with partial weight gradients, whatever the number of
//! threads.

use super::conv::{add_partials, chunks};
use super::{Run, disjoint};
use crate::kernels::depthwise::{Forward, InputGradient, WeightGradient};
use crate::kernels::{dilated, plain};
use crate::program::{Depthwise, Operation};
use crate::share::{Cut, portion};

impl Depthwise {
    /// Floats of scratch for a batch that is trained on.
    pub(super) fn scratch(&self, batch: usize) -> usize {
        chunks(batch) * self.weights()
    }

    /// Floats of the kernel's and the bias's gradients together.
    fn weights(&self) -> usize {
        self.kernel.len() + self.bias.as_ref().map_or(0, |bias| bias.len())
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
                match window.touches() {
                    true => isa.run(Forward { window, x, kernel, bias, y }),
                    false => dilated::forward(isa, window, x, [kernel, bias], y),
                }
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
                match window.touches() {
                    true => isa.run(WeightGradient { window, x, dy, dw: &mut *dw }),
                    false => dilated::add_weight_gradient(isa, window, x, dy, dw),
                }
                if !db.is_empty() {
                    plain::add_rows(isa, dy, db);
                }
                match (dx.next(), window.touches()) {
                    (None, _) => {}
                    (Some(dx), true) => isa.run(InputGradient { window, dy, kernel, dx }),
                    (Some(dx), false) => dilated::input_gradient(isa, window, dy, kernel, dx),
                }
            }
        });
        self.finish(run, parts);
    }

    /// Adds up the partial gradients.
    fn finish(&self, run: &mut Run<'_>, parts: usize) {
        let partials = &run.scratch[..parts * self.weights()];
        add_partials(run.cpu, partials, parts, 0, &mut run.gradients[self.kernel.clone()]);
        if let Some(bias) = &self.bias {
            let first = self.kernel.len();
            add_partials(run.cpu, partials, parts, first, &mut run.gradients[bias.clone()]);
        }
    }
}
