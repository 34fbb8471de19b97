//! Layer normalization: each row of a sample is brought to mean 0 and variance 1, then scaled and shifted.
//! Nothing is kept for the way back: mean and deviation are found again from the input.
//!
//! The gradients of the weights are cut as convolutions cut theirs: a chain for each of at most 16 runs of
//! samples, and a balanced tree over these.

use super::partials::{self, chunks};
use super::{Run, disjoint};
use crate::kernels::layer_normalize::{add_weight_gradient, forward, input_gradient};
use crate::program::{LayerNormalize, Operation};
use crate::share::{Cut, portion};

impl LayerNormalize {
    /// Floats of scratch for a batch: what is multiplied and added, and two sums for each part.
    pub(super) fn scratch(&self, batch: usize) -> usize {
        2 * self.row * (1 + chunks(batch))
    }

    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, len) = (run.n, run.cpu.isa(), operation.x.len);
        let line = self.line(run.weights, &mut run.scratch[..2 * self.row]);
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let parts = run.cpu.parts(4 * n * len, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let samples = portion(n, parts, part);
            let x = &x[samples.start * len..samples.end * len];
            forward(isa, line, self.epsilon, x, y);
        });
    }

    /// What is multiplied, or ones; and what is added, or zeros.
    fn line<'a>(&self, weights: &[f32], line: &'a mut [f32]) -> [&'a [f32]; 2] {
        let (gamma, beta) = line.split_at_mut(self.row);
        match &self.gamma {
            Some(range) => gamma.copy_from_slice(&weights[range.clone()]),
            None => gamma.fill(1.0),
        }
        match &self.beta {
            Some(range) => beta.copy_from_slice(&weights[range.clone()]),
            None => beta.fill(0.0),
        }
        [gamma, beta]
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (n, isa, len, row) = (run.n, run.cpu.isa(), operation.x.len, self.row);
        let parts = chunks(n);
        let (line, partials) = run.scratch.split_at_mut(2 * row);
        let [gamma, _] = self.line(run.weights, line);
        let partials = &mut partials[..parts * 2 * row];
        let empty = operation.x.offset..operation.x.offset;
        let dx = operation.dx.map_or(empty, |dx| dx.range(n));
        let [x, dy, dx] = disjoint(run.values, [operation.x.range(n), dy.range(n), dx]);
        let (x, dy) = (&*x, &*dy);
        let memory = (Cut::new(dx, n, parts), Cut::new(&mut *partials, parts, parts));
        run.cpu.each(parts, memory, |part, (dx, sums)| {
            let samples = portion(n, parts, part);
            let range = samples.start * len..samples.end * len;
            let values = [&x[range.clone()], &dy[range]];
            sums.fill(0.0);
            add_weight_gradient(isa, self.epsilon, values, sums.split_at_mut(row).into());
            if !dx.is_empty() {
                input_gradient(isa, gamma, self.epsilon, values, dx);
            }
        });
        for (first, of) in [(0, &self.gamma), (row, &self.beta)] {
            if let Some(of) = of {
                partials::add(run.cpu, partials, parts, first, &mut run.gradients[of.clone()]);
            }
        }
    }
}
