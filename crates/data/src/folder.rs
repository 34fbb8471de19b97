//! A folder with MNIST's four files, under any of the names they go by, gzipped or not.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{DataError, Result};
use crate::idx;
use crate::samples::{Samples, Values};
use crate::source::{Whole, same_shape};

/// The files as published: images and labels to train on, images and labels to test on.
pub(crate) const FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// Images and labels that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) images: PathBuf,
    pub(crate) labels: PathBuf,
}

/// What a folder holds.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) train: Pair,
    pub(crate) test: Option<Pair>,
}

impl Folder {
    /// Finds the files in a folder. Test files may be absent.
    pub(crate) fn open(path: &Path) -> Result<Folder> {
        let names = names_in(path)?;
        let find = |index| find(path, &names, index);
        let missing = |index: usize| {
            DataError::malformed(format!(
                "has no {} (or .gz); a folder holds the four idx files, as MNIST is published",
                FILES[index]
            ))
            .in_file(path)
        };
        let train = Pair {
            images: find(0)?.ok_or_else(|| missing(0))?,
            labels: find(1)?.ok_or_else(|| missing(1))?,
        };
        let test = match (find(2)?, find(3)?) {
            (Some(images), Some(labels)) => Some(Pair { images, labels }),
            (None, None) => None,
            (None, Some(_)) => return Err(missing(2)),
            (Some(_), None) => return Err(missing(3)),
        };
        Ok(Folder { train, test })
    }

    /// What the folder holds, without reading images.
    pub(crate) fn facts(&self) -> Result<Whole> {
        let (shape, train) = self.train.facts()?;
        let mut test = Vec::new();
        if let Some(pair) = &self.test {
            let test_shape;
            (test_shape, test) = pair.facts()?;
            same_shape(&shape, &test_shape, &pair.images)?;
        }
        Ok(Whole {
            train: train.len(),
            validation: 0,
            test: test.len(),
            shape,
            classes: classes_of(&train).max(classes_of(&test)),
            labels: Vec::new(),
            width: 1,
            vocabulary: None,
            working: 0,
        })
    }

    /// Reads everything.
    pub(crate) fn load(&self) -> Result<(Samples, Option<Samples>)> {
        let train = self.train.load()?;
        let test = self.test.as_ref().map(Pair::load).transpose()?;
        if let (Some(pair), Some(test)) = (&self.test, &test) {
            same_shape(&train.shape, &test.shape, &pair.images)?;
        }
        Ok((train, test))
    }
}

/// Whether a folder has any of the files.
pub(crate) fn holds_idx(path: &Path) -> Result<bool> {
    Ok(names_in(path)?.iter().any(|name| role(name).is_some()))
}

impl Pair {
    /// Reads both files.
    fn load(&self) -> Result<Samples> {
        let (shape, labels) = self.facts()?;
        let images = idx::read_file(&self.images)?;
        Samples::new(shape, Values::U8(images.bytes), labels, None)
            .map_err(|error| error.in_file(&self.images))
    }

    /// The shape of a sample and all labels, without reading the images.
    fn facts(&self) -> Result<(Vec<usize>, Vec<u32>)> {
        let mut shape = idx::shape_of_file(&self.images)?;
        let labels =
            labels(idx::read_file(&self.labels)?).map_err(|error| error.in_file(&self.labels))?;
        let samples = shape.remove(0);
        if samples != labels.len() {
            return Err(DataError::malformed(format!(
                "holds {samples} images, but there are {} labels",
                labels.len()
            ))
            .in_file(&self.images));
        }
        Ok((with_channel(&shape).map_err(|error| error.in_file(&self.images))?, labels))
    }
}

/// Puts images and labels together.
pub(crate) fn samples(images: idx::Array, label_array: idx::Array) -> Result<Samples> {
    let shape = with_channel(&images.shape[1..])?;
    Samples::new(shape, Values::U8(images.bytes), labels(label_array)?, None)
}

/// One more than the largest label.
pub(crate) fn classes_of(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&max| max as usize + 1)
}

/// The shape of one sample as networks see it: a grey picture gets its one channel.
pub(crate) fn with_channel(shape: &[usize]) -> Result<Vec<usize>> {
    match *shape {
        [values] => Ok(vec![values]),
        [height, width] => Ok(vec![height, width, 1]),
        [height, width, channels] => Ok(vec![height, width, channels]),
        _ => Err(DataError::malformed(format!(
            "has samples of shape {shape:?}; understood are rows, grey pictures (height, width) and \
             pictures with channels (height, width, channels)"
        ))),
    }
}

fn labels(array: idx::Array) -> Result<Vec<u32>> {
    match array.shape.len() {
        1 => Ok(array.bytes.into_iter().map(u32::from).collect()),
        dimensions => Err(DataError::malformed(format!(
            "has {dimensions} dimensions, but labels have one; are images and labels exchanged?"
        ))),
    }
}

fn names_in(path: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(path).map_err(DataError::io("read", path))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(DataError::io("read", path))?.file_name();
        names.extend(name.into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// The file that is one of [`FILES`] under whatever name; a plain one before its gzipped twin.
fn find(folder: &Path, names: &[String], index: usize) -> Result<Option<PathBuf>> {
    let matching: Vec<&String> = names.iter().filter(|name| role(name) == Some(index)).collect();
    let stem = |name: &str| name.strip_suffix(".gz").unwrap_or(name).to_owned();
    if let [first, .., last] = matching[..]
        && stem(first) != stem(last)
    {
        return Err(DataError::malformed(format!(
            "has both {first} and {last}; keep one dataset in a folder"
        ))
        .in_file(folder));
    }
    Ok(matching.first().map(|name| folder.join(name)))
}

/// Which of [`FILES`] a name stands for: `train-images.idx3-ubyte`, `test-labels-idx1-ubyte.gz`
/// and `emnist-digits-train-images-idx3-ubyte` are understood too.
fn role(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let is_idx = name.ends_with("-ubyte") && name.contains("idx");
    let split = match (name.contains("train"), name.contains("t10k") || name.contains("test")) {
        (true, false) => 0,
        (false, true) => 2,
        _ => return None,
    };
    let half = match (name.contains("images"), name.contains("labels")) {
        (true, false) => 0,
        (false, true) => 1,
        _ => return None,
    };
    is_idx.then_some(split + half)
}
