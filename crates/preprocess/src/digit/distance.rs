//! How far each place is from the edge of what is drawn: with that, strokes are made thicker or thinner.

use super::plane::Plane;

/// Ink of at least this much is inside.
const EDGE: f32 = 0.5;
/// Farther than any place of a plane is from another.
const FAR: f32 = 1e12;

/// The distance from the edge: above 0 inside, below 0 outside.
pub(super) fn from_edge(ink: &Plane) -> Plane {
    let to_outside = to_nearest(ink, |value| value < EDGE);
    let to_inside = to_nearest(ink, |value| value >= EDGE);
    let both = to_outside.values.iter().zip(&to_inside.values);
    // Distances are between the middles of pixels; the edge lies half-way.
    let values = both
        .map(|(&outside, &inside)| match outside > 0.0 {
            true => outside.sqrt() - 0.5,
            false => 0.5 - inside.sqrt(),
        })
        .collect();
    Plane { values, ..*ink }
}

/// How thick strokes are: places across a stroke are on average a quarter of its width from its edge.
pub(super) fn stroke(from_edge: &Plane) -> f32 {
    let inside = || from_edge.values.iter().filter(|&&distance| distance > 0.0);
    4.0 * inside().sum::<f32>() / inside().count().max(1) as f32
}

/// The squared distance from each place to the nearest that is wanted: the lower envelope of parabolas,
/// first along columns, then along rows.
fn to_nearest(plane: &Plane, is_wanted: impl Fn(f32) -> bool) -> Plane {
    let start = plane.values.iter().map(|&value| if is_wanted(value) { 0.0 } else { FAR });
    let mut squares = Plane { values: start.collect(), ..*plane };
    for x in 0..plane.width {
        let column: Vec<f32> =
            squares.values.iter().skip(x).step_by(plane.width).copied().collect();
        let places = squares.values.iter_mut().skip(x).step_by(plane.width);
        places.zip(envelope(&column)).for_each(|(place, square)| *place = square);
    }
    for row in squares.values.chunks_exact_mut(plane.width) {
        let nearest = envelope(row);
        row.copy_from_slice(&nearest);
    }
    squares
}

/// For each place, the least of all places' values plus the square of the way there.
fn envelope(values: &[f32]) -> Vec<f32> {
    let height = |at: usize| f64::from(values[at]) + (at * at) as f64;
    // Whose parabola is lowest, and from where on.
    let mut lowest: Vec<(usize, f64)> = vec![];
    for at in 0..values.len() {
        let mut from = f64::NEG_INFINITY;
        while let Some(&(last, since)) = lowest.last() {
            from = (height(at) - height(last)) / (2 * (at - last)) as f64;
            if from > since {
                break;
            }
            lowest.pop();
            from = f64::NEG_INFINITY;
        }
        lowest.push((at, from));
    }
    let mut now = 0;
    let square = |at: usize| {
        while lowest.get(now + 1).is_some_and(|&(_, since)| since < at as f64) {
            now += 1;
        }
        let away = at.abs_diff(lowest[now].0);
        values[lowest[now].0] + (away * away) as f32
    };
    (0..values.len()).map(square).collect()
}
