//! GIF: its first picture; black and transparent where it does not fill the screen.

use std::io::Cursor;
use std::num::NonZeroU64;

use gif::{ColorOutput, DecodeOptions, MemoryLimit};

use super::colour::{self, Alpha};
use super::{MOST_PIXELS, Picture, check_size};

pub(super) fn decode(bytes: &[u8], alpha: Alpha) -> Result<Picture, String> {
    let text = |error: gif::DecodingError| error.to_string();
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.set_memory_limit(MemoryLimit::Bytes(
        NonZeroU64::new(4 * MOST_PIXELS as u64).unwrap_or(NonZeroU64::MAX),
    ));
    let mut decoder = options.read_info(Cursor::new(bytes)).map_err(text)?;
    let (height, width) = (usize::from(decoder.height()), usize::from(decoder.width()));
    check_size(height, width)?;
    let frame = decoder.read_next_frame().map_err(text)?.ok_or("it has no picture")?;
    let mut bytes = vec![0; 4 * height * width];
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let row = usize::from(frame.width);
    for (y, line) in frame.buffer.chunks(4 * row.max(1)).enumerate() {
        for (x, pixel) in line.chunks_exact(4).enumerate() {
            if top + y < height && left + x < width {
                let at = 4 * ((top + y) * width + left + x);
                bytes[at..at + 4].copy_from_slice(pixel);
            }
        }
    }
    Ok(colour::flat((height, width), 4, bytes, alpha))
}
