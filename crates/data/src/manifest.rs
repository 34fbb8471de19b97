//! A prepared dataset: a folder of npz files and `manifest.json`, which is written last and says
//! what they hold. A folder without it is no dataset, whatever else lies there.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use preprocess::Form;
use serde::{Deserialize, Serialize};
use spec::{Assign, Split};

use crate::error::{DataError, Result};
use crate::npz::Archive;
use crate::samples::{Samples, ValueKind};
use crate::skipped::Skipped;
use crate::triplets::{Draw, picture_shape};

/// The version of the manifest this writes, and the only one it reads.
pub(crate) const VERSION: u32 = 3;

/// The manifest's file name.
pub(crate) const FILE: &str = "manifest.json";

/// No manifest is larger.
const MOST: u64 = 64 << 20;

/// What a prepared dataset holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this file's form.
    pub version: u32,
    /// What it was made from.
    pub origin: Origin,
    /// The shape of one sample.
    pub shape: Vec<usize>,
    /// How many classes there are.
    pub classes: usize,
    /// What the classes are called.
    pub labels: Vec<String>,
    /// What a value is multiplied with before a network sees it.
    pub scale: f32,
    /// What values are.
    pub values: ValueKind,
    /// What samples were made from, and how.
    #[serde(default, skip_serializing_if = "Form::is_numbers")]
    pub form: Form,
    /// Files of the source that could not be decoded, and were left out.
    #[serde(default, skip_serializing_if = "Skipped::is_none")]
    pub skipped: Skipped,
    /// The training shards, by rank; where every worker sees everything, one file for all.
    pub train: Vec<Part>,
    /// What was held out for validation.
    pub validation: Option<Part>,
    /// What is tested on.
    pub test: Option<Part>,
    /// The folder it lies in.
    #[serde(skip)]
    pub(crate) dir: PathBuf,
}

/// What a dataset was made from. Equal origins give equal datasets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The source as the run file names it.
    pub name: String,
    /// SHA-256 over the source's training samples.
    pub train_sha256: String,
    /// SHA-256 over the source's own validation samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_sha256: Option<String>,
    /// SHA-256 over the source's test samples.
    pub test_sha256: Option<String>,
    /// The seed that dealt the samples out.
    pub seed: u64,
    /// How many samples were held out.
    pub validation: usize,
    /// Whether the shares of the classes were kept.
    pub stratify: bool,
    /// Which samples each worker sees.
    pub assign: Assign,
    /// For how many workers.
    pub shards: usize,
}

/// One file of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name in the folder.
    pub file: String,
    /// How many samples it holds.
    pub samples: usize,
    /// How many of each class.
    pub per_class: Vec<u64>,
    /// SHA-256 over its samples (see [`Samples::sha256`]).
    pub sha256: String,
}

impl Manifest {
    /// Opens a prepared dataset. Its samples are checked when they are read.
    pub fn open(dir: &Path) -> Result<Manifest> {
        let path = dir.join(FILE);
        let file = File::open(&path).map_err(DataError::io("read", &path))?;
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text).map_err(DataError::io("read", &path))?;
        let mut manifest: Manifest = serde_json::from_str(&text).map_err(|error| {
            DataError::malformed(format!("{error}; prepare the data again")).in_file(&path)
        })?;
        let parts = manifest.parts();
        if manifest.version != VERSION {
            return Err(DataError::malformed(format!(
                "is of version {}, and this program reads {VERSION}; prepare the data again",
                manifest.version
            ))
            .in_file(&path));
        }
        let files = match manifest.origin.assign {
            Assign::Split => manifest.origin.shards,
            Assign::Copy => 1,
        };
        if manifest.world() == 0
            || manifest.train.len() != files
            || manifest.labels.len() != manifest.classes
        {
            return Err(DataError::malformed(
                "names not every shard, or not every class; prepare the data again",
            )
            .in_file(&path));
        }
        // Names come from a file: they must not lead out of the folder.
        if let Some(part) = parts.into_iter().find(|part| !is_plain(&part.file)) {
            return Err(DataError::malformed(format!(
                "names the file `{}`, which is not one in this folder",
                part.file
            ))
            .in_file(&path));
        }
        manifest.dir = dir.to_owned();
        Ok(manifest)
    }

    /// How many logical workers it was prepared for.
    pub fn world(&self) -> usize {
        self.origin.shards
    }

    /// How many samples a logical worker trains on; none where there is no such worker.
    pub fn shard_samples(&self, rank: usize) -> usize {
        self.part(rank).map_or(0, |part| part.samples)
    }

    /// How many triplets are drawn of them for an epoch, where samples are no triplets yet.
    pub fn shard_triplets(&self, rank: usize, draw: Draw) -> usize {
        match picture_shape(&self.shape) == self.shape {
            true => self.part(rank).map_or(0, |part| draw.count(&part.per_class)),
            false => self.shard_samples(rank),
        }
    }

    /// How many samples the logical worker with the most of them trains on.
    pub fn largest_shard(&self) -> usize {
        self.train.iter().map(|part| part.samples).max().unwrap_or(0)
    }

    /// The file of the samples a logical worker trains on.
    pub fn shard_file(&self, rank: usize) -> Option<PathBuf> {
        self.part(rank).map(|part| self.dir.join(&part.file))
    }

    /// The file of what was held out for validation, and the one of what is tested on.
    pub fn held_out_files(&self) -> [Option<PathBuf>; 2] {
        [&self.validation, &self.test].map(|part| Some(self.dir.join(&part.as_ref()?.file)))
    }

    /// The file that says what a prepared dataset holds.
    pub fn file(dir: &Path) -> PathBuf {
        dir.join(FILE)
    }

    /// Reads and checks the samples a logical worker trains on.
    pub fn shard(&self, rank: usize) -> Result<Samples> {
        let part = self.part(rank).ok_or_else(|| {
            DataError::Impossible(format!(
                "there is no shard {rank}: {} has {} shards, numbered from 0",
                self.dir.display(),
                self.world()
            ))
        })?;
        self.read(part)
    }

    /// Reads and checks the samples of a split. Training samples are put together again, shard
    /// after shard.
    pub fn split(&self, split: Split) -> Result<Samples> {
        let part = match split {
            Split::Train => return self.read_all(),
            Split::Validation => self.validation.as_ref(),
            Split::Test => self.test.as_ref(),
        };
        let part = part.ok_or_else(|| {
            let (name, hint) = match split {
                Split::Validation => ("validation", "set `data.validation` to hold some out"),
                _ => ("test", "evaluate on `validation` or `train` instead"),
            };
            DataError::Impossible(format!("`{}` has no {name} samples; {hint}", self.origin.name))
        })?;
        self.read(part)
    }

    /// How many samples are trained on, all workers together, each counted once.
    pub fn train_samples(&self) -> usize {
        self.train.iter().map(|part| part.samples).sum()
    }

    /// The file with a logical worker's samples.
    fn part(&self, rank: usize) -> Option<&Part> {
        match self.origin.assign {
            Assign::Split => self.train.get(rank),
            Assign::Copy => self.train.first().filter(|_| rank < self.world()),
        }
    }

    /// All files, training shards first.
    pub(crate) fn parts(&self) -> Vec<&Part> {
        let rest = self.validation.iter().chain(&self.test);
        self.train.iter().chain(rest).collect()
    }

    /// Reads one file and checks it against what is written of it here.
    pub(crate) fn read(&self, part: &Part) -> Result<Samples> {
        let path = self.dir.join(&part.file);
        let mut archive = Archive::open(&path)?;
        let y = archive.labels("y")?;
        let x = archive.array_as_written("x")?.values;
        let samples = Samples::new(self.shape.clone(), x, y, Some(self.classes))
            .map_err(|error| error.in_file(&path))?;
        let same = samples.len() == part.samples
            && samples.x.kind() == self.values
            && samples.scale() == self.scale;
        if !same || samples.sha256() != part.sha256 {
            return Err(DataError::malformed(
                "is not the file that was prepared: its samples have another hash than the \
                 manifest says; remove the folder and prepare the data again",
            )
            .in_file(&path));
        }
        Ok(samples)
    }

    fn read_all(&self) -> Result<Samples> {
        let mut whole = self.read(&self.train[0])?;
        for part in &self.train[1..] {
            let next = self.read(part)?;
            whole.x.extend(next.x.view());
            whole.y.extend_from_slice(&next.y);
        }
        Ok(whole)
    }
}

fn is_plain(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == name)
}
