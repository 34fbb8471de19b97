//! Softmax over a row. Sums run in the fixed lanes of [`math::sum`].

use crate::math;
use crate::simd::{Isa, Plain};

/// Logits become probabilities.
pub(crate) fn forward(isa: Isa, row: &mut [f32]) {
    isa.run(Plain(|| {
        let top = largest(row);
        for value in row.iter_mut() {
            *value = math::exp(*value - top);
        }
        let total = math::sum(row.len(), |i| row[i]);
        for value in row.iter_mut() {
            *value /= total;
        }
    }));
}

/// From the gradient of the probabilities `y` to that of the logits.
pub(crate) fn backward(isa: Isa, y: &[f32], d: &mut [f32]) {
    isa.run(Plain(|| {
        let mean = math::sum(y.len(), |i| y[i] * d[i]);
        for (d, y) in d.iter_mut().zip(y) {
            *d = y * (*d - mean);
        }
    }));
}

/// ln Σ e^z.
pub(crate) fn logarithm_of_sum(isa: Isa, logits: &[f32]) -> f32 {
    isa.run(Plain(|| {
        let top = largest(logits);
        top + math::ln(math::sum(logits.len(), |i| math::exp(logits[i] - top)))
    }))
}

fn largest(row: &[f32]) -> f32 {
    row.iter()
        .fold(f32::NEG_INFINITY, |top, &v| if v > top { v } else { top })
}
