//! Where branches of a network meet, and where they part.

use super::{Run, disjoint};
use crate::kernels::plain;
use crate::program::{Operation, Place};
use crate::share::{Cut, portion};

/// y = the first + the second + …, in this order.
pub(super) fn add(operation: &Operation, run: &mut Run<'_>) {
    copy(operation.x, operation.y, run);
    for (x, _) in &operation.more {
        add_to(*x, operation.y, run);
    }
}

/// Everything that was added has the gradient of the sum.
pub(super) fn add_backward(operation: &Operation, run: &mut Run<'_>) {
    let Some(dy) = operation.dy else { return };
    // The first one's may lie where that of the sum lies, so it comes last.
    let others = operation.more.iter().filter_map(|(_, dx)| *dx);
    others.chain(operation.dx).for_each(|dx| copy(dy, dx, run));
}

/// The gradient of a value that several read is the sum of theirs.
pub(super) fn fork_backward(operation: &Operation, run: &mut Run<'_>) {
    let Some(dx) = operation.dx else { return };
    let mut readers = operation.dy.into_iter().chain(operation.more.iter().filter_map(|it| it.1));
    if let Some(first) = readers.next() {
        copy(first, dx, run);
    }
    readers.for_each(|dy| add_to(dy, dx, run));
}

/// The rows of all inputs, one after another.
pub(super) fn concatenate(rows: &[usize], operation: &Operation, run: &mut Run<'_>) {
    let inputs = std::iter::once(operation.x).chain(operation.more.iter().map(|it| it.0));
    let whole = rows.iter().sum();
    let mut first = 0;
    for (x, row) in inputs.zip(rows) {
        let [x, y] = disjoint(run.values, [x.range(run.n), operation.y.range(run.n)]);
        for (from, to) in x.chunks_exact(*row).zip(y.chunks_exact_mut(whole)) {
            to[first..first + row].copy_from_slice(from);
        }
        first += row;
    }
}

pub(super) fn concatenate_backward(rows: &[usize], operation: &Operation, run: &mut Run<'_>) {
    let Some(dy) = operation.dy else { return };
    let inputs = std::iter::once(operation.dx).chain(operation.more.iter().map(|it| it.1));
    let whole = rows.iter().sum();
    let mut first = 0;
    for (dx, row) in inputs.zip(rows) {
        if let Some(dx) = dx {
            let [dx, dy] = disjoint(run.values, [dx.range(run.n), dy.range(run.n)]);
            for (to, from) in dx.chunks_exact_mut(*row).zip(dy.chunks_exact(whole)) {
                to.copy_from_slice(&from[first..first + row]);
            }
        }
        first += row;
    }
}

/// Every number so many times.
pub(super) fn repeat(times: usize, operation: &Operation, run: &mut Run<'_>) {
    let ranges = [operation.x.range(run.n), operation.y.range(run.n)];
    let [x, y] = disjoint(run.values, ranges);
    for (x, y) in x.iter().zip(y.chunks_exact_mut(times)) {
        y.fill(*x);
    }
}

pub(super) fn repeat_backward(times: usize, operation: &Operation, run: &mut Run<'_>) {
    let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
    let [dy, dx] = disjoint(run.values, [dy.range(run.n), dx.range(run.n)]);
    for (dx, dy) in dx.iter_mut().zip(dy.chunks_exact(times)) {
        *dx = dy.iter().sum();
    }
}

/// Copies a value, unless it lies where it should.
pub(super) fn copy(from: Place, to: Place, run: &mut Run<'_>) {
    if from != to {
        pass(from, to, run, <[f32]>::copy_from_slice);
    }
}

fn add_to(from: Place, to: Place, run: &mut Run<'_>) {
    let isa = run.cpu.isa();
    pass(from, to, run, |to, from| plain::add_rows(isa, from, to));
}

/// Calls `each` with pieces of two values, on several threads.
fn pass(from: Place, to: Place, run: &mut Run<'_>, each: impl Fn(&mut [f32], &[f32]) + Sync) {
    let (n, len) = (run.n, to.len);
    let [from, to] = disjoint(run.values, [from.range(n), to.range(n)]);
    let from = &*from;
    let parts = run.cpu.parts(to.len(), n);
    run.cpu.each(parts, Cut::new(to, n, parts), |part, to| {
        let samples = portion(n, parts, part);
        each(to, &from[samples.start * len..samples.end * len]);
    });
}
