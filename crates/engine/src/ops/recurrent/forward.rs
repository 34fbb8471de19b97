//! Forward: step by step, and then both directions' states into one result.

use spec::MergeMode;

use super::{Part, Scratch, halves, ids_range, packed, pieces, trains};
use crate::kernels::gates::{self, Block};
use crate::kernels::gemm::{Start, Windows};
use crate::kernels::strips::{self, Into};
use crate::ops::{Run, disjoint};
use crate::program::{Cell, Operation, Recurrent};
use crate::share::{Chain, Cut};
use crate::simd::Isa;

/// What a part reads.
struct Read<'a> {
    isa: Isa,
    x: &'a [f32],
    ids: &'a [f32],
    /// The strips of its direction.
    packed: [&'a [f32]; 5],
    /// Whether the gates of every step are kept.
    trains: bool,
}

impl Recurrent {
    pub(super) fn forward_scratch(&self, n: usize) -> Scratch {
        let part = self.rows(n) * (self.x_pitch() + self.units + self.reset_len());
        Scratch { direction: self.forward_lens().iter().sum(), part }
    }

    pub(crate) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, cpu, weights, trains) = (run.n, run.cpu, run.weights, trains(operation));
        let (directions, chunks) = (self.directions.len(), self.chunks(n));
        let (parts, need) = (directions * chunks, self.forward_scratch(n));
        let (shared, scratch) = run.scratch.split_at_mut(directions * need.direction);
        cpu.each(directions, Cut::new(&mut *shared, directions, directions), |direction, to| {
            self.pack_forward(weights, direction, to);
        });
        let (x, ids) = (operation.x.range(n), ids_range(operation, n));
        let ranges = [x, ids, operation.y.range(n), operation.kept.range(n)];
        let [x, ids, y, kept] = disjoint(run.values, ranges);
        let (x, ids, shared) = (&*x, &*ids, &*shared);
        let [all_gates, all_states] = self.split(kept, n, trains);
        let memory = (
            Chain::new(halves(all_gates, directions), n, chunks),
            Chain::new(halves(&mut *all_states, directions), n, chunks),
            Cut::new(&mut scratch[..parts * need.part], parts, parts),
        );
        cpu.each(parts, memory, |part, (gates, states, scratch)| {
            let part = self.part(n, part);
            let own = &shared[part.direction * need.direction..][..need.direction];
            let packed = packed(own, self.forward_lens());
            let read = Read { isa: cpu.isa(), x, ids, packed, trains };
            self.walk(&read, &part, (gates, states), scratch);
        });
        let states = &*all_states;
        cpu.each(chunks, Cut::new(y, n, chunks), |chunk, y| {
            let of = |direction| self.part(n, direction * chunks + chunk);
            let both = [0, directions - 1].map(|d| &states[self.states_of(n, &of(d))]);
            self.merge(both, of(0).samples.len(), y);
        });
    }

    /// Copies a direction's kernels into strips, and puts together where its sums begin.
    fn pack_forward(&self, weights: &[f32], direction: usize, to: &mut [f32]) {
        let own = &self.directions[direction];
        let (units, columns) = (self.units, self.columns());
        let [x, gates, new, start, product] = pieces(to, self.forward_lens());
        let (kernel, recurrent) = (&weights[own.kernel.clone()], &weights[own.recurrent.clone()]);
        strips::pack(x, columns, |k, c| kernel[k * columns + self.kernel_column(c)]);
        let wide = if self.cell == Cell::Lstm { columns } else { 2 * units };
        strips::pack(gates, wide, |k, c| recurrent[k * columns + c]);
        if !new.is_empty() {
            strips::pack(new, units, |k, c| recurrent[k * columns + 2 * units + c]);
        }
        start.fill(0.0);
        product.fill(0.0);
        let Some(bias) = own.bias.as_ref().map(|bias| &weights[bias.clone()]) else { return };
        for (c, start) in start.iter_mut().enumerate() {
            *start = bias[self.kernel_column(c)];
        }
        // The second row belongs to the product with the state.
        if let Some(second) = bias.get(columns..).filter(|second| !second.is_empty()) {
            start[units..].iter_mut().zip(second).for_each(|(start, bias)| *start += bias);
            product.copy_from_slice(&second[2 * units..]);
        }
    }

    /// Goes through all steps of a part.
    fn walk(
        &self,
        read: &Read<'_>,
        part: &Part,
        (gates, states): (&mut [f32], &mut [f32]),
        scratch: &mut [f32],
    ) {
        let (rows, units) = (part.samples.len(), self.units);
        let direction = &self.directions[part.direction];
        let lens = [rows * self.x_pitch(), rows * units, rows * self.reset_len()];
        let [x, zeros, reset] = pieces(scratch, lens);
        zeros.fill(0.0);
        let block_len = rows * self.pitch();
        // States, and then cells where there are some.
        let (states, cells) = states.split_at_mut(rows * self.steps * units);
        for done in 0..self.steps {
            let step = self.step(direction, done);
            let first = if read.trains { step * block_len } else { 0 };
            let gates = &mut gates[first..first + block_len];
            self.copy_step(read.x, part, step, x);
            let last = done.checked_sub(1).map(|done| self.step(direction, done));
            let (before, after) = around(states, (last, step), rows * units);
            let before = before.unwrap_or(&*zeros);
            self.sums(read, (x, before), (gates, reset), rows);
            let block = self.block(read.ids, part, step);
            match self.cell {
                Cell::GruAfter => gates::gru(read.isa, block, true, gates, (before, after)),
                Cell::GruBefore => gates::gru(read.isa, block, false, gates, (before, after)),
                Cell::Lstm => {
                    let (last, cell) = around(cells, (last, step), rows * units);
                    let before = [before, last.unwrap_or(&*zeros)];
                    gates::lstm(read.isa, block, gates, before, [after, cell]);
                }
            }
        }
    }

    /// The sums of a step: what is read and what is remembered, times their kernels.
    fn sums(
        &self,
        read: &Read<'_>,
        (x, before): (&[f32], &[f32]),
        (gates, reset): (&mut [f32], &mut [f32]),
        rows: usize,
    ) {
        let (isa, units, pitch) = (read.isa, self.units, self.pitch());
        let [kernel, recurrent, new, start, product_start] = read.packed;
        let x = Windows { length: self.inputs, ..Windows::matrix(x, self.x_pitch()) };
        let state = Windows::matrix(before, units);
        strips::product(isa, x, kernel, self.into(gates, rows, self.columns()), Start::Bias(start));
        if self.cell == Cell::Lstm {
            return strips::product(
                isa,
                state,
                recurrent,
                self.into(gates, rows, 4 * units),
                Start::Result,
            );
        }
        let of_gates = self.into(&mut gates[units..], rows, 2 * units);
        strips::product(isa, state, recurrent, of_gates, Start::Result);
        if self.cell == Cell::GruAfter {
            let product = self.into(&mut gates[3 * units..], rows, units);
            return strips::product(isa, state, new, product, Start::Bias(product_start));
        }
        let block = Block { units, pitch, ids: None };
        gates::gru_reset(isa, block, gates, before);
        for (row, reset) in gates.chunks_exact(pitch).zip(reset.chunks_exact_mut(units)) {
            reset.copy_from_slice(&row[3 * units..4 * units]);
        }
        let reset = Windows::matrix(reset, units);
        strips::product(isa, reset, new, self.into(gates, rows, units), Start::Result);
    }

    /// Sums go to the gates of a step.
    fn into<'a>(&self, c: &'a mut [f32], rows: usize, columns: usize) -> Into<'a> {
        Into { c, c_row: self.pitch(), rows, columns, relu: false }
    }

    /// What both directions come to, for the samples of a part.
    fn merge(&self, both: [&[f32]; 2], rows: usize, y: &mut [f32]) {
        let (units, directions) = (self.units, self.directions.len());
        let width = match self.merge {
            MergeMode::Concat => directions * units,
            _ => units,
        };
        let results = if self.sequences { self.steps } else { 1 };
        for (place, y) in y.chunks_exact_mut(width).enumerate() {
            let (row, place) = (place / results, place % results);
            let state = |direction: usize| {
                let step = self.step_of(&self.directions[direction], place);
                &both[direction][(step * rows + row) * units..][..units]
            };
            y[..units].copy_from_slice(state(0));
            if directions == 1 {
                continue;
            }
            let second = state(1);
            match self.merge {
                MergeMode::Concat => y[units..].copy_from_slice(second),
                MergeMode::Sum => y.iter_mut().zip(second).for_each(|(y, s)| *y += s),
                MergeMode::Ave => y.iter_mut().zip(second).for_each(|(y, s)| *y = (*y + s) * 0.5),
                MergeMode::Mul => y.iter_mut().zip(second).for_each(|(y, s)| *y *= s),
            }
        }
    }
}

/// The states of the step before, if there was one, and those of this step.
fn around(
    states: &mut [f32],
    (last, step): (Option<usize>, usize),
    len: usize,
) -> (Option<&[f32]>, &mut [f32]) {
    let range = |step: usize| step * len..(step + 1) * len;
    match last {
        None => (None, &mut states[range(step)]),
        Some(last) => {
            let [before, after] = disjoint(states, [range(last), range(step)]);
            (Some(before), after)
        }
    }
}
