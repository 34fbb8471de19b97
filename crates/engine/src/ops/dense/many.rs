//! Products of many rows with weights in strips.

use super::ROWS;
use crate::cpu::Cpu;
use crate::kernels::gemm::{Start, Windows};
use crate::kernels::strips::{self, Into};
use crate::share::{Cut, portion};
use crate::simd::Isa;

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

/// How many rows of such widths are worked on together, because they stay in the cache; as many at least.
pub(super) fn block(widths: [usize; 2], least: usize) -> usize {
    const FLOATS: usize = 1 << 16;
    (FLOATS / (widths[0] + widths[1])).max(least)
}

/// What a product of many rows reads.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) x: &'a [f32],
    /// Numbers of a row.
    pub(super) inputs: usize,
    /// The right matrix, in strips.
    pub(super) packed: &'a [f32],
    pub(super) start: Start<'a>,
}

impl Given<'_> {
    /// y = start + x·packed, from row `first` of x on, as many rows as y has.
    pub(super) fn rows(
        self,
        isa: Isa,
        first: usize,
        (columns, relu): (usize, bool),
        y: &mut [f32],
    ) {
        let a = Windows::matrix(&self.x[first * self.inputs..], self.inputs);
        let into = Into { rows: y.len() / columns, c: y, c_row: columns, columns, relu };
        strips::product(isa, a, self.packed, into, self.start);
    }
}

/// y = start + x·packed, on all threads, some rows at a time.
pub(super) fn product(cpu: &Cpu, given: Given<'_>, relu: bool, y: &mut [f32]) {
    let n = given.x.len() / given.inputs;
    let columns = y.len() / n;
    let parts = match cpu.parts(n * given.inputs * columns, n) {
        1 => 1,
        _ => {
            let blocks = n.div_ceil(block([given.inputs, columns], 10 * ROWS));
            blocks.next_multiple_of(cpu.threads()).min(n)
        }
    };
    cpu.each(parts, Cut::new(y, n, parts), |part, y| {
        given.rows(cpu.isa(), portion(n, parts, part).start, (columns, relu), y);
    });
}
