//! Rows of numbers, each brought to length 1. Sums run in the fixed lanes of [`math::sum`].

use crate::math;
use crate::simd::kernel;

/// Rows whose sum of squares is below this are so short that they have no direction. Keras 3's bound.
const SHORTEST: f32 = 1e-24;

kernel! {
    /// y = x / √Σx², row by row.
    fn forward<'a>(row: usize, x: &'a [f32], y: &'a mut [f32]) {
        for (x, y) in x.chunks_exact(row).zip(y.chunks_exact_mut(row)) {
            let square = math::dot(x, x);
            let inverse = 1.0 / (if square < SHORTEST { SHORTEST } else { square }).sqrt();
            for (y, x) in y.iter_mut().zip(x) {
                *y = x * inverse;
            }
        }
    }
}

kernel! {
    /// dx = (dy − y·Σ y·dy) / √Σx². A row without a direction has no gradient either.
    fn backward<'a>(row: usize, values: [&'a [f32]; 2], dx: &'a mut [f32]) {
        let [x, dy] = values;
        let rows = x.chunks_exact(row).zip(dy.chunks_exact(row));
        for ((x, dy), dx) in rows.zip(dx.chunks_exact_mut(row)) {
            let square = math::dot(x, x);
            if square < SHORTEST {
                dx.fill(0.0);
                continue;
            }
            let inverse = 1.0 / square.sqrt();
            let along = math::dot(x, dy) * inverse * inverse;
            for ((dx, dy), x) in dx.iter_mut().zip(dy).zip(x) {
                *dx = x.mul_add(-along, *dy) * inverse;
            }
        }
    }
}
