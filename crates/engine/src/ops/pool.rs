//! Max pooling on its own. Backward, each window is searched again: the gradient goes to its first
//! largest value in row-major order, as in TensorFlow.

use super::{Run, disjoint};
use crate::kernels::largest;
use crate::program::{Operation, Pool};
use crate::share::{Cut, portion};

impl Pool {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let parts = run.cpu.parts(n * window.output.len() * window.height * window.width, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let samples = y.chunks_exact_mut(window.output.len());
            for (sample, y) in portion(n, parts, part).zip(samples) {
                let x = &x[sample * window.input.len()..][..window.input.len()];
                largest::forward(isa, window, x, y);
            }
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else {
            return;
        };
        let ranges = [operation.x.range(n), dy.range(n), dx.range(n)];
        let [x, dy, dx] = disjoint(run.values, ranges);
        let (x, dy) = (&*x, &*dy);
        let parts = run.cpu.parts(n * window.output.len() * window.height * window.width, n);
        run.cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
            let samples = dx.chunks_exact_mut(window.input.len());
            for (sample, dx) in portion(n, parts, part).zip(samples) {
                let x = &x[sample * window.input.len()..][..window.input.len()];
                let dy = &dy[sample * window.output.len()..][..window.output.len()];
                largest::backward(isa, window, x, dy, dx);
            }
        });
    }
}
