//! The bytes of an image file become pixels.
//!
//! What a file is, its first bytes say, not its name: JPEG, PNG, GIF (the first picture), BMP, or
//! Netpbm (PBM, PGM, PPM). It is turned upright as its EXIF data says. Alpha is dropped and 16 bits are
//! cut to 8, as TensorFlow does; only of a drawing is alpha looked at. No file is trusted: how large a
//! picture is, is looked at before it is decoded.

mod bmp;
mod colour;
mod encode;
mod exif;
mod gif;
mod jpeg;
mod netpbm;
mod png;
mod resize;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::form::Pixels;
use colour::Alpha;

/// A decoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Numbers of a pixel: 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// All pixels, row after row.
    pub bytes: Vec<u8>,
}

/// A picture of more pixels, or with a longer side, is refused: it would take 200 MB and more.
const MOST_PIXELS: usize = 64 << 20;
const LONGEST_SIDE: usize = 32 << 10;

impl Picture {
    /// Decodes an image file.
    pub fn decode(bytes: &[u8]) -> Result<Picture, String> {
        caught(bytes, Alpha::Dropped)
    }

    /// Decodes an image file as a person sees it: what is transparent shows the paper behind it, and
    /// that is white unless only light colours are drawn on it.
    pub fn decode_drawing(bytes: &[u8]) -> Result<Picture, String> {
        caught(bytes, Alpha::Seen)
    }

    /// How bright a pixel is.
    pub(crate) fn brightness(&self, row: usize, column: usize) -> u8 {
        let at = self.channels * (row * self.width + column);
        match &self.bytes[at..at + self.channels] {
            &[red, green, blue] => colour::brightness(&[red, green, blue]),
            grey => grey[0],
        }
    }
}

impl Pixels {
    /// An image file as a sample: its pixels, row after row, each byte rounded to the nearest.
    pub fn sample(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        Ok(self.fit(Picture::decode(bytes)?))
    }

    /// A decoded picture as a sample.
    pub fn fit(&self, picture: Picture) -> Vec<u8> {
        let picture = colour::convert(picture, self.color);
        resize::bilinear(picture, self.height, self.width)
    }
}

/// A decoder that panics over a file has said that it cannot read it.
fn caught(bytes: &[u8], alpha: Alpha) -> Result<Picture, String> {
    catch_unwind(AssertUnwindSafe(|| decode(bytes, alpha)))
        .unwrap_or_else(|_| Err("its decoder gave up".to_owned()))
}

fn decode(bytes: &[u8], alpha: Alpha) -> Result<Picture, String> {
    let (picture, orientation) = match bytes {
        [] => return Err("it is empty".to_owned()),
        [0xff, 0xd8, ..] => jpeg::decode(bytes)?,
        [0x89, b'P', b'N', b'G', ..] => png::decode(bytes, alpha)?,
        [b'G', b'I', b'F', b'8', ..] => (gif::decode(bytes, alpha)?, 1),
        [b'B', b'M', ..] => (bmp::decode(bytes, alpha)?, 1),
        [b'P', b'1'..=b'6', ..] => (netpbm::decode(bytes)?, 1),
        _ => return Err("it is no JPEG, PNG, GIF, BMP or Netpbm file".to_owned()),
    };
    let whole = picture.height * picture.width * picture.channels == picture.bytes.len();
    match whole {
        true => Ok(exif::upright(picture, orientation)),
        false => Err("its decoder made too few pixels".to_owned()),
    }
}

/// Refuses sizes before memory is spent on them.
fn check_size(height: usize, width: usize) -> Result<(), String> {
    let pixels = height.saturating_mul(width);
    match pixels > 0 && pixels <= MOST_PIXELS && height.max(width) <= LONGEST_SIDE {
        true => Ok(()),
        false => Err(format!("it has {height} by {width} pixels")),
    }
}

#[cfg(test)]
mod tests;
