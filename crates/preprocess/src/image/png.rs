//! PNG of every kind; of an animation, the picture that stands for it.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

use super::colour::{self, Alpha};
use super::{MOST_PIXELS, Picture, check_size, exif};

/// Decodes a file; says how it lies.
pub(super) fn decode(bytes: &[u8], alpha: Alpha) -> Result<(Picture, u8), String> {
    let text = |error: png::DecodingError| error.to_string();
    let limits = Limits { bytes: 4 * MOST_PIXELS };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(text)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    check_size(height, width)?;
    // The decoder takes a palette for whole colours, at most 256 of them.
    let palette = reader.info().palette.as_ref().map_or(0, |palette| palette.len());
    if palette % 3 != 0 || palette > 3 * 256 {
        return Err("its palette is damaged".to_owned());
    }
    let orientation =
        reader.info().exif_metadata.as_ref().map_or(1, |exif| exif::orientation(exif));
    let size = reader.output_buffer_size().ok_or("it says no size")?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).map_err(text)?;
    bytes.truncate(frame.buffer_size());
    let channels = match frame.color_type {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => return Err("its colours are not to be had".to_owned()),
    };
    Ok((colour::flat((height, width), channels, bytes, alpha), orientation))
}
