//! The idx format, in which MNIST and its kin are published, plain or gzipped.
//!
//! Big-endian: two zero bytes, the type of the elements, the number of dimensions, then each
//! dimension as 32 bits, then the elements. Only bytes are understood; no published dataset of this
//! form holds anything else.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{DataError, Result};

/// How much a file may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes, unpacked.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 16 << 30 }
    }
}

/// An array of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its shape, outermost first.
    pub shape: Vec<usize>,
    /// Its elements.
    pub bytes: Vec<u8>,
}

/// Reads a whole file in memory, gzipped or not.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Array> {
    let mut reader = unpacked(bytes)?;
    let shape = read_shape(&mut reader, limits)?;
    read_elements(reader, shape)
}

/// Reads a file on disk.
pub(crate) fn read_file(path: &Path) -> Result<Array> {
    let file = File::open(path).map_err(DataError::io("read", path))?;
    unpacked(BufReader::new(file))
        .and_then(|mut reader| {
            let shape = read_shape(&mut reader, &Limits::default())?;
            read_elements(reader, shape)
        })
        .map_err(|error| error.in_file(path))
}

/// Reads the shape of a file on disk and nothing more.
pub(crate) fn shape_of_file(path: &Path) -> Result<Vec<usize>> {
    let file = File::open(path).map_err(DataError::io("read", path))?;
    unpacked(BufReader::new(file))
        .and_then(|mut reader| read_shape(&mut reader, &Limits::default()))
        .map_err(|error| error.in_file(path))
}

/// Writes an array in the plain form.
pub fn write(shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    assert_eq!(shape.iter().product::<usize>(), bytes.len(), "the bytes fill the shape");
    let mut file = vec![0, 0, 8, u8::try_from(shape.len()).expect("at most 255 dimensions")];
    for &side in shape {
        let side = u32::try_from(side).expect("a dimension has 32 bits");
        file.extend_from_slice(&side.to_be_bytes());
    }
    file.extend_from_slice(bytes);
    file
}

/// Looks at the first bytes and unpacks what is gzipped.
fn unpacked<'a>(mut reader: impl BufRead + 'a) -> Result<Box<dyn Read + 'a>> {
    let start = reader.fill_buf().map_err(unreadable)?;
    if start.is_empty() {
        return Err(DataError::malformed("is empty; fetch it again"));
    }
    Ok(match start.starts_with(&[0x1f, 0x8b]) {
        true => Box::new(MultiGzDecoder::new(reader)),
        false => Box::new(reader),
    })
}

fn read_shape(reader: &mut dyn Read, limits: &Limits) -> Result<Vec<usize>> {
    let mut start = [0; 4];
    reader.read_exact(&mut start).map_err(unreadable)?;
    let [0, 0, kind, dimensions] = start else {
        return Err(DataError::malformed(
            "is not an idx file: it does not begin with two zero bytes",
        ));
    };
    if kind != 8 {
        let name = match kind {
            0x09 => "signed bytes",
            0x0b => "16-bit integers",
            0x0c => "32-bit integers",
            0x0d => "32-bit floats",
            0x0e => "64-bit floats",
            _ => "elements of an unknown type",
        };
        return Err(DataError::malformed(format!(
            "holds {name} (type 0x{kind:02x}); only unsigned bytes (0x08) are understood, save \
             other arrays as .npz"
        )));
    }
    if !(1..=4).contains(&dimensions) {
        return Err(DataError::malformed(format!(
            "has {dimensions} dimensions; labels have 1 and images 3 or 4"
        )));
    }
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        let mut side = [0; 4];
        reader.read_exact(&mut side).map_err(unreadable)?;
        shape.push(u32::from_be_bytes(side) as usize);
    }
    // An empty side must not hide that the others are beyond all bounds.
    let bytes =
        shape.iter().try_fold(1u64, |product, &side| product.checked_mul(side.max(1) as u64));
    if bytes.is_none_or(|bytes| bytes > limits.bytes) {
        return Err(DataError::malformed(format!(
            "claims the shape {shape:?}, more than the limit of {} bytes",
            limits.bytes
        )));
    }
    Ok(shape)
}

/// Memory grows with what is truly there, whatever the shape claims.
fn read_elements(reader: Box<dyn Read + '_>, shape: Vec<usize>) -> Result<Array> {
    let claimed = shape.iter().product::<usize>();
    let mut bytes = Vec::new();
    let mut reader = reader.take(claimed as u64);
    reader.read_to_end(&mut bytes).map_err(unreadable)?;
    let mut more = [0];
    let extra = reader.into_inner().read(&mut more).map_err(unreadable)?;
    if bytes.len() < claimed || extra > 0 {
        let found = match extra {
            0 => format!("only {}", bytes.len()),
            _ => "more".to_owned(),
        };
        return Err(DataError::malformed(format!(
            "claims the shape {shape:?}, which is {claimed} bytes, but holds {found}; the file is \
             damaged, fetch it again"
        )));
    }
    bytes.shrink_to_fit();
    Ok(Array { shape, bytes })
}

fn unreadable(error: std::io::Error) -> DataError {
    DataError::malformed(match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "ends too early; fetch it again".to_owned(),
        _ => format!("cannot be unpacked ({error}); fetch it again"),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    fn refused(bytes: &[u8]) -> String {
        read(bytes, &Limits::default()).unwrap_err().to_string()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in 0usize..9, side in 1usize..9, byte: u8) {
            let bytes = vec![byte; rows * side * side];
            let shape = vec![rows, side, side];
            let plain = write(&shape, &bytes);
            let array = Array { shape, bytes };
            prop_assert_eq!(&read(&plain, &Limits::default()).unwrap(), &array);
            prop_assert_eq!(&read(&gzip(&plain), &Limits::default()).unwrap(), &array);
        }

        #[test]
        fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, &Limits::default());
            let _ = read(&gzip(&bytes), &Limits::default());
            let _ = read(&[&[0, 0, 8, 2], &bytes[..]].concat(), &Limits::default());
        }
    }

    #[test]
    fn counts_that_lie_are_refused() {
        let good = write(&[2, 2], &[1, 2, 3, 4]);
        let short = &good[..good.len() - 1];
        let long = [&good[..], &[0]].concat();
        assert!(refused(short).contains("is 4 bytes, but holds only 3"), "{}", refused(short));
        assert!(refused(&long).contains("but holds more"));
        assert!(refused(&gzip(short)).contains("but holds only 3"));
        assert!(refused(&gzip(&long)).contains("but holds more"));
        let huge = [&[0, 0, 8, 3][..], &[255; 12]].concat();
        assert!(refused(&huge).contains("more than the limit"));
        // A claim within the limit, but far beyond what is there, costs no memory.
        let large = [&[0, 0, 8, 2][..], &[0, 1, 0, 0], &[0, 0, 255, 0]].concat();
        assert!(refused(&large).contains("but holds only 0"));
    }

    #[test]
    fn what_is_not_an_idx_file_of_bytes_is_refused() {
        assert!(refused(&[]).contains("is empty"));
        assert!(refused(&[0, 0]).contains("ends too early"));
        assert!(refused(b"PK\x03\x04").contains("is not an idx file"));
        assert!(refused(&[0, 0, 0x0d, 1, 0, 0, 0, 0]).contains("32-bit floats (type 0x0d)"));
        assert!(refused(&[0, 0, 8, 0]).contains("has 0 dimensions"));
        assert!(refused(&[0, 0, 8, 200]).contains("has 200 dimensions"));
        assert!(refused(&[0, 0, 8, 1, 0, 0]).contains("ends too early"));
    }

    #[test]
    fn damaged_and_expanding_gzip_is_refused() {
        let packed = gzip(&write(&[3, 3], &[7; 9]));
        assert!(refused(&packed[..packed.len() - 9]).contains("ends too early"));
        let mut flipped = packed.clone();
        let checksum = packed.len() - 6;
        flipped[checksum] ^= 1;
        assert!(refused(&flipped).contains("cannot be unpacked"), "{}", refused(&flipped));
        assert!(
            refused(&[&packed[..], b"garbage after its end"].concat())
                .contains("cannot be unpacked")
        );
        let bomb = gzip(&write(&[1000, 1000], &[0; 1_000_000]));
        let limits = Limits { bytes: 100_000 };
        let error = read(&bomb, &limits).unwrap_err().to_string();
        assert!(error.contains("more than the limit of 100000 bytes"), "{error}");
    }
}
