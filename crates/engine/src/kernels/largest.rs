//! The largest values of windows. Vectors run over channels; of equals the first counts, row by row, and
//! not-a-number wins, so that it is seen further on.

use super::block::{BLOCK, load};
use crate::program::Window;
use crate::simd::kernel;

kernel! {
    /// y = the largest value of each window of one picture.
    fn forward<'a>(window: Window, x: &'a [f32], y: &'a mut [f32]) {
        let channels = window.input.channels;
        for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
            let mut first = true;
            for row in window.covered(0, pixel / window.output.width) {
                for column in window.covered(1, pixel % window.output.width) {
                    let from = (row * window.input.width + column) * channels;
                    let x = &x[from..from + channels];
                    if first {
                        y.copy_from_slice(x);
                        first = false;
                        continue;
                    }
                    for (y, x) in y.iter_mut().zip(x) {
                        *y = if beats(*x, *y) { *x } else { *y };
                    }
                }
            }
        }
    }
}

kernel! {
    /// The gradient of each output goes to the value that it was.
    fn backward<'a>(window: Window, x: &'a [f32], dy: &'a [f32], dx: &'a mut [f32]) {
        let channels = window.input.channels;
        dx.fill(0.0);
        for (pixel, dy) in dy.chunks_exact(channels).enumerate() {
            let at = [pixel / window.output.width, pixel % window.output.width];
            for start in (0..channels).step_by(BLOCK) {
                let len = BLOCK.min(channels - start);
                // What is known to be whole stays in registers.
                if len == BLOCK {
                    give_one(window, at, [&x[start..], &dy[start..]], &mut dx[start..], BLOCK);
                } else {
                    give_one(window, at, [&x[start..], &dy[start..]], &mut dx[start..], len);
                }
            }
        }
    }
}

/// Some channels of one output's gradient.
#[inline(always)]
fn give_one(window: Window, at: [usize; 2], [x, dy]: [&[f32]; 2], dx: &mut [f32], len: usize) {
    let [rows, columns] = [0, 1].map(|axis| window.covered(axis, at[axis]));
    let mut best = [f32::NEG_INFINITY; BLOCK];
    let mut chosen = [0.0f32; BLOCK];
    let mut tap = 0.0;
    for row in rows.clone() {
        for column in columns.clone() {
            let from = (row * window.input.width + column) * window.input.channels;
            choose(&x[from..from + len], &mut best, &mut chosen, tap);
            tap += 1.0;
        }
    }
    tap = 0.0;
    for row in rows {
        for column in columns.clone() {
            let to = (row * window.input.width + column) * window.input.channels;
            give(&dy[..len], &chosen, tap, &mut dx[to..to + len]);
            tap += 1.0;
        }
    }
}

/// Compares the values of a tap with the largest so far.
#[inline(always)]
fn choose(x: &[f32], best: &mut [f32; BLOCK], chosen: &mut [f32; BLOCK], tap: f32) {
    let x = load(x);
    for i in 0..BLOCK {
        let wins = (tap == 0.0) | beats(x[i], best[i]);
        best[i] = if wins { x[i] } else { best[i] };
        chosen[i] = if wins { tap } else { chosen[i] };
    }
}

/// Gives the gradients to the values of the tap that were chosen.
#[inline(always)]
fn give(dy: &[f32], chosen: &[f32; BLOCK], tap: f32, dx: &mut [f32]) {
    for ((dx, dy), chosen) in dx.iter_mut().zip(dy).zip(chosen) {
        *dx += if *chosen == tap { *dy } else { 0.0 };
    }
}

/// Whether a value takes the place of the largest so far. Without branches, which vectors have not.
#[inline(always)]
fn beats(value: f32, best: f32) -> bool {
    (value > best) | (value.is_nan() & !best.is_nan())
}
