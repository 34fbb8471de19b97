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
    assert_eq!(
        shape.iter().product::<usize>(),
        bytes.len(),
        "the bytes fill the shape"
    );
    let mut file = vec![
        0,
        0,
        8,
        u8::try_from(shape.len()).expect("at most 255 dimensions"),
    ];
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
    let bytes = shape
        .iter()
        .try_fold(1u64, |product, &side| product.checked_mul(side as u64));
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
