//! Which way up a picture is: one number in the EXIF data of a file.

use super::Picture;

/// The tag of the orientation, and the type of its value: a short number.
const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;

/// The orientation that EXIF data says, 1 to 8; 1, as the pixels lie, where it says none.
pub(super) fn orientation(exif: &[u8]) -> u8 {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    find(tiff).filter(|value| (1..=8).contains(value)).map_or(1, |value| value as u8)
}

/// Looks through the first directory of a TIFF.
fn find(tiff: &[u8]) -> Option<u16> {
    let big = match tiff.get(..2)? {
        b"MM" => true,
        b"II" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let bytes = tiff.get(4..8)?.try_into().ok()?;
    let first = if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) } as usize;
    let mut entries = (0..usize::from(short(first)?)).map(|entry| first + 2 + 12 * entry);
    let at = entries.find(|&at| short(at) == Some(ORIENTATION))?;
    if short(at + 2)? == SHORT { short(at + 8) } else { None }
}

/// Turns a picture so that it stands as its orientation means.
pub(super) fn upright(picture: Picture, orientation: u8) -> Picture {
    let Picture { height, width, channels, bytes } = picture;
    let turned = orientation >= 5;
    let (new_height, new_width) = if turned { (width, height) } else { (height, width) };
    if orientation <= 1 {
        return Picture { height, width, channels, bytes };
    }
    // Where the pixel of a place in the upright picture lies.
    let source = |y: usize, x: usize| match orientation {
        2 => (y, width - 1 - x),
        3 => (height - 1 - y, width - 1 - x),
        4 => (height - 1 - y, x),
        5 => (x, y),
        6 => (height - 1 - x, y),
        7 => (height - 1 - x, width - 1 - y),
        _ => (x, width - 1 - y),
    };
    let mut upright = Vec::with_capacity(bytes.len());
    for y in 0..new_height {
        for x in 0..new_width {
            let (row, column) = source(y, x);
            let at = channels * (row * width + column);
            upright.extend_from_slice(&bytes[at..at + channels]);
        }
    }
    Picture { height: new_height, width: new_width, channels, bytes: upright }
}
