//! Max pooling on its own. Backward, each window is searched again: the gradient goes to its first
//! largest value in row-major order, as in TensorFlow.

use super::{Run, disjoint};
use crate::program::{Operation, Pool, Window};
use crate::share::{Cut, portion};

impl Pool {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, window) = (run.n, self.window);
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let parts = run.cpu.parts(n * window.output.len() * window.height * window.width, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let samples = y.chunks_exact_mut(window.output.len());
            for (sample, y) in portion(n, parts, part).zip(samples) {
                let x = &x[sample * window.input.len()..][..window.input.len()];
                for (output, y) in y.iter_mut().enumerate() {
                    *y = x[largest(&window, x, output)];
                }
            }
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, window) = (run.n, self.window);
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else {
            return;
        };
        let ranges = [operation.x.range(n), dy.range(n), dx.range(n)];
        let [x, dy, dx] = disjoint(run.values, ranges);
        let (x, dy) = (&*x, &*dy);
        let parts = run.cpu.parts(n * window.output.len() * window.height * window.width, n);
        run.cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
            let samples = dx.chunks_exact_mut(window.input.len());
            for (sample, dx) in portion(n, parts, part).zip(samples) {
                let x = &x[sample * window.input.len()..][..window.input.len()];
                let dy = &dy[sample * window.output.len()..][..window.output.len()];
                dx.fill(0.0);
                for (output, dy) in dy.iter().enumerate() {
                    dx[largest(&window, x, output)] += dy;
                }
            }
        });
    }
}

/// The place in `x` of the first largest value of the window of one output.
fn largest(window: &Window, x: &[f32], output: usize) -> usize {
    let channels = window.input.channels;
    let (pixel, channel) = (output / channels, output % channels);
    let (down, across) = (pixel / window.output.width, pixel % window.output.width);
    let rows = window.covered(0, down);
    let columns = window.covered(1, across);
    let mut best = (rows.start * window.input.width + columns.start) * channels + channel;
    for row in rows {
        for column in columns.clone() {
            let place = (row * window.input.width + column) * channels + channel;
            // Not-a-number wins, so that it is seen further on.
            if x[place] > x[best] || (x[place].is_nan() && !x[best].is_nan()) {
                best = place;
            }
        }
    }
    best
}
