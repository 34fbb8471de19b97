//! Colour, grey, and what is transparent.

use spec::Color;

use super::Picture;

/// What becomes of alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alpha {
    /// It is dropped, whatever the colour behind it.
    Dropped,
    /// What is transparent shows paper.
    Seen,
}

/// Whatever is darker than this on white paper is clear to see there.
const DARK: u8 = 128;

/// A picture in the colours that are wanted.
pub(super) fn convert(picture: Picture, color: Color) -> Picture {
    let Picture { height, width, channels, bytes } = picture;
    let bytes: Vec<u8> = match (channels, color) {
        (1, Color::Rgb) => bytes.iter().flat_map(|&grey| [grey; 3]).collect(),
        (3, Color::Grey) => bytes.as_chunks().0.iter().map(brightness).collect(),
        _ => bytes,
    };
    Picture { height, width, channels: color.channels(), bytes }
}

/// How bright a pixel is: ITU-R 601-2, with the rounding of Pillow's `convert("L")`.
pub(super) fn brightness(&[red, green, blue]: &[u8; 3]) -> u8 {
    let [red, green, blue] = [red, green, blue].map(u32::from);
    ((red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16) as u8
}

/// Pixels of 1 to 4 numbers, of which the second or fourth is alpha, without it.
pub(super) fn flat(
    (height, width): (usize, usize),
    channels: usize,
    bytes: Vec<u8>,
    alpha: Alpha,
) -> Picture {
    let kept = if channels > 2 { 3 } else { 1 };
    let of = |bytes| Picture { height, width, channels: kept, bytes };
    if channels == kept {
        return of(bytes);
    }
    let pixels = || bytes.chunks_exact(channels);
    // A file in which nothing is to be seen has an alpha that was never filled in.
    let seen = alpha == Alpha::Seen && pixels().any(|pixel| pixel[kept] > 0);
    let onto = |paper: u8| {
        let lay = move |pixel: &[u8]| -> Vec<u8> {
            pixel[..kept].iter().map(|&value| over(value, paper, pixel[kept])).collect()
        };
        of(pixels().flat_map(lay).collect())
    };
    match seen {
        false => of(pixels().flat_map(|pixel| &pixel[..kept]).copied().collect()),
        true => clearer(onto(255), onto(0)),
    }
}

/// A colour over paper.
fn over(value: u8, paper: u8, alpha: u8) -> u8 {
    let [value, paper, alpha] = [value, paper, alpha].map(u32::from);
    ((value * alpha + paper * (255 - alpha) + 127) / 255) as u8
}

/// The same drawing on white paper or on black: white, unless light colours alone are drawn on it.
fn clearer(white: Picture, black: Picture) -> Picture {
    let levels = |picture: &Picture| -> Vec<u8> {
        let places =
            (0..picture.height * picture.width).map(|at| (at / picture.width, at % picture.width));
        places.map(|(row, column)| picture.brightness(row, column)).collect()
    };
    let darkest = levels(&white).into_iter().min().unwrap_or(0);
    let lightest = levels(&black).into_iter().max().unwrap_or(0);
    if darkest < DARK || 255 - darkest >= lightest { white } else { black }
}
