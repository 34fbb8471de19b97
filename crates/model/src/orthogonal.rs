//! Matrices whose columns are of length one and at right angles, as Keras makes them: the Q of a
//! normal matrix's QR decomposition, R's diagonal being positive.
//!
//! Columns are made orthogonal one after another, each twice (Gram and Schmidt), in `f64` and with
//! additions, multiplications, divisions and roots in a fixed order: the same bits on every machine.

use random::Key;

/// Lanes of a sum, so that it need not wait for each addition.
const LANES: usize = 8;

/// Fills a `rows` × `columns` matrix.
pub(crate) fn fill(values: &mut [f32], rows: usize, columns: usize, key: Key) {
    let (long, short) = (rows.max(columns), rows.min(columns));
    if values.is_empty() {
        return;
    }
    let mut q: Vec<f64> = (0..values.len() as u64).map(|i| f64::from(key.normal(i))).collect();
    for column in 0..short {
        let (before, rest) = q.split_at_mut(column * long);
        let this = &mut rest[..long];
        for _ in 0..2 {
            for other in before.chunks_exact(long) {
                let along = dot(other, this);
                this.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
            }
        }
        let length = dot(this, this).sqrt();
        this.iter_mut().for_each(|x| *x /= length);
    }
    for (i, value) in values.iter_mut().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let place = if rows >= columns { column * long + row } else { row * long + column };
        *value = q[place] as f32;
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for (left, right) in left.chunks(LANES).zip(right.chunks(LANES)) {
        for (lane, (l, r)) in lanes.iter_mut().zip(left.iter().zip(right)) {
            *lane += l * r;
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use random::Purpose;

    use super::*;

    #[test]
    fn rows_or_columns_are_at_right_angles() {
        for (rows, columns) in [(5, 15), (15, 5), (6, 6), (1, 3), (3, 1), (64, 192)] {
            let mut values = vec![0.0; rows * columns];
            fill(&mut values, rows, columns, Key::new(3, Purpose::Init));
            let at = |r: usize, c: usize| f64::from(values[r * columns + c]);
            let short = rows.min(columns);
            for a in 0..short {
                for b in 0..short {
                    let product: f64 = match rows < columns {
                        true => (0..columns).map(|c| at(a, c) * at(b, c)).sum(),
                        false => (0..rows).map(|r| at(r, a) * at(r, b)).sum(),
                    };
                    let expected = f64::from(u8::from(a == b));
                    assert!(
                        (product - expected).abs() < 1e-6,
                        "{rows}×{columns}: {a} {b} {product}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_numbers_never_change() {
        let mut values = vec![0.0; 12];
        fill(&mut values, 2, 6, Key::new(3, Purpose::Init));
        let hash = "909986a0ac714a7ab2b4abd870f373a417c214ba040c21fd18020e9e0f2414fb";
        assert_eq!(crate::weights_sha256(&values), hash);
    }
}
