//! Backward where weights are few and rows are many, as over the channels of pixels: what there is to read is more than
//! what there is to compute.
//!
//! A batch is cut into chunks, whatever the number of threads, and each has its own partial gradient of the weights,
//! added up as a balanced tree. So a thread reads only the rows of its chunks; some of them at a time, for the weights'
//! gradient and for the input's while they are in the cache.

use super::ROWS;
use super::many::{Given, block};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::kernels::strips;
use crate::ops::partials::{self, finish};
use crate::ops::{Run, backward_values};
use crate::program::{Dense, Operation};
use crate::share::{Cut, portion};
use crate::simd::Isa;

/// The most chunks a batch is cut into.
const CHUNKS: usize = 8;

/// Weights that are few.
const FEW: usize = 1 << 16;

fn chunks(n: usize) -> usize {
    n.clamp(1, CHUNKS)
}

impl Dense {
    /// Whether weights are few, and rows many.
    pub(super) fn is_small(&self) -> bool {
        self.rows > 1 && self.kernel.len() <= FEW
    }

    /// Floats of the kernel's and the bias's gradients together.
    fn weights(&self) -> usize {
        partials::len(&self.kernel, self.bias.as_ref())
    }

    /// Floats of scratch: the turned weights, then partial gradients.
    pub(super) fn pixels_scratch(&self, batch: usize, turned: usize) -> usize {
        turned + chunks(batch) * self.weights()
    }

    pub(super) fn pixels_backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (cpu, n, parts) = (run.cpu, run.n, chunks(run.n));
        let turned = operation.dx.map_or(0, |_| strips::len(self.units, self.inputs));
        let (turned, partials) = run.scratch.split_at_mut(turned);
        if !turned.is_empty() {
            self.turn(cpu, run.weights, turned);
        }
        let [x, y, dy, dx] = backward_values(operation, dy, (run.values, n), self.relu);
        let (x, y, turned) = (&*x, &*y, &*turned);
        let partials = &mut partials[..parts * self.weights()];
        let memory =
            (Cut::new(dy, n, parts), Cut::new(dx, n, parts), Cut::new(partials, parts, parts));
        cpu.each(parts, memory, |part, (dy, dx, partial)| {
            partial.fill(0.0);
            let first = portion(n, parts, part).start * self.rows;
            let block = block([self.inputs, self.units], 10 * ROWS);
            let mut dx = dx.chunks_mut(block * self.inputs);
            for (number, dy) in dy.chunks_mut(block * self.units).enumerate() {
                let first = first + number * block;
                if self.relu {
                    plain::relu_backward(cpu.isa(), &y[first * self.units..], dy);
                }
                self.add_weight_gradient(cpu.isa(), &x[first * self.inputs..], dy, partial);
                if let Some(dx) = dx.next() {
                    let given =
                        Given { x: dy, inputs: self.units, packed: turned, start: Start::Zero };
                    given.rows(cpu.isa(), 0, (self.inputs, false), dx);
                }
            }
        });
        let turned = turned.len();
        finish(run, (&self.kernel, self.bias.as_ref()), turned, (parts, self.weights()));
    }

    /// Adds what some rows give the weights: Σ x(row, i)·dy(row, j), rows upwards.
    fn add_weight_gradient(&self, isa: Isa, x: &[f32], dy: &[f32], partial: &mut [f32]) {
        let (dw, db) = partial.split_at_mut(self.kernel.len());
        isa.run(Gemm {
            a: Windows::transposed(x, dy.len() / self.units, self.inputs, 0),
            b: dy,
            b_row: self.units,
            c: dw,
            c_row: self.units,
            rows: self.inputs,
            columns: self.units,
            start: Start::Result,
            relu: false,
        });
        if !db.is_empty() {
            plain::add_rows(isa, dy, db);
        }
    }
}
