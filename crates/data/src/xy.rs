//! An npz file with samples and labels: `x`, `y` as S0 and S2 write it, or `x_train`, `y_train`,
//! `x_test`, `y_test` as Keras publishes its datasets.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::error::{DataError, Result};
use crate::folder::{classes_of, with_channel};
use crate::npz::{Archive, Kind};
use crate::samples::{Samples, View};
use crate::source::{Whole, same_shape};
use crate::triplet_file;

/// The names of an array of samples and an array of labels.
type Names = (&'static str, &'static str);

const TRAIN: Names = ("x_train", "y_train");
const TEST: Names = ("x_test", "y_test");
const PLAIN: Names = ("x", "y");

/// Whether a file is an npz file by its name.
pub(crate) fn is_npz(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npz"))
}

/// What the file holds, without reading the samples.
pub(crate) fn facts(path: &Path) -> Result<Whole> {
    let mut archive = Archive::open(path)?;
    if triplet_file::is_triplets(&mut archive) {
        return triplet_file::facts(&mut archive, path);
    }
    let (train, test) = layout(&archive, path)?;
    let (shape, kind, labels) = half_facts(&mut archive, path, train)?;
    let mut test_labels = Vec::new();
    if let Some(test) = test {
        let test_shape;
        (test_shape, _, test_labels) = half_facts(&mut archive, path, test)?;
        same_shape(&shape, &test_shape, path)?;
    }
    Ok(Whole {
        train: labels.len(),
        validation: 0,
        test: test_labels.len(),
        shape,
        classes: classes_of(&labels).max(classes_of(&test_labels)),
        labels: Vec::new(),
        width: if kind == Kind::U8 { 1 } else { 4 },
        vocabulary: None,
        working: 0,
    })
}

/// Reads everything.
pub(crate) fn load(path: &Path) -> Result<(Samples, Option<Samples>)> {
    let mut archive = Archive::open(path)?;
    if triplet_file::is_triplets(&mut archive) {
        return triplet_file::load(&mut archive, path);
    }
    let (train, test) = layout(&archive, path)?;
    let train = half(&mut archive, path, train)?;
    let test = test.map(|names| half(&mut archive, path, names)).transpose()?;
    if let Some(test) = &test {
        same_shape(&train.shape, &test.shape, path)?;
    }
    Ok((train, test))
}

fn layout(archive: &Archive<BufReader<File>>, path: &Path) -> Result<(Names, Option<Names>)> {
    let has = |(x, y): Names| archive.has(x) && archive.has(y);
    if has(PLAIN) {
        Ok((PLAIN, None))
    } else if has(TRAIN) {
        Ok((TRAIN, has(TEST).then_some(TEST)))
    } else {
        Err(DataError::malformed(format!(
            "holds {}; understood are x and y, or x_train, y_train, x_test and y_test, or \
             triplets as arr_0, of shape (n, 3, height, width, channels)",
            archive.names().join(", ")
        ))
        .in_file(path))
    }
}

/// The shape of a sample, the kind of its values, and all labels.
fn half_facts(
    archive: &mut Archive<BufReader<File>>,
    path: &Path,
    (x, y): Names,
) -> Result<(Vec<usize>, Kind, Vec<u32>)> {
    let header = archive.header(x)?;
    let labels = archive.labels(y)?;
    let Some((&samples, shape)) = header.shape.split_first() else {
        return Err(DataError::malformed("is a single number").in_place(x).in_file(path));
    };
    if samples != labels.len() {
        let problem = format!("holds {samples} samples, but `{y}` holds {} labels", labels.len());
        return Err(DataError::malformed(problem).in_place(x).in_file(path));
    }
    let shape = with_channel(shape).map_err(|error| error.in_place(x).in_file(path))?;
    Ok((shape, header.kind, labels))
}

fn half(archive: &mut Archive<BufReader<File>>, path: &Path, names: Names) -> Result<Samples> {
    let (shape, _, labels) = half_facts(archive, path, names)?;
    let values = archive.array(names.0)?.values;
    if let View::F32(floats) = values.view()
        && let Some(place) = floats.iter().position(|value| !value.is_finite())
    {
        let problem = format!("element {place} is {}; replace it", floats[place]);
        return Err(DataError::malformed(problem).in_place(names.0).in_file(path));
    }
    Samples::new(shape, values, labels, None).map_err(|error| error.in_place(names.0).in_file(path))
}
