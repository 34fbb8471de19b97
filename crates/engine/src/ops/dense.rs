//! A dense layer: one product forward; backward, one for the weights and one for the input.

use super::{Run, disjoint, parts_for};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::program::{Dense, Operation};
use crate::share::{Cut, portion};

/// Rows of a part: as many as the largest tile takes well.
const ROWS: usize = 12;

impl Dense {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let n = run.n;
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let kernel = &run.weights[self.kernel.clone()];
        let bias = self.bias.as_ref().map(|range| &run.weights[range.clone()]);
        let parts = parts_for(n * self.kernel.len(), n.div_ceil(ROWS));
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let rows = portion(n, parts, part);
            run.cpu.run(Gemm {
                a: Windows::matrix(&x[rows.start * self.inputs..], self.inputs),
                b: kernel,
                b_row: self.units,
                c: y,
                c_row: self.units,
                rows: rows.len(),
                columns: self.units,
                start: bias.map_or(Start::Zero, Start::Bias),
                relu: self.relu,
            });
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let n = run.n;
        let Some(dy) = operation.dy else { return };
        if self.relu {
            let [y, dy] = disjoint(run.values, [operation.y.range(n), dy.range(n)]);
            plain::relu_backward(run.cpu.isa(), y, dy);
        }
        if let Some(bias) = &self.bias {
            let db = &mut run.gradients[bias.clone()];
            db.fill(0.0);
            plain::add_rows(run.cpu.isa(), &run.values[dy.range(n)], db);
        }
        self.weight_gradient(operation, run);
        if operation.dx.is_some() {
            self.input_gradient(operation, run);
        }
    }

    /// dW(i, j) = Σ x(sample, i)·dy(sample, j), samples upwards.
    fn weight_gradient(&self, operation: &Operation, run: &mut Run<'_>) {
        let n = run.n;
        let Some(dy) = operation.dy else { return };
        let (x, dy) = (&run.values[operation.x.range(n)], &run.values[dy.range(n)]);
        let dw = &mut run.gradients[self.kernel.clone()];
        let parts = parts_for(n * self.kernel.len(), self.inputs.div_ceil(ROWS));
        run.cpu
            .each(parts, Cut::new(dw, self.inputs, parts), |part, dw| {
                let rows = portion(self.inputs, parts, part);
                run.cpu.run(Gemm {
                    a: Windows::transposed(x, n, self.inputs, rows.start),
                    b: dy,
                    b_row: self.units,
                    c: dw,
                    c_row: self.units,
                    rows: rows.len(),
                    columns: self.units,
                    start: Start::Zero,
                    relu: false,
                });
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
        plain::transpose(kernel, self.inputs, self.units, turned);
        let turned = &*turned;
        let [dy, dx] = disjoint(run.values, [dy.range(n), dx.range(n)]);
        let dy = &*dy;
        let parts = parts_for(n * self.kernel.len(), n.div_ceil(ROWS));
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
