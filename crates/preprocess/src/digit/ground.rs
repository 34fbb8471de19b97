//! What is drawn, told from what it is drawn on.
//!
//! The ground is what a picture's border is mostly made of; ink is what differs from it most, to the
//! dark or to the light. Paper in a photo is brighter here and darker there: a smooth surface is laid
//! through the ground, and only what differs from it is ink.

use super::plane::Plane;

/// Ink that differs less from the ground, of 255, is none.
const FAINTEST: f32 = 12.0;
/// Nor is ink that differs from it less than this many times the ground's noise.
const NOISES: f32 = 6.0;
/// A ground whose levels differ by less is flat.
const FLAT: f32 = 3.0;
/// One pixel of so many may be wrong without being taken for ink.
const RARE: usize = 20_000;

/// How much ink there is at each place, from 0 to 1; none where nothing is drawn.
pub(super) fn ink(plane: &Plane) -> Option<Plane> {
    let border = border(plane);
    let ground = border[border.len() / 2];
    let (darkest, lightest) = extremes(plane);
    let is_dark = ground - darkest >= lightest - ground;
    // From here on, the ground is 0 and ink is above it.
    let differs = |value: f32| if is_dark { ground - value } else { value - ground };
    let mut ink = Plane { values: plane.values.iter().map(|&v| differs(v)).collect(), ..*plane };
    let spread = border[border.len() * 9 / 10] - border[border.len() / 10];
    if spread > FLAT {
        level(&mut ink, (ground - darkest).max(lightest - ground));
    }
    let strength = strength(&ink);
    let noise = noise(&ink);
    if strength < FAINTEST || strength < NOISES * noise {
        return None;
    }
    // As much is cut above as below, so that the middle of an edge stays where it is.
    let cut = (4.0 * noise / strength).clamp(0.1, 0.4);
    let scaled = |v: &f32| ((v / strength - cut) / (1.0 - 2.0 * cut)).clamp(0.0, 1.0);
    ink.values = ink.values.iter().map(scaled).collect();
    Some(ink)
}

/// The levels in a band along all four sides, sorted.
fn border(plane: &Plane) -> Vec<f32> {
    let Plane { height, width, .. } = *plane;
    let band = (height.min(width) / 24).max(1);
    let inside = |y: usize, x: usize| {
        (band..height.saturating_sub(band)).contains(&y)
            && (band..width.saturating_sub(band)).contains(&x)
    };
    let numbered = plane.values.iter().enumerate();
    let levels = numbered.filter(|(at, _)| !inside(at / width, at % width)).map(|(_, &v)| v);
    sorted(levels.collect())
}

/// The darkest and the lightest level, but for a few pixels.
fn extremes(plane: &Plane) -> (f32, f32) {
    let levels = sorted(plane.values.clone());
    let few = levels.len() / RARE;
    (levels[few], levels[levels.len() - 1 - few])
}

/// How strong ink is: the level of most of it.
fn strength(ink: &Plane) -> f32 {
    let strongest = extremes(ink).1;
    let strong = sorted(ink.values.iter().copied().filter(|&v| v > strongest / 2.0).collect());
    strong.get(strong.len() / 2).copied().unwrap_or(0.0)
}

/// How far the ground is from being level: the deviation that its median tells.
fn noise(ink: &Plane) -> f32 {
    let levels = sorted(border(ink).iter().map(|v| v.abs()).collect());
    1.48 * levels[levels.len() / 2]
}

fn sorted(mut levels: Vec<f32>) -> Vec<f32> {
    levels.sort_unstable_by(f32::total_cmp);
    levels
}

/// The terms of the surface: it is at most bent.
const TERMS: usize = 6;

/// Takes from each level that of a smooth surface through the ground. What is far above the surface
/// is ink and has no say; after a few rounds, that is all ink and nothing else.
fn level(ink: &mut Plane, strongest: f32) {
    let mut most = strongest / 2.0;
    for _ in 0..5 {
        let Some(surface) = surface(ink, most) else { return };
        let width = ink.width;
        for (at, value) in ink.values.iter_mut().enumerate() {
            let terms = terms(at / width, at % width, width);
            *value -= terms.iter().zip(&surface).map(|(t, s)| t * s).sum::<f64>() as f32;
        }
        most = (4.0 * noise(ink)).max(extremes(ink).1 / 5.0);
    }
}

fn terms(y: usize, x: usize, width: usize) -> [f64; TERMS] {
    let (y, x) = (y as f64 / width as f64, x as f64 / width as f64);
    [1.0, y, x, y * y, y * x, x * x]
}

/// The surface nearest to all levels that are at most `most`, by least squares.
fn surface(ink: &Plane, most: f32) -> Option<[f64; TERMS]> {
    let mut sums = [[0.0; TERMS + 1]; TERMS];
    for (at, &value) in ink.values.iter().enumerate().filter(|(_, value)| **value <= most) {
        let terms = terms(at / ink.width, at % ink.width, ink.width);
        for (row, term) in sums.iter_mut().zip(terms) {
            for (sum, other) in row.iter_mut().zip(terms.iter().chain([&f64::from(value)])) {
                *sum += term * other;
            }
        }
    }
    solve(sums)
}

/// Solves linear equations whose right sides are in the last column.
fn solve(mut rows: [[f64; TERMS + 1]; TERMS]) -> Option<[f64; TERMS]> {
    for pivot in 0..TERMS {
        let best = (pivot..TERMS)
            .max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()))?;
        rows.swap(pivot, best);
        let lead = rows[pivot];
        if lead[pivot].abs() < 1e-9 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
            let share = row[pivot] / lead[pivot];
            for (value, lead) in row.iter_mut().zip(lead) {
                *value -= share * lead;
            }
        }
    }
    Some(std::array::from_fn(|at| rows[at][TERMS] / rows[at][at]))
}
