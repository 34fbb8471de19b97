//! Samples without labels, for a model to answer.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{DataError, Result};
use crate::npz::Archive;
use crate::samples::{Samples, Values};
use crate::{idx, xy};

/// Whether a file holds samples as arrays: npz by its name, idx by its first bytes, packed or not.
pub fn is_arrays(path: &Path) -> Result<bool> {
    if xy::is_npz(path) {
        return Ok(true);
    }
    let mut first = vec![];
    let file = File::open(path).map_err(DataError::io("read", path))?;
    file.take(2).read_to_end(&mut first).map_err(DataError::io("read", path))?;
    Ok(matches!(first[..], [0, 0] | [0x1f, 0x8b]))
}

/// Reads samples for a model that takes `shape`: the array `x` of an npz file (or its only array),
/// or an idx file. Labels are 0 and mean nothing.
pub fn inputs(path: &Path, shape: &[usize]) -> Result<Samples> {
    let (found, values) = match xy::is_npz(path) {
        true => read_npz(path)?,
        false => {
            let array = idx::read_file(path)?;
            (array.shape, Values::U8(array.bytes))
        }
    };
    let samples = count(&found, shape).ok_or_else(|| {
        DataError::malformed(format!(
            "has shape {found:?}, but the model takes samples of shape {shape:?}"
        ))
        .in_file(path)
    })?;
    Ok(Samples { shape: shape.to_vec(), x: values, y: vec![0; samples], classes: 1 })
}

fn read_npz(path: &Path) -> Result<(Vec<usize>, Values)> {
    let mut archive = Archive::open(path)?;
    let names = archive.names();
    let name = match &names[..] {
        [only] => only,
        _ if archive.has("x") => "x",
        _ => {
            return Err(DataError::malformed(format!(
                "holds {}; name the samples x",
                names.join(", ")
            ))
            .in_file(path));
        }
    };
    let array = archive.array(name)?;
    Ok((array.shape, array.values))
}

/// How many samples of `shape` an array of shape `found` holds: rows that have as many values, or
/// one sample alone.
fn count(found: &[usize], shape: &[usize]) -> Option<usize> {
    let row: usize = shape.iter().product();
    let plain =
        |shape: &[usize]| -> Vec<usize> { shape.strip_suffix(&[1]).unwrap_or(shape).to_vec() };
    if plain(found) == plain(shape) {
        return Some(1);
    }
    let (&samples, rest) = found.split_first()?;
    let values = rest.iter().try_fold(1usize, |product, &side| product.checked_mul(side))?;
    (values == row && !rest.is_empty()).then_some(samples)
}
