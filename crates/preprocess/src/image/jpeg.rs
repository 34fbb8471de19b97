//! JPEG, progressive or not, in grey, colour or CMYK.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::{LONGEST_SIDE, Picture, check_size, exif};

/// Progressive files come in a few scans; a thousand of them only take time.
const MOST_SCANS: usize = 100;

/// Decodes a file; says how it lies.
pub(super) fn decode(bytes: &[u8]) -> Result<(Picture, u8), String> {
    // The decoder fills what is missing with grey, and reads over small damage, as libjpeg does. A
    // file that ends before its end has lost more than that.
    if !is_whole(bytes) {
        return Err("it is cut short".to_owned());
    }
    let options = DecoderOptions::default()
        .set_max_width(LONGEST_SIDE)
        .set_max_height(LONGEST_SIDE)
        .set_strict_mode(false)
        .jpeg_set_max_scans(MOST_SCANS);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("it says no size")?;
    check_size(height, width)?;
    let grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (space, channels) = if grey { (ColorSpace::Luma, 1) } else { (ColorSpace::RGB, 3) };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let orientation = decoder.exif().map_or(1, |exif| exif::orientation(exif));
    let bytes = decoder.decode().map_err(|error| error.to_string())?;
    Ok((Picture { height, width, channels, bytes }, orientation))
}

/// Whether an end follows the last start of a scan. In between, no such pair of bytes occurs.
fn is_whole(bytes: &[u8]) -> bool {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| pair == [0xff, marker]);
    let (scan, end) = (last(0xda), last(0xd9));
    scan.is_some() && end > scan
}
