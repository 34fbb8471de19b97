//! A grey picture as numbers, and its changes of size.

use crate::image::Picture;

/// Rows of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
}

/// Places from the first to before the last, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) top: usize,
    pub(super) bottom: usize,
    pub(super) left: usize,
    pub(super) right: usize,
}

impl Frame {
    pub(super) fn height(&self) -> usize {
        self.bottom - self.top
    }

    pub(super) fn width(&self) -> usize {
        self.right - self.left
    }

    pub(super) fn longest(&self) -> usize {
        self.height().max(self.width())
    }
}

impl Plane {
    pub(super) fn new(height: usize, width: usize) -> Plane {
        Plane { height, width, values: vec![0.0; height * width] }
    }

    /// How bright a picture is, each number the mean of a square of pixels, so that no side is longer
    /// than `longest`.
    pub(super) fn of(picture: &Picture, longest: usize) -> Plane {
        let factor = picture.height.max(picture.width).div_ceil(longest).max(1);
        let mut plane = Plane::new(picture.height.div_ceil(factor), picture.width.div_ceil(factor));
        for y in 0..plane.height {
            let rows = y * factor..picture.height.min((y + 1) * factor);
            for x in 0..plane.width {
                let columns = x * factor..picture.width.min((x + 1) * factor);
                let count = rows.len() * columns.len();
                let sum: u32 = rows
                    .clone()
                    .flat_map(|row| columns.clone().map(move |column| (row, column)))
                    .map(|(row, column)| u32::from(picture.brightness(row, column)))
                    .sum();
                plane.values[y * plane.width + x] = sum as f32 / count as f32;
            }
        }
        plane
    }

    /// The smallest frame around all numbers of at least `least`.
    pub(super) fn frame(&self, least: f32) -> Option<Frame> {
        let mut frame = Frame { top: self.height, bottom: 0, left: self.width, right: 0 };
        for (y, row) in self.values.chunks_exact(self.width).enumerate() {
            let Some(first) = row.iter().position(|&value| value >= least) else { continue };
            let last = row.iter().rposition(|&value| value >= least).unwrap_or(first);
            (frame.top, frame.bottom) = (frame.top.min(y), y + 1);
            (frame.left, frame.right) = (frame.left.min(first), frame.right.max(last + 1));
        }
        (frame.bottom > 0).then_some(frame)
    }

    /// What lies in a frame and `margin` around it, `factor` times as large; 0 outside the plane.
    pub(super) fn enlarged(&self, frame: Frame, margin: usize, factor: usize) -> Plane {
        let side = |length: usize| (length + 2 * margin) * factor;
        let mut plane = Plane::new(side(frame.height()), side(frame.width()));
        let rows = Between::places(frame.top, margin, factor, plane.height);
        let columns = Between::places(frame.left, margin, factor, plane.width);
        for (row, line) in rows.iter().zip(plane.values.chunks_exact_mut(columns.len())) {
            for (column, value) in columns.iter().zip(line) {
                let at = |y: isize| {
                    let (from, to) = (self.at(y, column.lower), self.at(y, column.lower + 1));
                    from + (to - from) * column.share
                };
                let (from, to) = (at(row.lower), at(row.lower + 1));
                *value = from + (to - from) * row.share;
            }
        }
        plane
    }

    /// The number at a place; 0 outside.
    fn at(&self, y: isize, x: isize) -> f32 {
        match (usize::try_from(y), usize::try_from(x)) {
            (Ok(y), Ok(x)) if y < self.height && x < self.width => self.values[y * self.width + x],
            _ => 0.0,
        }
    }
}

/// A place between two others, and how far it is from the first to the second.
struct Between {
    lower: isize,
    share: f32,
}

impl Between {
    fn places(first: usize, margin: usize, factor: usize, count: usize) -> Vec<Between> {
        let start = first as f32 - margin as f32;
        let place = |at: usize| {
            let exact = start + (at as f32 + 0.5) / factor as f32 - 0.5;
            Between { lower: exact.floor() as isize, share: exact - exact.floor() }
        };
        (0..count).map(place).collect()
    }
}
