//! What lies about a drawing and is no part of it: dust, noise, the lines of paper.

use super::plane::Plane;

/// Where there is this much ink or more, neighbours hang together.
const LEAST: f32 = 0.25;
/// A piece whose strongest ink is below this is no ink at all.
const WEAKEST: f32 = 0.6;
/// A piece this much smaller than the largest is a speck.
const SMALLEST: f32 = 0.03;

/// Ink that hangs together: where, and how much it is.
struct Piece {
    places: Vec<usize>,
    sum: f32,
    strongest: f32,
}

/// Removes specks.
pub(super) fn remove(ink: &mut Plane) {
    let pieces = pieces(ink);
    let strong = |piece: &&Piece| piece.strongest >= WEAKEST;
    let largest = pieces.iter().filter(strong).map(|piece| piece.sum).fold(0.0, f32::max);
    let mut kept = vec![0.0; ink.values.len()];
    for piece in pieces.iter().filter(strong).filter(|piece| piece.sum >= SMALLEST * largest) {
        for &at in &piece.places {
            kept[at] = ink.values[at];
        }
    }
    ink.values = kept;
}

fn pieces(ink: &Plane) -> Vec<Piece> {
    let mut seen = vec![false; ink.values.len()];
    let mut pieces = vec![];
    for start in 0..ink.values.len() {
        if seen[start] || ink.values[start] < LEAST {
            continue;
        }
        seen[start] = true;
        let mut places = vec![start];
        let mut next = 0;
        while let Some(&at) = places.get(next) {
            next += 1;
            for neighbour in neighbours(ink, at) {
                if !seen[neighbour] && ink.values[neighbour] >= LEAST {
                    seen[neighbour] = true;
                    places.push(neighbour);
                }
            }
        }
        let values = || places.iter().map(|&at| ink.values[at]);
        let (sum, strongest) = (values().sum(), values().fold(0.0, f32::max));
        pieces.push(Piece { places, sum, strongest });
    }
    pieces
}

/// The places beside a place and at its corners.
fn neighbours(ink: &Plane, at: usize) -> impl Iterator<Item = usize> + use<> {
    let (height, width) = (ink.height, ink.width);
    let (y, x) = (at / width, at % width);
    let rows = y.saturating_sub(1)..height.min(y + 2);
    rows.flat_map(move |y| (x.saturating_sub(1)..width.min(x + 2)).map(move |x| y * width + x))
}
