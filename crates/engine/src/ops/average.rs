//! The mean of each window, of the pixels that are inside the picture, as in TensorFlow.

use super::{Run, disjoint};
use crate::kernels::average::{means, spread};
use crate::program::{Average, Operation};
use crate::share::{Cut, portion};

impl Average {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (x_len, y_len) = (window.input.len(), window.output.len());
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let parts = run.cpu.parts(n * x_len, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            for (sample, y) in portion(n, parts, part).zip(y.chunks_exact_mut(y_len)) {
                means(isa, window, &x[sample * x_len..][..x_len], y);
            }
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (x_len, y_len) = (window.input.len(), window.output.len());
        let [dy, dx] = disjoint(run.values, [dy.range(n), dx.range(n)]);
        let dy = &*dy;
        let parts = run.cpu.parts(n * x_len, n);
        run.cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
            for (sample, dx) in portion(n, parts, part).zip(dx.chunks_exact_mut(x_len)) {
                spread(isa, window, &dy[sample * y_len..][..y_len], dx);
            }
        });
    }
}
