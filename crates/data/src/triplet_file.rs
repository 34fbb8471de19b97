//! S3's own `triplet-data.npz`: `arr_0` to train on and `arr_1` to test on, each of shape (n, 3, height,
//! width, channels): an anchor, a positive and a negative.
//!
//! A triplet is one sample of shape [3, height, width, channels]. Labels mean nothing and are 0, as S3's
//! were made up.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::error::{DataError, Result};
use crate::npz::{Archive, Header};
use crate::samples::Samples;
use crate::source::{Whole, same_shape};

const TRAIN: &str = "arr_0";
const TEST: &str = "arr_1";

/// Whether a file has an array of triplets.
pub(crate) fn is_triplets(archive: &mut Archive<BufReader<File>>) -> bool {
    let header = archive.has(TRAIN).then(|| archive.header(TRAIN));
    matches!(header, Some(Ok(Header { shape, .. })) if matches!(shape[..], [_, 3, _, _] | [_, 3, _, _, _]))
}

/// What the file holds, without reading pictures.
pub(crate) fn facts(archive: &mut Archive<BufReader<File>>, path: &Path) -> Result<Whole> {
    let (train, shape) = half_facts(archive, path, TRAIN)?;
    let mut test = 0;
    if archive.has(TEST) {
        let test_shape;
        (test, test_shape) = half_facts(archive, path, TEST)?;
        same_shape(&shape, &test_shape, path)?;
    }
    let width = if archive.header(TRAIN)?.kind.width() == 1 { 1 } else { 4 };
    Ok(Whole {
        train,
        validation: 0,
        test,
        shape,
        classes: 1,
        labels: Vec::new(),
        width,
        vocabulary: None,
        working: 0,
    })
}

/// Reads everything.
pub(crate) fn load(
    archive: &mut Archive<BufReader<File>>,
    path: &Path,
) -> Result<(Samples, Option<Samples>)> {
    let train = half(archive, path, TRAIN)?;
    let test = match archive.has(TEST) {
        true => Some(half(archive, path, TEST)?),
        false => None,
    };
    if let Some(test) = &test {
        same_shape(&train.shape, &test.shape, path)?;
    }
    Ok((train, test))
}

fn half_facts(
    archive: &mut Archive<BufReader<File>>,
    path: &Path,
    name: &str,
) -> Result<(usize, Vec<usize>)> {
    let Header { shape, .. } = archive.header(name)?;
    match shape[..] {
        [samples, 3, height, width] => Ok((samples, vec![3, height, width, 1])),
        [samples, 3, height, width, channels] => Ok((samples, vec![3, height, width, channels])),
        _ => Err(DataError::malformed(format!(
            "has shape {shape:?}; triplets are (n, 3, height, width, channels), and other samples are \
             called x and y"
        ))
        .in_place(name)
        .in_file(path)),
    }
}

fn half(archive: &mut Archive<BufReader<File>>, path: &Path, name: &str) -> Result<Samples> {
    let (samples, shape) = half_facts(archive, path, name)?;
    let values = archive.array(name)?.values;
    Samples::new(shape, values, vec![0; samples], Some(1))
        .map_err(|error| error.in_place(name).in_file(path))
}
