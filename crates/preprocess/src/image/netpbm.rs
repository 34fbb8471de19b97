//! Netpbm's bitmaps, grey maps and pixel maps (`P1` to `P6`), as text or as bytes.

use super::{Picture, check_size};

pub(super) fn decode(bytes: &[u8]) -> Result<Picture, String> {
    let kind = bytes[1] - b'0';
    let mut scan = Scan { bytes, at: 2 };
    let (width, height) = (scan.number()?, scan.number()?);
    check_size(height, width)?;
    let most = if matches!(kind, 1 | 4) { 1 } else { scan.number()? };
    if !(1..=65_535).contains(&most) {
        return Err(format!("its brightest pixel would be {most}"));
    }
    let channels = if matches!(kind, 3 | 6) { 3 } else { 1 };
    let count = height * width * channels;
    let scaled = |value: usize| ((value.min(most) * 255 + most / 2) / most) as u8;
    let bytes: Vec<u8> = match kind {
        // A bit that is set is black.
        1 => (0..count).map(|_| scan.bit().map(|bit| 255 * (1 - bit))).collect::<Result<_, _>>()?,
        2 | 3 => (0..count).map(|_| scan.number().map(scaled)).collect::<Result<_, _>>()?,
        4 => {
            let rows = scan.raster(height * width.div_ceil(8))?;
            let bit = |row: &[u8], x: usize| 255 * (1 - (row[x / 8] >> (7 - x % 8) & 1));
            let rows = rows.chunks(width.div_ceil(8));
            rows.flat_map(|row| (0..width).map(move |x| bit(row, x))).collect()
        }
        _ if most > 255 => {
            let raster = scan.raster(2 * count)?;
            let pairs = raster.as_chunks().0.iter().copied();
            pairs.map(|pair| scaled(usize::from(u16::from_be_bytes(pair)))).collect()
        }
        _ => scan.raster(count)?.iter().map(|&value| scaled(usize::from(value))).collect(),
    };
    Ok(Picture { height, width, channels, bytes })
}

/// Reads a file from front to back.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// Passes over white space and comments.
    fn space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'#' {
                let line = self.bytes[self.at..].iter().position(|&byte| byte == b'\n');
                self.at = line.map_or(self.bytes.len(), |line| self.at + line);
            } else if !byte.is_ascii_whitespace() {
                return;
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<usize, String> {
        self.space();
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        // Nine digits are more than any size, and fit.
        let text = std::str::from_utf8(&rest[..digits.min(9)]).unwrap_or_default();
        self.at += digits;
        text.parse().map_err(|_| "it is cut short, or no picture".to_owned())
    }

    fn bit(&mut self) -> Result<u8, String> {
        self.space();
        self.at += 1;
        match self.bytes.get(self.at - 1) {
            Some(b'0') => Ok(0),
            Some(b'1') => Ok(1),
            _ => Err("it is cut short, or no picture".to_owned()),
        }
    }

    /// The bytes after the one that ends the header.
    fn raster(&self, count: usize) -> Result<&'a [u8], String> {
        let start = self.at + 1;
        let raster = self.bytes.get(start..).and_then(|rest| rest.get(..count));
        raster.ok_or_else(|| "it is cut short".to_owned())
    }
}
