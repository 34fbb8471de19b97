//! Products of many rows with weights in strips.

use super::{BLOCK, ROWS};
use crate::cpu::Cpu;
use crate::kernels::gemm::{Start, Windows};
use crate::kernels::strips::{self, Into};
use crate::share::{Cut, portion};

/// Fills strips, on all threads: those from the first given on.
pub(super) fn each_strip(
    cpu: &Cpu,
    strips: &mut [f32],
    columns: usize,
    fill: impl Fn(usize, &mut [f32]) + Sync,
) {
    let count = strips::count(columns);
    let parts = cpu.parts(strips.len(), count);
    cpu.each(parts, Cut::new(strips, count, parts), |part, strips| {
        fill(portion(count, parts, part).start, strips);
    });
}

/// What a product of many rows reads.
pub(super) struct Given<'a> {
    pub(super) x: &'a [f32],
    /// Numbers of a row.
    pub(super) inputs: usize,
    /// The right matrix, in strips.
    pub(super) packed: &'a [f32],
    pub(super) start: Start<'a>,
}

/// y = start + x·packed, some rows at a time, which stay in the cache with what they become.
pub(super) fn product(cpu: &Cpu, given: Given<'_>, relu: bool, y: &mut [f32]) {
    let Given { x, inputs, packed, start } = given;
    let n = x.len() / inputs;
    let columns = y.len() / n;
    let block = (BLOCK / (inputs + columns)).max(10 * ROWS);
    let parts = match cpu.parts(n * inputs * columns, n) {
        1 => 1,
        _ => n.div_ceil(block).next_multiple_of(cpu.threads()).min(n),
    };
    cpu.each(parts, Cut::new(y, n, parts), |part, y| {
        let rows = portion(n, parts, part);
        let a = Windows::matrix(&x[rows.start * inputs..], inputs);
        let into = Into { c: y, c_row: columns, rows: rows.len(), columns, relu };
        strips::product(cpu.isa(), a, packed, into, start);
    });
}
