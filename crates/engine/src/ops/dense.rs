//! A dense layer, or weighted sums over the channels of each pixel: one product forward; backward, one for the weights and one for the input.
//!
//! Forward, a layer with many weights is computed in *segments*: each sums over some of the inputs, and
//! the sums are added as a balanced tree. So a thread reads those rows of the kernel whose gradient it
//! computes and whose weights it updates, and these stay in its own cache; were all weights read by all
//! threads, each update would have to take them back (docs/decisions/0005-engine-kernels.md). The number
//! of segments follows from the layer's shape alone.

use super::{Run, disjoint};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::program::{Dense, Operation};
use crate::share::{Cut, portion};

/// Rows of a part: as many as the largest tile takes well.
const ROWS: usize = 12;

/// Floats of inputs and outputs that are worked on together when weights are summed up.
const BLOCK: usize = 1 << 16;

/// Columns that are worth a part of their own: some cache lines.
const COLUMNS: usize = 64;

/// Weights that make a segment.
const SEGMENT: usize = 1 << 14;

/// The most segments.
const SEGMENTS: usize = 8;

impl Dense {
    /// Floats of scratch for a batch.
    pub(crate) fn scratch(&self, batch: usize, input_gradient: bool) -> usize {
        let turned = if input_gradient { self.kernel.len() } else { 0 };
        let sums = match self.segments() {
            1 => 0,
            segments => segments * batch * self.rows * self.units,
        };
        turned.max(sums)
    }

    fn segments(&self) -> usize {
        // Many rows share one reading of the weights.
        let most = if self.rows > 1 { 1 } else { SEGMENTS.min(self.inputs) };
        (self.kernel.len() / SEGMENT).clamp(1, most)
    }

    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        if self.segments() > 1 {
            return self.forward_in_segments(operation, run);
        }
        let (cpu, weights) = (run.cpu, run.weights);
        let ranges = [operation.x.range(run.n), operation.y.range(run.n)];
        let [x, y] = disjoint(run.values, ranges);
        let (x, n) = (&*x, run.n * self.rows);
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
        plain::add_tree(cpu.isa(), sums, segments, 0, y);
        if self.relu {
            plain::relu(cpu.isa(), y);
        }
    }

    fn bias<'a>(&self, weights: &'a [f32]) -> Start<'a> {
        let bias = self.bias.as_ref().map(|range| &weights[range.clone()]);
        bias.map_or(Start::Zero, Start::Bias)
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
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
            _ => (BLOCK / (self.inputs + self.units)).max(5 * ROWS).min(n),
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
        let turned = &mut run.scratch[..self.kernel.len()];
        let kernel = &run.weights[self.kernel.clone()];
        let parts = run.cpu.parts(kernel.len(), self.units.div_ceil(COLUMNS));
        run.cpu.each(parts, Cut::new(&mut *turned, self.units, parts), |part, turned| {
            let first = portion(self.units, parts, part).start;
            plain::transpose(&kernel[first..], self.inputs, self.units, turned);
        });
        let turned = &*turned;
        let [dy, dx] = disjoint(run.values, [dy.range(n), dx.range(n)]);
        let (dy, n) = (&*dy, n * self.rows);
        let parts = run.cpu.parts(n * self.kernel.len(), n.div_ceil(ROWS));
        run.cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
            let rows = portion(n, parts, part);
            run.cpu.run(Gemm {
                a: Windows::matrix(&dy[rows.start * self.units..], self.units),
                b: turned,
                b_row: self.inputs,
                c: dx,
                c_row: self.inputs,
                rows: rows.len(),
                columns: self.inputs,
                start: Start::Zero,
                relu: false,
            });
        });
    }
}
