//! Forward: each row of outputs is one product, (windows × window) · (window × filters), plus bias.
//! With pooling fused, two rows are computed into scratch, and only the largest of each 2×2 and which
//! of the four it was are stored.

use super::{Scratch, cut_scratch, padded};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::pooled;
use crate::ops::partials::chunks;
use crate::ops::{Run, disjoint};
use crate::program::{Conv, Operation};
use crate::share::{Cut, portion};
use crate::simd::Isa;

impl Conv {
    pub(super) fn forward_scratch(&self) -> Scratch {
        let rows = if self.choices.is_some() { 2 * self.window.output.row() } else { 0 };
        Scratch { shared: 0, each: self.window.copy_len() + rows }
    }

    pub(crate) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), &self.window);
        let parts = chunks(n);
        let (x_len, y_len) = (window.input.len(), operation.y.len);
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let choices = match self.choices {
            Some(place) => &mut run.choices[place.range(n)],
            None => &mut [],
        };
        let (_, scratch) = cut_scratch(run.scratch, self.forward_scratch(), parts);
        let memory = (Cut::new(y, n, parts), Cut::new(choices, n, parts), scratch);
        let (x, weights) = (&*x, run.weights);
        run.cpu.each(parts, memory, |part, (y, choices, scratch)| {
            let (copy, rows) = scratch.split_at_mut(self.window.copy_len());
            copy.fill(0.0);
            let mut choices = choices.chunks_exact_mut(y_len);
            for (sample, y) in portion(n, parts, part).zip(y.chunks_exact_mut(y_len)) {
                let x = padded(window, &x[sample * x_len..][..x_len], copy);
                match choices.next() {
                    Some(choices) => self.pooled_picture((isa, weights), x, rows, (y, choices)),
                    None => self.rows(isa, weights, x, (0, y)),
                }
            }
        });
    }

    /// Output rows from `first` on, as many as `y` takes.
    pub(super) fn rows(
        &self,
        isa: Isa,
        weights: &[f32],
        x: &[f32],
        (first, y): (usize, &mut [f32]),
    ) {
        if !self.is_plain() {
            return self.grouped_rows((isa, weights), x, y);
        }
        let (window, filters) = (&self.window, self.filters());
        let source = window.source();
        let bias = self.bias.as_ref().map(|range| &weights[range.clone()]);
        for (row, y) in y.chunks_exact_mut(window.output.row()).enumerate() {
            isa.run(Gemm {
                a: Windows {
                    data: &x[(first + row) * window.stride[0] * source.row()..],
                    row: window.stride[1] * source.channels,
                    segments: window.height,
                    segment: source.row(),
                    length: window.row(),
                    step: 1,
                },
                b: &weights[self.kernel.clone()],
                b_row: filters,
                c: y,
                c_row: filters,
                rows: window.output.width,
                columns: filters,
                start: bias.map_or(Start::Zero, Start::Bias),
                relu: self.relu,
            });
        }
    }

    fn pooled_picture(
        &self,
        (isa, weights): (Isa, &[f32]),
        x: &[f32],
        rows: &mut [f32],
        (y, choices): (&mut [f32], &mut [u8]),
    ) {
        let pooled_row = self.window.output.width / 2 * self.filters();
        let lines = y.chunks_exact_mut(pooled_row).zip(choices.chunks_exact_mut(pooled_row));
        for (line, (y, choices)) in lines.enumerate() {
            self.rows(isa, weights, x, (2 * line, rows));
            let (above, below) = rows.split_at(self.window.output.row());
            let pair = pooled::Pair { above, below, channels: self.filters(), relu: self.relu };
            pooled::largest(isa, pair, y, choices);
        }
    }
}
