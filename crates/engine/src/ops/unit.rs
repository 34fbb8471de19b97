//! Rows brought to length 1: each for itself, so that threads change no bit.

use super::{Run, disjoint};
use crate::kernels::unit;
use crate::program::Operation;
use crate::share::{Cut, portion};

pub(super) fn forward(row: usize, operation: &Operation, run: &mut Run<'_>) {
    let (n, isa, len) = (run.n, run.cpu.isa(), operation.x.len);
    let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
    let x = &*x;
    let parts = run.cpu.parts(2 * n * len, n);
    run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
        let samples = portion(n, parts, part);
        unit::forward(isa, row, &x[samples.start * len..samples.end * len], y);
    });
}

pub(super) fn backward(row: usize, operation: &Operation, run: &mut Run<'_>) {
    let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
    let (n, isa, len) = (run.n, run.cpu.isa(), operation.x.len);
    let [x, dy, dx] = disjoint(run.values, [operation.x.range(n), dy.range(n), dx.range(n)]);
    let (x, dy) = (&*x, &*dy);
    let parts = run.cpu.parts(4 * n * len, n);
    run.cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
        let samples = portion(n, parts, part);
        let range = samples.start * len..samples.end * len;
        unit::backward(isa, row, [&x[range.clone()], &dy[range]], dx);
    });
}
