//! Batch normalization: each channel of a batch is brought to mean 0 and variance 1, then scaled and
//! shifted. In training by the batch's own mean and variance, which the moving ones follow; otherwise,
//! and where the layer is frozen, by the moving ones.
//!
//! Both are a line, y = x·scale + offset. Sums over a batch are cut as convolutions cut theirs: one
//! for each of at most 16 parts of the samples, and a balanced tree over these.

use std::ops::Range;

use super::partials::{self, chunks};
use super::{Run, disjoint};
use crate::cpu::Cpu;
use crate::kernels::normalize::{self, Line};
use crate::program::{Normalize, Operation};
use crate::share::{Cut, portion};

impl Normalize {
    /// Floats of scratch for a batch: a line, the sums, and those of each part; two for each channel.
    pub(crate) fn scratch(&self, batch: usize) -> usize {
        2 * self.channels * (2 + chunks(batch))
    }

    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let by_batch = run.noise.is_some() && !self.frozen;
        if by_batch {
            self.measure(operation, run);
        }
        let (n, cpu, len) = (run.n, run.cpu, operation.x.len);
        let parts = chunks(n);
        let seen = by_batch.then(|| &run.values[self.seen.range(1)]);
        let line = self.line(run.weights, seen, &mut run.scratch[..2 * self.channels]);
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let x = &x[floats(portion(n, parts, part), len)];
            normalize::apply(cpu.isa(), line, self.relu, x, y);
        });
    }

    /// Keeps the batch's mean and one over its deviation. What stands for the gradients of the moving
    /// ones is how far they have to go.
    fn measure(&self, operation: &Operation, run: &mut Run<'_>) {
        let (channels, len, isa) = (self.channels, operation.x.len, run.cpu.isa());
        let x = &run.values[operation.x.range(run.n)];
        let totals = self.sum(run.cpu, &mut run.scratch[2 * channels..], run.n, |samples, sums| {
            normalize::moments(isa, &x[..channels], &x[floats(samples, len)], sums);
        });
        let rows = (run.n * len / channels) as f64;
        for c in 0..channels {
            let off = f64::from(totals[c]) / rows;
            let mean = f64::from(run.values[operation.x.offset + c]) + off;
            let variance = (f64::from(totals[channels + c]) / rows - off * off).max(0.0);
            let deviation = (variance + f64::from(self.epsilon)).sqrt();
            run.values[self.seen.offset + c] = mean as f32;
            run.values[self.seen.offset + channels + c] = (1.0 / deviation) as f32;
            for (moving, batch) in [(&self.mean, mean), (&self.variance, variance)] {
                let ahead = run.weights[moving.start + c] - batch as f32;
                run.gradients[moving.start + c] = run.share * (1.0 - self.momentum) * ahead;
            }
        }
    }

    /// The line that x is brought onto: all scales, then all offsets.
    fn line<'a>(
        &self,
        weights: &[f32],
        seen: Option<&[f32]>,
        line: &'a mut [f32],
    ) -> [&'a [f32]; 2] {
        let (scale, offset) = line.split_at_mut(self.channels);
        for c in 0..self.channels {
            let (mean, inverse) = match seen {
                Some(seen) => (seen[c], seen[self.channels + c]),
                None => {
                    let variance = weights[self.variance.start + c] + self.epsilon;
                    (weights[self.mean.start + c], 1.0 / variance.sqrt())
                }
            };
            let gamma = self.gamma.as_ref().map_or(1.0, |gamma| weights[gamma.start + c]);
            let beta = self.beta.as_ref().map_or(0.0, |beta| weights[beta.start + c]);
            scale[c] = gamma * inverse;
            offset[c] = (-mean).mul_add(scale[c], beta);
        }
        [scale, offset]
    }

    /// Two sums for each channel over all samples, at the beginning of scratch; `each` makes those of some.
    fn sum<'a>(
        &self,
        cpu: &Cpu,
        scratch: &'a mut [f32],
        n: usize,
        each: impl Fn(Range<usize>, [&mut [f32]; 2]) + Sync,
    ) -> &'a mut [f32] {
        let (parts, two) = (chunks(n), 2 * self.channels);
        let (totals, partials) = scratch.split_at_mut(two);
        let partials = &mut partials[..parts * two];
        cpu.each(parts, Cut::new(&mut *partials, parts, parts), |part, sums| {
            each(portion(n, parts, part), sums.split_at_mut(self.channels).into());
        });
        partials::add(cpu, partials, parts, 0, totals);
        totals
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        if operation.dy.is_none() {
            return;
        }
        let seen = (!self.frozen).then(|| &run.values[self.seen.range(1)]);
        self.line(run.weights, seen, &mut run.scratch[..2 * self.channels]);
        match self.frozen {
            true => run.scratch[2 * self.channels..4 * self.channels].fill(0.0),
            false => self.weight_gradient(operation, run),
        }
        if operation.dx.is_some() {
            self.input_gradient(operation, run);
        }
    }

    /// The gradients of gamma and beta; and, where the sums lay, what the batch's own mean and variance
    /// add to the gradient of x: always, and for each step away from the mean.
    fn weight_gradient(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (n, channels, len, isa) = (run.n, self.channels, operation.x.len, run.cpu.isa());
        let (x, dy) = (&run.values[operation.x.range(n)], &run.values[dy.range(n)]);
        let (mean, inverse) = run.values[self.seen.range(1)].split_at(channels);
        let (line, sums) = run.scratch.split_at_mut(2 * channels);
        let (scale, offset) = line.split_at(channels);
        let line = Line { mean, scale, offset, relu: self.relu };
        let totals = self.sum(run.cpu, sums, n, |samples, sums| {
            let samples = floats(samples, len);
            normalize::slopes(isa, line, [&x[samples.clone()], &dy[samples]], sums);
        });
        let rows = (n * len / channels) as f32;
        for c in 0..channels {
            let (sum, slope) = (totals[c], totals[channels + c] * inverse[c]);
            let gamma = self.gamma.as_ref().map_or(1.0, |gamma| run.weights[gamma.start + c]);
            let scale = gamma * inverse[c] / rows;
            totals[c] = -scale * sum;
            totals[channels + c] = -scale * slope * inverse[c];
            for (of, gradient) in [(&self.beta, sum), (&self.gamma, slope)] {
                if let Some(of) = of {
                    run.gradients[of.start + c] = gradient;
                }
            }
        }
    }

    fn input_gradient(&self, operation: &Operation, run: &mut Run<'_>) {
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
        let (n, cpu, len, channels) = (run.n, run.cpu, operation.x.len, self.channels);
        let parts = chunks(n);
        let of = |line: usize| &run.scratch[line * channels..(line + 1) * channels];
        let (scale, offset, always, tilt) = (of(0), of(1), of(2), of(3));
        let [x, dy, dx] = [operation.x, dy, dx].map(|place| place.range(n));
        let [x, dy, dx, seen] = disjoint(run.values, [x, dy, dx, self.seen.range(1)]);
        let (x, dy) = (&*x, &*dy);
        // A frozen layer has seen nothing, and what would be multiplied by its distance is zero.
        let mean = if self.frozen { &run.weights[self.mean.clone()] } else { &seen[..channels] };
        let line = Line { mean, scale, offset, relu: self.relu };
        cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
            let samples = floats(portion(n, parts, part), len);
            let values = [&x[samples.clone()], &dy[samples]];
            normalize::spread(cpu.isa(), line, [tilt, always], values, dx);
        });
    }
}

fn floats(samples: Range<usize>, len: usize) -> Range<usize> {
    samples.start * len..samples.end * len
}
