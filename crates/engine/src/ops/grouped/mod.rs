//! A convolution whose windows have gaps, or whose filters each see the channels of their group only.
//!
//! For each row of outputs, each group and each row of the window there is one product; its sums go on from one row
//! of the window to the next. Batches are cut, and partial gradients added, as in other convolutions.

mod backward;

use super::conv::{Scratch, chunks, copy_len, cut_scratch, padded, source};
use super::{Run, disjoint};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::program::{Grouped, Operation};
use crate::share::{Cut, portion};
use crate::simd::Isa;

impl Grouped {
    /// Floats of scratch for a batch.
    pub(super) fn scratch(&self, batch: usize, trains: bool, input_gradient: bool) -> usize {
        let forward = self.forward_scratch().total(batch);
        let backward = self.backward_scratch(input_gradient).total(batch);
        if trains { forward.max(backward) } else { forward }
    }

    fn forward_scratch(&self) -> Scratch {
        Scratch { shared: 0, each: copy_len(&self.window) }
    }

    /// Channels of a group.
    fn channels(&self) -> usize {
        self.window.input.channels / self.groups
    }

    /// Filters of a group.
    fn filters(&self) -> usize {
        self.window.output.channels / self.groups
    }

    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), &self.window);
        let (x_len, y_len, parts) = (window.input.len(), window.output.len(), chunks(n));
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let (_, scratch) = cut_scratch(run.scratch, self.forward_scratch(), parts);
        let (x, weights) = (&*x, run.weights);
        run.cpu.each(parts, (Cut::new(y, n, parts), scratch), |part, (y, copy)| {
            copy.fill(0.0);
            for (sample, y) in portion(n, parts, part).zip(y.chunks_exact_mut(y_len)) {
                let x = padded(window, &x[sample * x_len..][..x_len], copy);
                for (row, y) in y.chunks_exact_mut(window.output.row()).enumerate() {
                    for line in 0..window.height {
                        self.row((isa, weights), x, (row, line), y);
                    }
                }
            }
        });
    }

    /// What one row of the windows adds to a row of outputs.
    fn row(
        &self,
        (isa, weights): (Isa, &[f32]),
        x: &[f32],
        (row, line): (usize, usize),
        y: &mut [f32],
    ) {
        let (window, source) = (&self.window, source(&self.window));
        let (channels, filters) = (self.channels(), self.filters());
        let kernel = &weights[self.kernel.clone()];
        let first = row * window.stride[0] + line * self.dilation[0];
        for group in 0..self.groups {
            let start = match (line, &self.bias) {
                (0, None) => Start::Zero,
                (0, Some(bias)) => Start::Bias(&weights[bias.clone()][group * filters..]),
                _ => Start::Result,
            };
            isa.run(Gemm {
                a: Windows {
                    data: &x[first * source.row() + group * channels..],
                    row: window.stride[1] * source.channels,
                    segments: window.width,
                    segment: self.dilation[1] * source.channels,
                    length: channels,
                    step: 1,
                },
                b: &kernel[(line * window.width * channels * self.groups + group) * filters..],
                b_row: window.output.channels,
                c: &mut y[group * filters..],
                c_row: window.output.channels,
                rows: window.output.width,
                columns: filters,
                start,
                relu: self.relu && line + 1 == window.height,
            });
        }
    }
}
