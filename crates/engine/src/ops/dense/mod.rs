//! A dense layer, or weighted sums over the channels of each pixel: one product forward; backward, one for the weights and one for the input.
//!
//! Forward, a layer with many weights is computed in *segments*: each sums over some of the inputs, and
//! the sums are added as a balanced tree. So a thread reads those rows of the kernel whose gradient it
//! computes and whose weights it updates, and these stay in its own cache; were all weights read by all
//! threads, each update would have to take them back (docs/decisions/0005-engine-kernels.md). The number
//! of segments follows from the layer's shape alone.

mod many;
mod pixels;

use super::{Run, disjoint, partials};
use crate::cpu::Cpu;
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::kernels::strips;
use crate::program::{Dense, Operation};
use crate::share::{Cut, portion};
use many::{Given, block, each_strip, product};

/// Rows of a part: as many as the largest tile takes well.
const ROWS: usize = 12;

/// Columns that are worth a part of their own: some cache lines.
const COLUMNS: usize = 64;

/// Rows that are worth a copy of the weights.
const PACKED: usize = 64;

/// Weights that make a segment.
const SEGMENT: usize = 1 << 14;

/// The most segments.
const SEGMENTS: usize = 8;

impl Dense {
    /// Floats of scratch for a batch.
    pub(crate) fn scratch(&self, batch: usize, trains: bool, input_gradient: bool) -> usize {
        let turned = if input_gradient { strips::len(self.units, self.inputs) } else { 0 };
        let forward = match self.segments() {
            1 if self.is_packed(batch) => strips::len(self.inputs, self.units),
            1 => 0,
            segments => segments * batch * self.rows * self.units,
        };
        let pixels = if trains && self.is_small() { self.pixels_scratch(batch, turned) } else { 0 };
        turned.max(forward).max(pixels)
    }

    fn segments(&self) -> usize {
        // Many rows share one reading of the weights.
        let most = if self.rows > 1 { 1 } else { SEGMENTS.min(self.inputs) };
        (self.kernel.len() / SEGMENT).clamp(1, most)
    }

    /// Whether enough rows share the weights that these are worth a copy in strips.
    fn is_packed(&self, n: usize) -> bool {
        n * self.rows >= PACKED
    }

    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        if self.segments() > 1 {
            return self.forward_in_segments(operation, run);
        }
        let (cpu, weights) = (run.cpu, run.weights);
        let ranges = [operation.x.range(run.n), operation.y.range(run.n)];
        let [x, y] = disjoint(run.values, ranges);
        let (x, n) = (&*x, run.n * self.rows);
        if self.is_packed(run.n) {
            let packed = &mut run.scratch[..strips::len(self.inputs, self.units)];
            let kernel = &weights[self.kernel.clone()];
            each_strip(cpu, packed, self.units, |first, to| {
                strips::copy(kernel, self.units, first, to)
            });
            let given = Given { x, inputs: self.inputs, packed, start: self.bias(weights) };
            return product(cpu, given, self.relu, y);
        }
        let parts = cpu.parts(n * self.kernel.len(), n.div_ceil(ROWS));
        cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let rows = portion(n, parts, part);
            cpu.run(Gemm {
                a: Windows::matrix(&x[rows.start * self.inputs..], self.inputs),
                b: &weights[self.kernel.clone()],
                b_row: self.units,
                c: y,
                c_row: self.units,
                rows: rows.len(),
                columns: self.units,
                start: self.bias(weights),
                relu: self.relu,
            });
        });
    }

    fn forward_in_segments(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, cpu, weights) = (run.n, run.cpu, run.weights);
        let segments = self.segments();
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let sums = &mut run.scratch[..segments * n * self.units];
        cpu.each(segments, Cut::new(&mut *sums, segments, segments), |segment, sums| {
            let inputs = portion(self.inputs, segments, segment);
            cpu.run(Gemm {
                a: Windows {
                    length: inputs.len(),
                    ..Windows::matrix(&x[inputs.start..], self.inputs)
                },
                b: &weights[self.kernel.clone()][inputs.start * self.units..],
                b_row: self.units,
                c: sums,
                c_row: self.units,
                rows: n,
                columns: self.units,
                start: if segment == 0 { self.bias(weights) } else { Start::Zero },
                relu: false,
            });
        });
        partials::add(cpu, sums, segments, 0, y);
        if self.relu {
            plain::relu(cpu.isa(), y);
        }
    }

    fn bias<'a>(&self, weights: &'a [f32]) -> Start<'a> {
        let bias = self.bias.as_ref().map(|range| &weights[range.clone()]);
        bias.map_or(Start::Zero, Start::Bias)
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        if self.is_small() {
            return self.pixels_backward(operation, run);
        }
        let n = run.n;
        let Some(dy) = operation.dy else { return };
        let (cpu, isa, rows) = (run.cpu, run.cpu.isa(), n * self.rows);
        if self.relu {
            let [y, dy] = disjoint(run.values, [operation.y.range(n), dy.range(n)]);
            let y = &*y;
            let parts = cpu.parts(dy.len(), rows);
            cpu.each(parts, Cut::new(dy, rows, parts), |part, dy| {
                let first = portion(rows, parts, part).start * self.units;
                plain::relu_backward(isa, &y[first..], dy);
            });
        }
        if let Some(bias) = &self.bias {
            let (dy, db) = (&run.values[dy.range(n)], &mut run.gradients[bias.clone()]);
            db.fill(0.0);
            let parts = cpu.parts(dy.len(), self.units.div_ceil(COLUMNS));
            cpu.each(parts, Cut::new(db, self.units, parts), |part, db| {
                let first = portion(self.units, parts, part).start;
                plain::add_apart(isa, &dy[first..], self.units, db);
            });
        }
        self.weight_gradient(operation, run);
        if operation.dx.is_some() {
            self.input_gradient(operation, run);
        }
    }

    /// dW(i, j) = Σ x(sample, i)·dy(sample, j), samples upwards.
    fn weight_gradient(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (x, dy) = (&run.values[operation.x.range(run.n)], &run.values[dy.range(run.n)]);
        let n = run.n * self.rows;
        let dw = &mut run.gradients[self.kernel.clone()];
        // Of many rows, some at a time that stay in the cache; each sum goes on where it was.
        let block = match self.rows {
            1 => n,
            _ => block([self.inputs, self.units], 5 * ROWS).min(n),
        };
        let mut parts = run.cpu.parts(n * self.kernel.len(), self.inputs.div_ceil(ROWS));
        if block < n {
            parts = parts.min(run.cpu.threads());
        }
        run.cpu.each(parts, Cut::new(dw, self.inputs, parts), |part, dw| {
            let rows = portion(self.inputs, parts, part);
            for first in (0..n).step_by(block) {
                let len = block.min(n - first);
                run.cpu.run(Gemm {
                    a: Windows::transposed(&x[first * self.inputs..], len, self.inputs, rows.start),
                    b: &dy[first * self.units..],
                    b_row: self.units,
                    c: dw,
                    c_row: self.units,
                    rows: rows.len(),
                    columns: self.units,
                    start: if first == 0 { Start::Zero } else { Start::Result },
                    relu: false,
                });
            }
        });
    }

    /// dx = dy·Wᵀ, with the weights turned once into scratch.
    fn input_gradient(&self, operation: &Operation, run: &mut Run<'_>) {
        let n = run.n;
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else {
            return;
        };
        let turned = &mut run.scratch[..strips::len(self.units, self.inputs)];
        self.turn(run.cpu, run.weights, turned);
        let [dy, dx] = disjoint(run.values, [dy.range(n), dx.range(n)]);
        let given = Given { x: dy, inputs: self.units, packed: turned, start: Start::Zero };
        product(run.cpu, given, false, dx);
    }

    /// The weights turned, in strips.
    fn turn(&self, cpu: &Cpu, weights: &[f32], turned: &mut [f32]) {
        let kernel = &weights[self.kernel.clone()];
        each_strip(cpu, turned, self.inputs, |first, to| {
            strips::copy_turned(kernel, self.units, first, to);
        });
    }
}
