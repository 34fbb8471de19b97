//! Means over windows. Vectors run over channels; each sum is a chain over the window, row by row.

use std::ops::Range;

use crate::program::Window;
use crate::simd::kernel;

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
fn covered(window: &Window, pixel: usize) -> (Range<usize>, Range<usize>) {
    let [row, column] = [pixel / window.output.width, pixel % window.output.width];
    (window.covered(0, row), window.covered(1, column))
}
