//! Recurrent layers: sequences are read step by step, in one direction or both.
//!
//! Each direction and run of samples is a part of its own, walked from its first step to its last and
//! back by one thread. A batch is cut into runs by its size alone. In a step all that a part needs lies
//! in its core's own cache: the samples' numbers, copied there, both kernels in strips, the gates. So
//! the products of a step are as fast as one over all steps would be, and nothing is stored twice.
//!
//! Backward, every product of a step is done when its gates' gradients are at hand. Each part has
//! partial gradients of its own, chains over its steps and samples; they are added as a balanced tree.
//! The second direction's gradient of the input goes to scratch and is added to the first's.
//!
//! What is kept from forward to backward: all gates of the first direction, those of the second, then
//! the states likewise; in each, part by part, step by step, sample by sample.

mod backward;
mod forward;

use std::ops::Range;

use crate::kernels::gates::Block;
use crate::kernels::strips;
use crate::program::{Cell, Direction, Operation, Recurrent};
use crate::share::portion;

/// The most parts of a batch.
const PARTS: usize = 4;

/// Samples that make a part worth while.
const ROWS: usize = 12;

/// Floats of scratch: some for each direction, and some for each part.
#[derive(Clone, Copy)]
struct Scratch {
    direction: usize,
    part: usize,
}

/// Where a part is: its samples, and the direction.
struct Part {
    direction: usize,
    samples: Range<usize>,
}

impl Recurrent {
    /// Floats of scratch for a batch.
    pub(crate) fn scratch(&self, batch: usize, trains: bool, input_gradient: bool) -> usize {
        let (directions, chunks) = (self.directions.len(), self.chunks(batch));
        let total = |scratch: Scratch| directions * (scratch.direction + chunks * scratch.part);
        let forward = total(self.forward_scratch(batch));
        let second = self.second_gradient(batch, input_gradient);
        let backward = match trains {
            true => total(self.backward_scratch(batch, input_gradient)) + second,
            false => 0,
        };
        forward.max(backward)
    }

    /// How many runs of samples a batch is cut into.
    fn chunks(&self, n: usize) -> usize {
        (n / ROWS).clamp(1, PARTS / self.directions.len())
    }

    /// The most samples of a part.
    fn rows(&self, n: usize) -> usize {
        n.div_ceil(self.chunks(n))
    }

    /// Floats of the input's gradient by the second direction.
    fn second_gradient(&self, n: usize, input_gradient: bool) -> usize {
        match self.directions.len() {
            2 if input_gradient => n * self.steps * self.inputs,
            _ => 0,
        }
    }

    fn part(&self, n: usize, part: usize) -> Part {
        let chunks = self.chunks(n);
        Part { direction: part / chunks, samples: portion(n, chunks, part % chunks) }
    }

    /// The states of a part, among all states.
    fn states_of(&self, n: usize, part: &Part) -> Range<usize> {
        let first = part.direction * n + part.samples.start;
        first * self.states()..(first + part.samples.len()) * self.states()
    }

    /// Floats between two samples' numbers, copied for a step; not a power of two.
    fn x_pitch(&self) -> usize {
        self.inputs + 16
    }

    /// Floats of a sample's state that was reset, where a copy of it or of its gradient is needed.
    fn reset_len(&self) -> usize {
        if self.cell == Cell::GruBefore { self.units } else { 0 }
    }

    /// The step whose state is a direction's result number `place`.
    fn step_of(&self, direction: &Direction, place: usize) -> usize {
        match (self.sequences, self.flipped) {
            (false, _) => self.step(direction, self.steps - 1),
            (true, false) => place,
            (true, true) => self.steps - 1 - place,
        }
    }

    /// Copies the numbers that a part's samples have at a step.
    fn copy_step(&self, x: &[f32], part: &Part, step: usize, to: &mut [f32]) {
        for (sample, to) in part.samples.clone().zip(to.chunks_exact_mut(self.x_pitch())) {
            let first = (sample * self.steps + step) * self.inputs;
            to[..self.inputs].copy_from_slice(&x[first..first + self.inputs]);
        }
    }

    /// How a part's samples lie in memory at a step.
    fn block<'a>(&self, ids: &'a [f32], part: &Part, step: usize) -> Block<'a> {
        let first = part.samples.start * self.steps + step;
        let ids = self.masked.then(|| (&ids[first..], self.steps));
        Block { units: self.units, pitch: self.pitch(), ids }
    }

    /// The kept memory of `n` samples: gates and states.
    fn split<'a>(&self, kept: &'a mut [f32], n: usize, trains: bool) -> [&'a mut [f32]; 2] {
        kept.split_at_mut(self.directions.len() * n * self.gates(trains)).into()
    }

    /// The strips of a direction's kernels for the way forward: what is read; what is remembered, by
    /// gates; and by what may be remembered, where that is apart. Then where the sums of both begin.
    fn forward_lens(&self) -> [usize; 5] {
        let (units, columns) = (self.units, self.columns());
        let [gates, new] = match self.cell {
            Cell::Lstm => [strips::len(units, columns), 0],
            _ => [strips::len(units, 2 * units), strips::len(units, units)],
        };
        [strips::len(self.inputs, columns), gates, new, columns, units]
    }

    /// The same for the way back.
    fn backward_lens(&self, input_gradient: bool) -> [usize; 3] {
        let (units, columns) = (self.units, self.columns());
        let x = if input_gradient { strips::len(columns, self.inputs) } else { 0 };
        match self.cell {
            Cell::GruBefore => [x, strips::len(2 * units, units), strips::len(units, units)],
            _ => [x, strips::len(columns, units), 0],
        }
    }

    /// The column of the kernels that gate column `column` belongs to. Gated recurrent units keep what
    /// may be remembered first, so that both what x and what the state is multiplied with are
    /// contiguous; Keras has it last.
    fn kernel_column(&self, column: usize) -> usize {
        match self.cell {
            Cell::Lstm => column,
            _ => (column + 2 * self.units) % self.columns(),
        }
    }
}

/// Cuts a slice into consecutive pieces of given lengths.
fn pieces<const N: usize>(mut slice: &mut [f32], lens: [usize; N]) -> [&mut [f32]; N] {
    lens.map(|len| slice.split_off_mut(..len).expect("scratch was asked for by the same lengths"))
}

/// The ids of a batch, where they are read; an empty range otherwise.
fn ids_range(operation: &Operation, n: usize) -> Range<usize> {
    let none = operation.x.offset..operation.x.offset;
    operation.more.first().map_or(none, |(ids, _)| ids.range(n))
}

/// Whether gates of all steps are kept.
fn trains(operation: &Operation) -> bool {
    operation.dy.is_some()
}

/// The memory of the first direction, and that of the second.
fn halves(all: &mut [f32], directions: usize) -> [&mut [f32]; 2] {
    all.split_at_mut(all.len() / directions).into()
}

/// Parts of strips that were packed one after another.
fn packed<const N: usize>(all: &[f32], lens: [usize; N]) -> [&[f32]; N] {
    let mut end = 0;
    lens.map(|len| {
        end += len;
        &all[end - len..end]
    })
}
