//! Samples without labels, to be answered by a model: `x` of an npz file, or images in an idx file.

use std::path::Path;

use crate::error::{DataError, Result};
use crate::folder::with_channel;
use crate::npz::Archive;
use crate::samples::{Samples, Values};
use crate::{idx, xy};

/// Reads the samples of a file. `shape` is what a sample must have; one that differs only in a
/// channel of its own is taken as well. The labels that come back are all 0 and mean nothing.
pub fn inputs(path: &Path, shape: &[usize]) -> Result<Samples> {
    let (dimensions, values) = if xy::is_npz(path) {
        let array = Archive::open(path)?.array("x")?;
        (array.shape, array.values)
    } else {
        let array = idx::read_file(path)?;
        (array.shape, Values::U8(array.bytes))
    };
    let wrong = |problem: String| DataError::malformed(problem).in_file(path);
    let Some((&samples, found)) = dimensions.split_first() else {
        return Err(wrong("holds a single number, not samples".into()));
    };
    let found = with_channel(found).map_err(|error| error.in_file(path))?;
    if found != shape {
        return Err(wrong(format!(
            "holds samples of shape {found:?}; the model takes {shape:?}"
        )));
    }
    Samples::new(found, values, vec![0; samples], Some(1)).map_err(|error| error.in_file(path))
}
