//! Windows bitmaps.

use zune_bmp::BmpDecoder;
use zune_core::bytestream::ZCursor;
use zune_core::options::DecoderOptions;

use super::colour::{self, Alpha};
use super::{LONGEST_SIDE, Picture, check_size};

pub(super) fn decode(bytes: &[u8], alpha: Alpha) -> Result<Picture, String> {
    let options =
        DecoderOptions::default().set_max_width(LONGEST_SIDE).set_max_height(LONGEST_SIDE);
    let mut decoder = BmpDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| format!("{error:?}"))?;
    let (width, height) = decoder.dimensions().ok_or("it says no size")?;
    check_size(height, width)?;
    let channels = decoder.colorspace().ok_or("it says no colours")?.num_components();
    let bytes = decoder.decode().map_err(|error| format!("{error:?}"))?;
    match (1..=4).contains(&channels) && bytes.len() == height * width * channels {
        true => Ok(colour::flat((height, width), channels, bytes, alpha)),
        false => Err("its decoder made too few pixels".to_owned()),
    }
}
