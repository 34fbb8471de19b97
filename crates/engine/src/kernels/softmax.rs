//! Softmax over a row. Sums run in the fixed lanes of [`math::sum`].

use crate::math;
use crate::simd::kernel;

kernel! {
    /// Logits become probabilities. Gives the largest logit z* and ln Σ e^(z - z*), from which the
    /// loss is made; their sum would round away what is small beside z*.
    fn forward<'a>(row: &'a mut [f32]) -> (f32, f32) {
        let top = row.iter().fold(f32::NEG_INFINITY, |top, &v| if v > top { v } else { top });
        for value in row.iter_mut() {
            *value = math::exp(*value - top);
        }
        let total = math::sum(row);
        for value in row.iter_mut() {
            *value /= total;
        }
        (top, math::ln(total))
    }
}

kernel! {
    /// From the gradient `d` of the probabilities `y` to that of the logits.
    fn backward<'a>(y: &'a [f32], d: &'a mut [f32]) {
        let mean = math::dot(y, d);
        for (d, y) in d.iter_mut().zip(y) {
            *d = y * (*d - mean);
        }
    }
}
