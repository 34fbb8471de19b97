//! The triplet loss: max(|a − p|² − |a − n|² + alpha, 0), where the pictures of anchor, positive and
//! negative follow one another.

use super::super::{Run, disjoint};
use crate::Outcome;
use crate::program::Head;

/// How many pictures a triplet has.
const PICTURES: usize = 3;

impl Head {
    /// The loss of a batch's triplets, summed; and its gradient times `scale`, where one is wanted.
    pub(super) fn judge_triplets(&self, run: &mut Run<'_>, scale: Option<f32>) -> Outcome {
        let mut outcome = Outcome::default();
        let len = self.y.len;
        let of = |offset: usize, triplet: usize| {
            offset + PICTURES * len * triplet..offset + PICTURES * len * (triplet + 1)
        };
        for triplet in 0..run.n / PICTURES {
            let [a, p, n] = parts(&run.values[of(self.y.offset, triplet)], len);
            let (near, far) = (distance(a, p), distance(a, n));
            let cost = near - far + self.alpha;
            // Written so that not-a-number stays.
            let cost = if cost <= 0.0 { 0.0 } else { cost };
            outcome.loss += f64::from(cost);
            outcome.correct += u32::from(near < far);
            outcome.samples += 1;
            let (Some(scale), Some(dx)) = (scale, self.dx) else { continue };
            let [y, dx] =
                disjoint(run.values, [of(self.y.offset, triplet), of(dx.offset, triplet)]);
            let slope = if cost == 0.0 { 0.0 } else { 2.0 * scale };
            gradient(parts(y, len), dx, slope);
        }
        outcome
    }
}

fn parts(y: &[f32], len: usize) -> [&[f32]; PICTURES] {
    [&y[..len], &y[len..2 * len], &y[2 * len..]]
}

/// The square of the distance.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
}

/// Half the slopes are n − p for the anchor, p − a for the positive and a − n for the negative.
fn gradient([a, p, n]: [&[f32]; PICTURES], dx: &mut [f32], slope: f32) {
    let len = a.len();
    for i in 0..len {
        dx[i] = slope * (n[i] - p[i]);
        dx[len + i] = slope * (p[i] - a[i]);
        dx[2 * len + i] = slope * (a[i] - n[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positive_is_drawn_near_and_the_negative_pushed_away() {
        let (a, p, n) = ([1.0, 2.0], [2.0, 0.0], [0.0, 2.5]);
        assert_eq!((distance(&a, &p), distance(&a, &n)), (5.0, 1.25));
        let mut dx = [0.0; 6];
        gradient([&a, &p, &n], &mut dx, 2.0);
        assert_eq!(dx, [-4.0, 5.0, 2.0, -4.0, 2.0, -1.0]);
    }
}
