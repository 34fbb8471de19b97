//! A picture as a file that browsers show.

use png::{BitDepth, ColorType, Encoder};

use super::Picture;

impl Picture {
    /// The picture as a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(if self.channels == 1 { ColorType::Grayscale } else { ColorType::Rgb });
        encoder.set_depth(BitDepth::Eight);
        let written =
            encoder.write_header().and_then(|mut writer| writer.write_image_data(&self.bytes));
        written.expect("memory takes all, and a picture has as many bytes as pixels");
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_back() {
        for channels in [1, 3] {
            let bytes = (0..5 * 7 * channels as u8).map(|byte| byte.wrapping_mul(37)).collect();
            let picture = Picture { height: 5, width: 7, channels, bytes };
            assert_eq!(Picture::decode(&picture.to_png()), Ok(picture));
        }
    }
}
