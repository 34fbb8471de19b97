//! Backward: step by step from the last to the first, every product of a step at once.

use spec::MergeMode;

use super::{Part, Scratch, halves, ids_range, packed, pieces};
use crate::cpu::Cpu;
use crate::kernels::gates::{self, Block};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::kernels::strips::{self, Into};
use crate::ops::partials;
use crate::ops::{Run, disjoint};
use crate::program::{Cell, Operation, Recurrent};
use crate::share::{Chain, Cut, portion};
use crate::simd::Isa;

/// What a part reads.
struct Read<'a> {
    isa: Isa,
    x: &'a [f32],
    ids: &'a [f32],
    dy: &'a [f32],
    /// All states of all parts.
    states: &'a [f32],
    /// The strips of its direction.
    packed: [&'a [f32]; 3],
    /// Samples in the batch.
    n: usize,
}

/// What a part works on.
struct Work<'a> {
    /// Partial gradients: of both kernels, and of the gates' constants.
    kernel: &'a mut [f32],
    recurrent: &'a mut [f32],
    bias: &'a mut [f32],
    /// The gradients of the states, and of the cells.
    d: &'a mut [f32],
    d_cells: &'a mut [f32],
    /// The gradient of the states that were reset.
    reset: &'a mut [f32],
    zeros: &'a mut [f32],
    /// What the samples are at a step, and the gradient of that.
    x: &'a mut [f32],
    dx: &'a mut [f32],
}

impl Recurrent {
    fn work_lens(&self, rows: usize, input_gradient: bool) -> [usize; 9] {
        let (units, columns) = (self.units, self.columns());
        let cells = if self.cell == Cell::Lstm { rows * units } else { 0 };
        let dx = if input_gradient { rows * self.inputs } else { 0 };
        [
            self.inputs * columns,
            units * columns,
            4 * units,
            rows * units,
            cells,
            rows * self.reset_len(),
            rows * units,
            rows * self.x_pitch(),
            dx,
        ]
    }

    pub(super) fn backward_scratch(&self, n: usize, input_gradient: bool) -> Scratch {
        Scratch {
            direction: self.backward_lens(input_gradient).iter().sum(),
            part: self.work_lens(self.rows(n), input_gradient).iter().sum(),
        }
    }

    pub(crate) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (n, cpu, weights) = (run.n, run.cpu, run.weights);
        let (directions, chunks) = (self.directions.len(), self.chunks(n));
        let input_gradient = operation.dx.is_some();
        let (parts, need) = (directions * chunks, self.backward_scratch(n, input_gradient));
        let (shared, scratch) = run.scratch.split_at_mut(directions * need.direction);
        let (scratch, second) = scratch.split_at_mut(parts * need.part);
        let second = &mut second[..self.second_gradient(n, input_gradient)];
        cpu.each(directions, Cut::new(&mut *shared, directions, directions), |direction, to| {
            self.pack_backward(weights, direction, input_gradient, to);
        });
        let (x, ids) = (operation.x.range(n), ids_range(operation, n));
        let none = dy.offset..dy.offset;
        let dx = operation.dx.map_or(none, |dx| dx.range(n));
        let ranges = [x, ids, operation.kept.range(n), dy.range(n), dx];
        let [x, ids, kept, dy, dx] = disjoint(run.values, ranges);
        let (x, ids, dy, shared) = (&*x, &*ids, &*dy, &*shared);
        let [all_gates, states] = self.split(kept, n, true);
        let states = &*states;
        let memory = (
            Chain::new(halves(all_gates, directions), n, chunks),
            Chain::new([&mut *dx, &mut *second], n, chunks),
            Cut::new(&mut *scratch, parts, parts),
        );
        cpu.each(parts, memory, |part, (gates, dx, scratch)| {
            let part = self.part(n, part);
            let own = &shared[part.direction * need.direction..][..need.direction];
            let packed = packed(own, self.backward_lens(input_gradient));
            let read = Read { isa: cpu.isa(), x, ids, dy, states, packed, n };
            self.walk_back(&read, &part, (gates, dx), scratch);
        });
        if !second.is_empty() {
            let second = &*second;
            let (parts, len) = (cpu.parts(dx.len(), n), dx.len() / n);
            cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
                let samples = portion(n, parts, part);
                plain::add_rows(cpu.isa(), &second[samples.start * len..samples.end * len], dx);
            });
        }
        let scratch = &*scratch;
        for direction in 0..directions {
            let partials = &scratch[direction * chunks * need.part..][..chunks * need.part];
            self.finish((cpu, partials, chunks), direction, run.gradients);
        }
    }

    /// Copies a direction's kernels, turned, into strips.
    fn pack_backward(
        &self,
        weights: &[f32],
        direction: usize,
        input_gradient: bool,
        to: &mut [f32],
    ) {
        let own = &self.directions[direction];
        let (units, columns) = (self.units, self.columns());
        let [x, state, new] = pieces(to, self.backward_lens(input_gradient));
        let (kernel, recurrent) = (&weights[own.kernel.clone()], &weights[own.recurrent.clone()]);
        if input_gradient {
            strips::pack(x, self.inputs, |k, c| kernel[c * columns + self.kernel_column(k)]);
        }
        strips::pack(state, units, |k, c| recurrent[c * columns + k]);
        if !new.is_empty() {
            strips::pack(new, units, |k, c| recurrent[c * columns + 2 * units + k]);
        }
    }

    /// Goes back through all steps of a part.
    fn walk_back(
        &self,
        read: &Read<'_>,
        part: &Part,
        (gates, dx): (&mut [f32], &mut [f32]),
        scratch: &mut [f32],
    ) {
        let (rows, units) = (part.samples.len(), self.units);
        let input_gradient = !dx.is_empty();
        scratch.fill(0.0);
        let lens = self.work_lens(rows, input_gradient);
        let [kernel, recurrent, bias, d, d_cells, reset, zeros, x, dx_step] = pieces(scratch, lens);
        let mut work = Work { kernel, recurrent, bias, d, d_cells, reset, zeros, x, dx: dx_step };
        let direction = &self.directions[part.direction];
        let states = &read.states[self.states_of(read.n, part)];
        let (states, cells) = states.split_at(rows * self.steps * units);
        for done in (0..self.steps).rev() {
            let step = self.step(direction, done);
            let gates = &mut gates[step * rows * self.pitch()..][..rows * self.pitch()];
            if self.sequences || done + 1 == self.steps {
                self.add_result(read, part, step, work.d);
            }
            let last = done.checked_sub(1).map(|done| self.step(direction, done));
            let range = |step: usize| step * rows * units..(step + 1) * rows * units;
            let block = self.block(read.ids, part, step);
            let before = last.map(|last| &states[range(last)]);
            match self.cell {
                Cell::Lstm => {
                    let last = last.map_or(&*work.zeros, |last| &cells[range(last)]);
                    let d = [&mut *work.d, &mut *work.d_cells];
                    gates::lstm_backward(read.isa, block, gates, [last, &cells[range(step)]], d);
                }
                _ => {
                    let before = before.unwrap_or(&*work.zeros);
                    gates::gru_backward(read.isa, block, gates, before, work.d);
                }
            }
            self.copy_step(read.x, part, step, work.x);
            self.back_through(read, (gates, before), rows, &mut work);
            for (sample, from) in work.dx.chunks_exact(self.inputs).enumerate() {
                let first = (sample * self.steps + step) * self.inputs;
                dx[first..first + self.inputs].copy_from_slice(from);
            }
        }
    }

    /// Adds the gradient of the results to that of the states of a step.
    fn add_result(&self, read: &Read<'_>, part: &Part, step: usize, d: &mut [f32]) {
        let (units, directions) = (self.units, self.directions.len());
        let results = if self.sequences { self.steps } else { 1 };
        let place = match (self.sequences, self.flipped) {
            (false, _) => 0,
            (true, false) => step,
            (true, true) => self.steps - 1 - step,
        };
        let concat = self.merge == MergeMode::Concat;
        let width = if concat { directions * units } else { units };
        // What the other direction came to at the same place.
        let other =
            Part { direction: directions - 1 - part.direction, samples: part.samples.clone() };
        let others = &read.states[self.states_of(read.n, &other)];
        let at = self.step_of(&self.directions[other.direction], place) * part.samples.len();
        for (row, d) in d.chunks_exact_mut(units).enumerate() {
            let sample = part.samples.start + row;
            let first = (sample * results + place) * width;
            let dy = &read.dy[first..first + width];
            match self.merge {
                MergeMode::Concat => {
                    let dy = &dy[part.direction * units..];
                    d.iter_mut().zip(dy).for_each(|(d, dy)| *d += dy);
                }
                MergeMode::Sum => d.iter_mut().zip(dy).for_each(|(d, dy)| *d += dy),
                MergeMode::Ave => d.iter_mut().zip(dy).for_each(|(d, dy)| *d += dy * 0.5),
                MergeMode::Mul => {
                    let other = &others[(at + row) * units..];
                    let both = dy.iter().zip(other);
                    d.iter_mut().zip(both).for_each(|(d, (dy, other))| *d += dy * other);
                }
            }
        }
    }

    /// The products of a step, when the gradients of what went into the states are there.
    fn back_through(
        &self,
        read: &Read<'_>,
        (gates, before): (&mut [f32], Option<&[f32]>),
        rows: usize,
        work: &mut Work<'_>,
    ) {
        let (isa, units, columns) = (read.isa, self.units, self.columns());
        let [of_x, of_state, of_new] = read.packed;
        let block = Block { units, pitch: self.pitch(), ids: None };
        if self.cell == Cell::GruBefore {
            let into =
                Into { c: &mut *work.reset, c_row: units, rows, columns: units, relu: false };
            strips::product(isa, self.seen(gates, 0, units), of_new, into, Start::Zero);
            let before = before.unwrap_or(&*work.zeros);
            gates::gru_reset_before_backward(isa, block, gates, [work.reset, before], work.d);
        } else if self.cell == Cell::GruAfter {
            gates::gru_reset_after_backward(isa, block, gates, rows);
        }
        let gates = &*gates;
        // Which gates the state went into by products.
        let (first, count) = match self.cell {
            Cell::Lstm => (0, 4 * units),
            Cell::GruAfter => (units, 3 * units),
            Cell::GruBefore => (units, 2 * units),
        };
        if let Some(before) = before {
            let into = Into { c: &mut *work.d, c_row: units, rows, columns: units, relu: false };
            let seen = self.seen(gates, first, count);
            strips::product(isa, seen, of_state, into, Start::Result);
            let before = Windows::transposed(before, rows, units, 0);
            self.add_weights(isa, before, (&gates[first..], count), work.recurrent);
            if self.cell == Cell::GruBefore {
                let reset = Windows {
                    row: 1,
                    step: self.pitch(),
                    length: rows,
                    ..self.seen(gates, 3 * units, rows)
                };
                let new = &mut work.recurrent[2 * units..];
                self.add_weights(isa, reset, (gates, units), new);
            }
        }
        let x = Windows::transposed(work.x, rows, self.x_pitch(), 0);
        if self.cell == Cell::Lstm {
            self.add_weights(isa, x, (gates, columns), work.kernel);
        } else {
            self.add_weights(isa, x, (&gates[units..], 2 * units), work.kernel);
            self.add_weights(isa, x, (gates, units), &mut work.kernel[2 * units..]);
        }
        plain::add_apart(isa, gates, self.pitch(), work.bias);
        if !work.dx.is_empty() {
            let columns = self.inputs;
            let into = Into { c: &mut *work.dx, c_row: self.inputs, rows, columns, relu: false };
            strips::product(isa, self.seen(gates, 0, self.columns()), of_x, into, Start::Zero);
        }
    }

    /// Some columns of the gates.
    fn seen<'a>(&self, gates: &'a [f32], first: usize, count: usize) -> Windows<'a> {
        Windows { length: count, ..Windows::matrix(&gates[first..], self.pitch()) }
    }

    /// Adds what a step gives to some columns of a kernel's gradient: `of` turned times gates.
    fn add_weights(
        &self,
        isa: Isa,
        of: Windows<'_>,
        (gates, count): (&[f32], usize),
        sums: &mut [f32],
    ) {
        let columns = self.columns();
        isa.run(Gemm {
            a: of,
            b: gates,
            b_row: self.pitch(),
            rows: sums.len().div_ceil(columns),
            c: sums,
            c_row: columns,
            columns: count,
            start: Start::Result,
            relu: false,
        });
    }

    /// Adds up the partial gradients of a direction.
    fn finish(
        &self,
        (cpu, partials, chunks): (&Cpu, &[f32], usize),
        direction: usize,
        gradients: &mut [f32],
    ) {
        let own = &self.directions[direction];
        let units = self.units;
        let first = own.kernel.len();
        partials::add(cpu, partials, chunks, 0, &mut gradients[own.kernel.clone()]);
        partials::add(cpu, partials, chunks, first, &mut gradients[own.recurrent.clone()]);
        let Some(bias) = &own.bias else { return };
        let first = first + own.recurrent.len();
        let bias = &mut gradients[bias.clone()];
        let mut add = |gate: usize, to: std::ops::Range<usize>| {
            partials::add(cpu, partials, chunks, first + gate * units, &mut bias[to]);
        };
        if self.cell == Cell::Lstm {
            return add(0, 0..4 * units);
        }
        add(1, 0..2 * units);
        add(0, 2 * units..3 * units);
        if self.cell == Cell::GruAfter {
            add(1, 3 * units..5 * units);
            add(3, 5 * units..6 * units);
        }
    }
}
