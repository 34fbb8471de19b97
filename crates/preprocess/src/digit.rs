//! A digit that somebody drew or photographed becomes a sample as MNIST has them.
//!
//! MNIST's digits are light on dark. Each was scaled, with its shape kept, to fit 20 by 20 pixels, and
//! put into 28 by 28 so that its centre of mass is in the middle; strokes are two to four pixels wide. A
//! network trained on such samples knows no others, so whatever comes is first told from its ground
//! ([`ground`]), freed from dust ([`specks`]), brought to such strokes ([`distance`]), and then scaled
//! and placed as MNIST's were.

mod distance;
mod ground;
mod place;
mod plane;
mod specks;

use crate::image::Picture;
use plane::Plane;

/// The side of a sample, and of the square in it that a digit fills.
const SIDE: usize = 28;
const FILLED: f32 = 20.0;
/// Strokes of MNIST, in pixels of a sample: all but a few are in between.
const THINNEST: f32 = 2.2;
const THICKEST: f32 = 4.5;
/// A picture is looked at with at most this many pixels a side: enough to find a digit in a photo.
const LONGEST_SIDE: usize = 512;
/// A digit is looked at with at least this many, so that its edges are smooth.
const DIGIT_SIDE: usize = 128;

/// A picture of a digit, dark on light or light on dark, as the 28 by 28 bytes of a sample of MNIST.
pub fn digit(picture: Picture) -> Result<Vec<u8>, String> {
    if let Some(sample) = place::already(&picture) {
        return Ok(sample);
    }
    drawn(&Plane::of(&picture, LONGEST_SIDE)).ok_or("there is nothing drawn in it".to_owned())
}

fn drawn(plane: &Plane) -> Option<Vec<u8>> {
    let mut ink = ground::ink(plane)?;
    specks::remove(&mut ink);
    let frame = ink.frame(0.5)?;
    let margin = frame.longest() / 8 + 2;
    let factor = DIGIT_SIDE.div_ceil(frame.longest());
    let ink = ink.enlarged(frame, margin, factor);
    let length = ink.frame(0.5)?.longest() as f32;
    let mut from_edge = distance::from_edge(&ink);
    let stroke = distance::stroke(&from_edge);
    let wider = widening(length, stroke);
    from_edge.values.iter_mut().for_each(|d| *d = (*d + wider + 0.5).clamp(0.0, 1.0));
    place::sample(&from_edge)
}

/// By how much the edge of a digit has to go outwards for its strokes to be as MNIST's, where its
/// longest side and its strokes are this long and this wide.
fn widening(length: f32, stroke: f32) -> f32 {
    let wide = stroke * FILLED / length;
    let wanted = wide.clamp(THINNEST, THICKEST);
    // A dot has no strokes.
    if wanted == wide || length < 2.0 * stroke {
        return 0.0;
    }
    // What the line in a stroke's middle fills stays the same; the digit grows by what its strokes do.
    let scale = (FILLED - wanted) / (length - stroke);
    (wanted / scale - stroke) / 2.0
}

#[cfg(test)]
mod tests;
