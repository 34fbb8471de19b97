//! Where samples come from: a built-in name, or a path to files of many kinds.

use std::path::{Path, PathBuf};

use random::{Key, Purpose};
use spec::{Data, Holdout};

use crate::classes::Classes;
pub use crate::dataset::{Dataset, Facts};
pub(crate) use crate::dataset::{Raw, Whole};
use crate::error::{DataError, Result};
use crate::folder::{self, Folder};
use crate::known::{self, Known};
use crate::known_texts::{self, KnownTexts};
use crate::pictures::{self, Pictures};
use crate::samples::Samples;
use crate::table::{self, Tables};
use crate::texts::{self, Texts};
use crate::tree::{self, Tree};
use crate::{fetch, idx, split, xy};

/// Where things are on this machine, and what may be done.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder for what is fetched once and used again.
    pub cache: PathBuf,
    /// Whether nothing may be fetched.
    pub offline: bool,
}

/// What is being done, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A file is being downloaded.
    Fetching {
        /// Its name.
        file: &'a str,
        /// Bytes that are here.
        done: u64,
        /// Bytes it has, where the server told.
        total: Option<u64>,
    },
    /// Another process is downloading the same dataset.
    Waiting,
    /// A file of the dataset is being written.
    Writing {
        /// Its name.
        file: &'a str,
        /// How many files are written.
        done: usize,
        /// How many there will be.
        total: usize,
    },
}

/// Says what a dataset holds. Reads headers and labels, never images, and downloads nothing.
pub fn facts(data: &Data) -> Result<Facts> {
    let whole = match Source::resolve(data)? {
        Source::Known(known) => known_facts(known),
        Source::KnownTexts(known) => known.facts(data),
        Source::Folder(path) => Folder::open(&path)?.facts()?,
        Source::Npz(path) => xy::facts(&path)?,
        Source::Texts(texts) => texts.facts(),
        Source::Pictures(pictures) => pictures.facts()?,
        Source::Tables(tables) => tables.facts()?,
    };
    refuse_nothing(data, whole.train)?;
    let labels = labels(data, whole.classes, &whole.labels)?;
    let held = held_out(data.validation, whole.train)?;
    refuse_two_validations(data, whole.validation > 0)?;
    Ok(Facts {
        name: data.from.clone(),
        train: whole.train - held,
        validation: whole.validation + held,
        test: whole.test,
        shape: whole.shape,
        classes: labels.len(),
        labels,
        width: whole.width,
        vocabulary: whole.vocabulary,
        assign: data.assign,
        working: whole.working,
    })
}

/// Loads a dataset, downloading it first where it must be, and holds validation samples out.
pub fn load(
    data: &Data,
    seed: u64,
    places: &Places,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Dataset> {
    let raw = load_raw(data, places, progress)?;
    let (kept, taken) = hold_out(data, &raw.train, seed)?;
    let (train, validation) = match taken.is_empty() {
        true => (raw.train, raw.validation),
        false => (raw.train.gather(&kept), Some(raw.train.gather(&taken))),
    };
    let Raw { test, labels, form, skipped, .. } = raw;
    Ok(Dataset { train, validation, test, labels, form, skipped })
}

/// Loads a source as it is.
pub(crate) fn load_raw(
    data: &Data,
    places: &Places,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Raw> {
    let mut raw = match Source::resolve(data)? {
        Source::Known(known) if known.homes.is_empty() => Raw::numbers(built_in()?),
        Source::Known(known) => {
            Raw::numbers(fetch::load(known, data.mirror.as_deref(), places, progress)?)
        }
        Source::KnownTexts(known) => known.load(data, places, progress)?,
        Source::Folder(path) => Raw::numbers(Folder::open(&path)?.load()?),
        Source::Npz(path) => Raw::numbers(xy::load(&path)?),
        Source::Texts(texts) => texts.load()?,
        Source::Pictures(pictures) => pictures.load()?,
        Source::Tables(tables) => tables.load()?,
    };
    refuse_nothing(data, raw.train.len())?;
    refuse_two_validations(data, raw.validation.is_some())?;
    let held_out = [&raw.validation, &raw.test].into_iter().flatten();
    let seen = held_out.map(|samples| samples.classes).fold(raw.train.classes, usize::max);
    raw.labels = labels(data, seen, &raw.labels)?;
    let others = [&mut raw.validation, &mut raw.test].into_iter().flatten();
    for samples in others.chain([&mut raw.train]) {
        samples.classes = raw.labels.len();
    }
    Ok(raw)
}

/// Decides which training samples are held out. Returns those that stay and those that go.
pub(crate) fn hold_out(data: &Data, train: &Samples, seed: u64) -> Result<(Vec<u32>, Vec<u32>)> {
    let count = held_out(data.validation, train.len())?;
    let classes = data.stratify.then_some(&train.y[..]);
    let key = Key::new(seed, Purpose::Split).with(0);
    Ok(split::hold_out(train.len(), count, classes, key))
}

/// The key that deals samples out to shards.
pub(crate) fn shard_key(seed: u64) -> Key {
    Key::new(seed, Purpose::Split).with(1)
}

/// A larger label is taken for a mistake: something is allocated for every class.
const MOST_CLASSES: usize = 1_000_000;

/// What a source is, by its name.
pub(crate) enum Source {
    Known(&'static Known),
    KnownTexts(&'static KnownTexts),
    Folder(PathBuf),
    Npz(PathBuf),
    Texts(Texts),
    Pictures(Pictures),
    Tables(Tables),
}

impl Source {
    pub(crate) fn resolve(data: &Data) -> Result<Source> {
        if let Some(known) = known::find(&data.from) {
            return Ok(Source::Known(known));
        }
        if let Some(known) = known_texts::find(&data.from) {
            return Ok(Source::KnownTexts(known));
        }
        if data.mirror.is_some() {
            return Err(DataError::Impossible(format!(
                "`data.mirror` is another home of a built-in dataset, and `{}` is not one of {}",
                data.from,
                spec::BUILTIN_DATA.join(", ")
            )));
        }
        let path = Path::new(&data.from);
        if !path.exists() {
            Err(DataError::Unknown { from: data.from.clone() })
        } else if xy::is_npz(path) {
            Ok(Source::Npz(path.to_owned()))
        } else if path.is_file() && table::is_table(&data.from) {
            Ok(Source::Tables(Tables::one(data, path)))
        } else if path.is_dir() && folder::holds_idx(path)? {
            Ok(Source::Folder(path.to_owned()))
        } else if path.is_dir() || tree::is_archive(path) {
            Source::in_tree(data, Tree::open(path)?)
        } else {
            Err(DataError::Unknown { from: data.from.clone() })
        }
    }

    /// What a folder or an archive is, by what it holds the most of.
    fn in_tree(data: &Data, tree: Tree) -> Result<Source> {
        let texts = Classes::find(&tree, texts::is_text);
        let pictures = Classes::find(&tree, pictures::is_picture);
        if pictures.files() > texts.files() {
            return Ok(Source::Pictures(Pictures::new(data, tree, pictures)?));
        }
        if texts.files() > 0 {
            return Ok(Source::Texts(Texts::new(data, tree, texts)));
        }
        let tree = match Tables::find(data, tree) {
            Ok(tables) => return Ok(Source::Tables(tables)),
            Err(tree) => tree,
        };
        Err(DataError::malformed(format!(
            "holds {} files, but nothing that is understood: MNIST's four idx files, or a folder of \
             pictures or .txt files for each class, or such in folders train, validation and test, or \
             a train.csv",
            tree.entries.len()
        ))
        .in_place(&data.from))
    }
}

fn known_facts(known: &Known) -> Whole {
    Whole {
        train: known.train.samples,
        validation: 0,
        test: known.test.samples,
        shape: known::SHAPE.to_vec(),
        classes: known.labels.len(),
        labels: known.labels.map(str::to_owned).to_vec(),
        width: 1,
        vocabulary: None,
        working: 0,
    }
}

/// Both splits must be of one shape.
pub(crate) fn same_shape(train: &[usize], test: &[usize], path: &Path) -> Result<()> {
    match train == test {
        true => Ok(()),
        false => Err(DataError::malformed(format!(
            "has training samples of shape {train:?}, but test samples of shape {test:?}"
        ))
        .in_file(path)),
    }
}

/// The sample that is part of the binary.
fn built_in() -> Result<(Samples, Option<Samples>)> {
    let read = |file: usize| idx::read(known::SAMPLE[file], &idx::Limits::default());
    let train = folder::samples(read(0)?, read(1)?)?;
    let test = folder::samples(read(2)?, read(3)?)?;
    Ok((train, Some(test)))
}

/// What the classes are called: as the run file says, else as the source knows, else by number.
fn labels(data: &Data, classes: usize, own: &[String]) -> Result<Vec<String>> {
    if classes > MOST_CLASSES {
        return Err(DataError::malformed(format!(
            "a label is {}; labels number the classes from 0, and at most {MOST_CLASSES} are \
             understood",
            classes - 1
        ))
        .in_place(&data.from));
    }
    if let Some(labels) = &data.labels {
        if labels.len() < classes {
            return Err(DataError::Impossible(format!(
                "`data.labels` names {} classes, but the labels go up to {}",
                labels.len(),
                classes - 1
            )));
        }
        return Ok(labels.clone());
    }
    Ok(match known::find(&data.from) {
        Some(known) => known.labels.map(str::to_owned).to_vec(),
        None if !own.is_empty() => own.to_vec(),
        None => (0..classes).map(|class| class.to_string()).collect(),
    })
}

fn refuse_nothing(data: &Data, samples: usize) -> Result<()> {
    match samples {
        0 => Err(DataError::malformed("holds no samples to train on").in_place(&data.from)),
        _ => Ok(()),
    }
}

/// A source that has samples to validate on needs no others.
fn refuse_two_validations(data: &Data, own: bool) -> Result<()> {
    match own && data.validation != Holdout::None {
        false => Ok(()),
        true => Err(DataError::Impossible(format!(
            "`{}` has validation samples of its own; leave `data.validation` out",
            data.from
        ))),
    }
}

/// How many of `samples` are held out.
fn held_out(holdout: Holdout, samples: usize) -> Result<usize> {
    let count = match holdout {
        Holdout::None => 0,
        Holdout::Share(share) => (share * samples as f64).round() as usize,
        Holdout::Count(count) => usize::try_from(count).unwrap_or(usize::MAX),
    };
    match count {
        count if count > 0 && count >= samples => Err(DataError::Impossible(format!(
            "`data.validation` would hold out {count} of {samples} training samples and leave none \
             to train on"
        ))),
        count => Ok(count),
    }
}
