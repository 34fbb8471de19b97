//! A digit is scaled and put in its place, as MNIST's were.

use super::plane::{Frame, Plane};
use super::{FILLED, SIDE};
use crate::image::Picture;

/// The middle of a sample's middle pixel, where MNIST's centres of mass are, give or take a half.
const MIDDLE: f32 = 14.5;

/// The bytes of a picture that is a sample already, dark on light or light on dark.
pub(super) fn already(picture: &Picture) -> Option<Vec<u8>> {
    if (picture.height, picture.width) != (SIDE, SIDE) {
        return None;
    }
    let plane = Plane::of(picture, SIDE);
    let is_light = |at: usize| plane.values[at] >= 128.0;
    let ends = [0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1];
    let invert = ends.into_iter().filter(|&at| is_light(at)).count() > ends.len() / 2;
    let values = plane.values.iter().map(|&v| if invert { 255.0 - v } else { v });
    let plane = Plane { values: values.collect(), ..plane };
    let Frame { top, bottom, left, right } = plane.frame(1.0)?;
    let fills = (bottom - top).max(right - left) as f32 == FILLED;
    let (y, x) = centre(&plane)?;
    // The half pixel of rounding, and a little more.
    let middle = |place: f32| (place - MIDDLE).abs() <= 0.51;
    let bytes = || plane.values.iter().map(|&v| v as u8).collect();
    (fills && middle(y) && middle(x)).then(bytes)
}

/// The sample of ink from 0 to 1.
pub(super) fn sample(ink: &Plane) -> Option<Vec<u8>> {
    // With the soft outer edge, so that no more than the square is filled.
    let frame = ink.frame(f32::MIN_POSITIVE)?;
    let pixel = frame.longest() as f32 / FILLED;
    let (y, x) = centre(ink)?;
    let rows = Places { start: start(frame.top, y, pixel), pixel };
    let columns = Places { start: start(frame.left, x, pixel), pixel };
    // Rows first, then columns: both are means over a pixel of the sample.
    let mut narrow = Plane::new(ink.height, SIDE);
    for (wide, narrow) in
        ink.values.chunks_exact(ink.width).zip(narrow.values.chunks_exact_mut(SIDE))
    {
        (0..SIDE).for_each(|at| narrow[at] = columns.mean(at, |place| wide.get(place).copied()));
    }
    let mut values = vec![0.0; SIDE * SIDE];
    for (at, value) in values.iter_mut().enumerate() {
        let column = at % SIDE;
        let get = |place: usize| narrow.values.get(place * SIDE + column).copied();
        *value = rows.mean(at / SIDE, get);
    }
    let strongest = values.iter().copied().fold(0.0, f32::max);
    Some(values.iter().map(|value| (value / strongest * 255.0 + 0.5) as u8).collect())
}

/// Where a sample begins: its pixels begin where the digit does, and are moved whole, until the
/// centre of mass is in the middle one.
fn start(first: usize, centre: f32, pixel: f32) -> f32 {
    let first = first as f32;
    let shift = (MIDDLE - (centre - first) / pixel).round();
    first - shift * pixel
}

/// The centre of mass, from the top and from the left.
fn centre(plane: &Plane) -> Option<(f32, f32)> {
    let (mut sum, mut down, mut right) = (0.0, 0.0, 0.0);
    for (at, &value) in plane.values.iter().enumerate() {
        let value = f64::from(value);
        sum += value;
        down += value * ((at / plane.width) as f64 + 0.5);
        right += value * ((at % plane.width) as f64 + 0.5);
    }
    (sum > 0.0).then(|| ((down / sum) as f32, (right / sum) as f32))
}

/// Where the pixels of a sample lie in a larger plane, in one direction.
struct Places {
    start: f32,
    pixel: f32,
}

impl Places {
    /// The mean over one pixel of the sample; what is outside is 0.
    fn mean(&self, at: usize, get: impl Fn(usize) -> Option<f32>) -> f32 {
        let from = self.start + at as f32 * self.pixel;
        let to = from + self.pixel;
        let places = from.max(0.0) as usize..to.max(0.0).ceil() as usize;
        let sum: f32 = places
            .filter_map(|place| {
                let share = to.min(place as f32 + 1.0) - from.max(place as f32);
                get(place).map(|value| value * share.max(0.0))
            })
            .sum();
        sum / self.pixel
    }
}
