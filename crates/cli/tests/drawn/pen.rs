//! Strokes become pixels.

use super::strokes::{Point, Strokes};

/// A pen: how wide its lines are, in pixels, and whether their edges are smooth.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    pub width: f32,
    pub smooth: bool,
}

/// How much of each pixel is ink, from 0 to 1, on a canvas of a height and a width.
pub fn draw(strokes: &Strokes, pen: Pen, (height, width): (usize, usize)) -> Vec<f32> {
    let mut canvas = vec![0.0; height * width];
    for line in strokes.iter().flat_map(|stroke| stroke.windows(2)) {
        let [from, to] = [line[0], line[1]];
        let reach = pen.width / 2.0 + 1.0;
        let range = |axis: usize, most: usize| {
            let (least, greatest) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
            (least - reach).max(0.0) as usize..most.min((greatest + reach).max(0.0) as usize + 1)
        };
        for y in range(1, height) {
            for x in range(0, width) {
                let away = distance([x as f32 + 0.5, y as f32 + 0.5], from, to);
                let covered = (pen.width / 2.0 - away + 0.5).clamp(0.0, 1.0);
                let ink = if pen.smooth { covered } else { covered.round() };
                let place: &mut f32 = &mut canvas[y * width + x];
                *place = place.max(ink);
            }
        }
    }
    canvas
}

/// How far a place is from a straight line between two others.
fn distance(place: Point, from: Point, to: Point) -> f32 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let square = (along[0] * along[0] + along[1] * along[1]).max(1e-6);
    let dot = (place[0] - from[0]) * along[0] + (place[1] - from[1]) * along[1];
    let share = (dot / square).clamp(0.0, 1.0);
    (place[0] - from[0] - share * along[0]).hypot(place[1] - from[1] - share * along[1])
}
