//! Colour and grey.

use spec::Color;

use super::Picture;

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
fn brightness(&[red, green, blue]: &[u8; 3]) -> u8 {
    let [red, green, blue] = [red, green, blue].map(u32::from);
    ((red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16) as u8
}

/// Pixels of 1 to 4 numbers, of which the second or fourth is alpha and dropped.
pub(super) fn without_alpha(
    height: usize,
    width: usize,
    channels: usize,
    bytes: Vec<u8>,
) -> Picture {
    let kept = if channels > 2 { 3 } else { 1 };
    let bytes = match channels == kept {
        true => bytes,
        false => bytes.chunks_exact(channels).flat_map(|pixel| &pixel[..kept]).copied().collect(),
    };
    Picture { height, width, channels: kept, bytes }
}
