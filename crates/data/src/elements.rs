//! The elements of an array arrive as a stream and become [`Values`] or labels piece by piece, so the
//! data is never held twice.

use std::io::Read;

use crate::error::{DataError, Result};
use crate::npy::{Header, Kind, read_exactly};
use crate::samples::Values;

/// Elements become values in pieces of this many bytes.
const PIECE: usize = 1 << 16;

/// Reads the elements as values: bytes stay bytes, everything else becomes 32-bit floats.
/// `likely` is how many elements room is made for at once; a header may lie.
pub(crate) fn read_values(
    reader: &mut (impl Read + ?Sized),
    header: &Header,
    likely: usize,
) -> Result<Values> {
    let count = header.elements().expect("checked when the header was read");
    if header.kind == Kind::U8 {
        let mut bytes = reserved(likely.min(count))?;
        read_pieces(reader, count, 1, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        return Ok(Values::U8(bytes));
    }
    let mut floats: Vec<f32> = reserved(likely.min(count))?;
    let kind = header.kind;
    read_pieces(reader, count, kind.width(), |piece| {
        for cell in piece.chunks_exact(kind.width()) {
            let number = kind.number(cell);
            let float = number as f32;
            if !kind.is_float() && f64::from(float) != number {
                return Err(DataError::malformed(format!(
                    "holds {number}, which 32-bit floats cannot; scale it down"
                )));
            }
            floats.push(float);
        }
        Ok(())
    })?;
    Ok(Values::F32(floats))
}

/// Reads the elements as they were written: of a kind that [`Values`] has.
pub(crate) fn read_kind(
    reader: &mut (impl Read + ?Sized),
    header: &Header,
    likely: usize,
) -> Result<Values> {
    let count = header.elements().expect("checked when the header was read");
    Ok(match header.kind {
        Kind::U16 => {
            let mut ids: Vec<u16> = reserved(likely.min(count))?;
            read_pieces(reader, count, 2, |piece| {
                ids.extend(piece.as_chunks().0.iter().copied().map(u16::from_le_bytes));
                Ok(())
            })?;
            Values::U16(ids)
        }
        Kind::U32 => {
            let mut ids: Vec<u32> = reserved(likely.min(count))?;
            read_pieces(reader, count, 4, |piece| {
                ids.extend(piece.as_chunks().0.iter().copied().map(u32::from_le_bytes));
                Ok(())
            })?;
            Values::U32(ids)
        }
        _ => read_values(reader, header, likely)?,
    })
}

/// Reads the elements as labels: whole numbers from 0.
pub(crate) fn read_labels(
    reader: &mut (impl Read + ?Sized),
    header: &Header,
    likely: usize,
) -> Result<Vec<u32>> {
    let count = header.elements().expect("checked when the header was read");
    let kind = header.kind;
    let mut labels = reserved(likely.min(count))?;
    read_pieces(reader, count, kind.width(), |piece| {
        for cell in piece.chunks_exact(kind.width()) {
            let number = kind.number(cell);
            let label = number as u32;
            // The largest number is kept free, so that a count of classes always fits.
            if f64::from(label) != number || label == u32::MAX {
                return Err(DataError::malformed(format!(
                    "holds the label {number}; labels are whole numbers from 0 up"
                )));
            }
            labels.push(label);
        }
        Ok(())
    })?;
    Ok(labels)
}

fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).map_err(|_| {
        DataError::malformed(format!("needs {len} elements at once, more memory than there is"))
    })?;
    Ok(vec)
}

/// Hands `count` elements of `width` bytes to `each`, whole elements at a time.
fn read_pieces(
    reader: &mut (impl Read + ?Sized),
    count: usize,
    width: usize,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; PIECE.min(count * width)];
    let mut left = count * width;
    while left > 0 {
        let piece = &mut buffer[..left.min(PIECE)];
        read_exactly(reader, piece)?;
        each(piece)?;
        left -= piece.len();
    }
    Ok(())
}
