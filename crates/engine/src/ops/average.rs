//! The mean of each window, of the pixels that are inside the picture, as in TensorFlow.

use super::{Run, disjoint};
use crate::program::{Average, Operation, Window};
use crate::share::{Cut, portion};
use crate::simd::kernel;

impl Average {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (x_len, y_len) = (window.input.len(), window.output.len());
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let parts = run.cpu.parts(n * x_len, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            for (sample, y) in portion(n, parts, part).zip(y.chunks_exact_mut(y_len)) {
                means(isa, window, &x[sample * x_len..][..x_len], y);
            }
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
        let (n, isa, window) = (run.n, run.cpu.isa(), self.window);
        let (x_len, y_len) = (window.input.len(), window.output.len());
        let [dy, dx] = disjoint(run.values, [dy.range(n), dx.range(n)]);
        let dy = &*dy;
        let parts = run.cpu.parts(n * x_len, n);
        run.cpu.each(parts, Cut::new(dx, n, parts), |part, dx| {
            for (sample, dx) in portion(n, parts, part).zip(dx.chunks_exact_mut(x_len)) {
                spread(isa, window, &dy[sample * y_len..][..y_len], dx);
            }
        });
    }
}

kernel! {
    /// y = the mean over each window.
    fn means<'a>(window: Window, x: &'a [f32], y: &'a mut [f32]) {
        let channels = window.input.channels;
        for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
            let (rows, columns) = covered(&window, pixel);
            let count = (rows.len() * columns.len()) as f32;
            y.fill(0.0);
            for row in rows {
                for column in columns.clone() {
                    let from = (row * window.input.width + column) * channels;
                    for (y, x) in y.iter_mut().zip(&x[from..from + channels]) {
                        *y += x;
                    }
                }
            }
            for y in y.iter_mut() {
                *y /= count;
            }
        }
    }
}

kernel! {
    /// Gives each pixel of a window its share of the gradient.
    fn spread<'a>(window: Window, dy: &'a [f32], dx: &'a mut [f32]) {
        let channels = window.input.channels;
        dx.fill(0.0);
        for (pixel, dy) in dy.chunks_exact(channels).enumerate() {
            let (rows, columns) = covered(&window, pixel);
            let count = (rows.len() * columns.len()) as f32;
            for row in rows {
                for column in columns.clone() {
                    let to = (row * window.input.width + column) * channels;
                    for (dx, dy) in dx[to..to + channels].iter_mut().zip(dy) {
                        *dx += dy / count;
                    }
                }
            }
        }
    }
}

/// The rows and columns that the window of an output covers.
#[inline(always)]
fn covered(window: &Window, pixel: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let [row, column] = [pixel / window.output.width, pixel % window.output.width];
    (window.covered(0, row), window.covered(1, column))
}
