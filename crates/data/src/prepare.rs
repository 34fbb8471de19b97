//! Writing a dataset: shards, splits, and the manifest last.
//!
//! A process that is killed leaves files without a manifest, and the next one writes them again.
//! Where a manifest of equal origin lies with files that are whole, nothing is done.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use spec::{Assign, Prepare};

use crate::error::{DataError, Result};
use crate::known;
use crate::manifest::{FILE, Manifest, Origin, Part, VERSION};
use crate::npz;
use crate::samples::Samples;
use crate::source::{self, Places, Progress, Raw};
use crate::split;

/// Writes a source as a dataset into `dest`, or finds that it is there already.
pub fn prepare(
    prepare: &Prepare,
    seed: u64,
    places: &Places,
    dest: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Manifest> {
    // What a known dataset holds is known: if it was prepared before, its source is not needed.
    if let Some((origin, labels)) = known_origin(prepare, seed)?
        && let Some(manifest) = existing(dest, &origin, &labels, &known::SHAPE)
    {
        return Ok(manifest);
    }
    let raw = source::load_raw(&prepare.data, places, progress)?;
    let (kept, held) = source::hold_out(&prepare.data, &raw.train, seed)?;
    let hashes = Hashes {
        train: raw.train.sha256(),
        validation: raw.validation.as_ref().map(Samples::sha256),
        test: raw.test.as_ref().map(Samples::sha256),
    };
    let origin = origin(prepare, seed, hashes, held.len());
    if let Some(manifest) = existing(dest, &origin, &raw.labels, &raw.train.shape)
        && manifest.form == raw.form
    {
        return Ok(manifest);
    }
    let files = deal(&raw.train, kept, prepare, seed)?;
    std::fs::create_dir_all(dest).map_err(DataError::io("create", dest))?;
    forget(dest)?;
    let draft = Draft { raw, files, held, origin };
    write(&draft, dest, progress)
}

/// What a known dataset will be made from, and what its classes are called.
fn known_origin(prepare: &Prepare, seed: u64) -> Result<Option<(Origin, Vec<String>)>> {
    let Some(known) = known::find(&prepare.data.from) else {
        return Ok(None);
    };
    let facts = source::facts(&prepare.data)?;
    let hashes = Hashes {
        train: known.train.sha256.to_owned(),
        validation: None,
        test: Some(known.test.sha256.to_owned()),
    };
    Ok(Some((origin(prepare, seed, hashes, facts.validation), facts.labels)))
}

/// The hashes of a source's samples.
struct Hashes {
    train: String,
    validation: Option<String>,
    test: Option<String>,
}

fn origin(prepare: &Prepare, seed: u64, hashes: Hashes, validation: usize) -> Origin {
    Origin {
        name: prepare.data.from.clone(),
        train_sha256: hashes.train,
        validation_sha256: hashes.validation,
        test_sha256: hashes.test,
        seed,
        validation,
        stratify: prepare.data.stratify,
        assign: prepare.data.assign,
        shards: prepare.shards,
    }
}

/// What is to be written.
struct Draft {
    raw: Raw,
    /// Numbers of training samples, by file: one for each shard, or one with everything.
    files: Vec<Vec<u32>>,
    /// Numbers of those held out.
    held: Vec<u32>,
    origin: Origin,
}

/// The dataset in `dest`, if it is whole and the one that would be written.
fn existing(dest: &Path, origin: &Origin, labels: &[String], shape: &[usize]) -> Option<Manifest> {
    let manifest = Manifest::open(dest).ok()?;
    let equal = manifest.origin == *origin && manifest.labels == labels && manifest.shape == shape;
    let whole = || manifest.parts().into_iter().all(|part| manifest.read(part).is_ok());
    (equal && whole()).then_some(manifest)
}

/// Deals the kept training samples out to files.
fn deal(train: &Samples, kept: Vec<u32>, prepare: &Prepare, seed: u64) -> Result<Vec<Vec<u32>>> {
    if prepare.data.assign == Assign::Copy {
        return Ok(vec![kept]);
    }
    let labels: Option<Vec<u32>> =
        prepare.data.stratify.then(|| kept.iter().map(|&index| train.y[index as usize]).collect());
    let key = source::shard_key(seed);
    let mut shards = split::split(kept.len(), prepare.shards, labels.as_deref(), key)?;
    for place in shards.iter_mut().flatten() {
        *place = kept[*place as usize];
    }
    Ok(shards)
}

/// Removes an old manifest before its files are replaced, so that no one believes it, and then its
/// shards: were they dealt out to another number of workers, they would lie here for ever.
fn forget(dest: &Path) -> Result<()> {
    remove(&dest.join(FILE))?;
    let entries = std::fs::read_dir(dest).map_err(DataError::io("read", dest))?;
    for entry in entries {
        let path = entry.map_err(DataError::io("read", dest))?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_shard) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(DataError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// The name of a shard's file.
fn shard_name(number: usize, of: usize) -> String {
    format!("train-{number:05}-of-{of:05}.npz")
}

/// Whether a file has the name of a shard, of however many.
fn is_shard(name: &str) -> bool {
    let numbers = name.strip_prefix("train-").and_then(|name| name.strip_suffix(".npz"));
    let numbers = numbers.and_then(|numbers| numbers.split_once("-of-"));
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    numbers.is_some_and(|(number, of)| is_number(number) && is_number(of))
}

fn write(draft: &Draft, dest: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Manifest> {
    let train = &draft.raw.train;
    let files = draft.files.len();
    let validates = !draft.held.is_empty() || draft.raw.validation.is_some();
    let total = files + usize::from(validates) + usize::from(draft.raw.test.is_some());
    let mut done = 0;
    let mut part = |file: &str, samples: &Samples, indices: &[u32]| {
        progress(Progress::Writing { file, done, total });
        done += 1;
        write_part(dest, file, samples, indices)
    };
    let mut written = Vec::new();
    for (number, indices) in draft.files.iter().enumerate() {
        written.push(part(&shard_name(number, files), train, indices)?);
    }
    let all = |samples: &Samples| -> Vec<u32> { (0..samples.len() as u32).collect() };
    let validation = match (&draft.raw.validation, draft.held.is_empty()) {
        (_, false) => Some(part("validation.npz", train, &draft.held)?),
        (Some(own), true) => Some(part("validation.npz", own, &all(own))?),
        (None, true) => None,
    };
    let test = match &draft.raw.test {
        None => None,
        Some(test) => Some(part("test.npz", test, &all(test))?),
    };
    let manifest = Manifest {
        version: VERSION,
        origin: draft.origin.clone(),
        shape: train.shape.clone(),
        classes: train.classes,
        labels: draft.raw.labels.clone(),
        scale: train.scale(),
        values: train.x.kind(),
        form: draft.raw.form.clone(),
        skipped: draft.raw.skipped.clone(),
        train: written,
        validation,
        test,
        dir: dest.to_owned(),
    };
    let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
    text.push(b'\n');
    store::publish(&dest.join(FILE), |out| out.write_all(&text))?;
    Ok(manifest)
}

/// Writes one file and says what it holds.
fn write_part(dest: &Path, file: &str, samples: &Samples, indices: &[u32]) -> Result<Part> {
    write_npz(&dest.join(file), samples, indices, &samples.shape)?;
    let mut per_class = vec![0; samples.classes];
    for &index in indices {
        per_class[samples.y[index as usize] as usize] += 1;
    }
    Ok(Part {
        file: file.to_owned(),
        samples: indices.len(),
        per_class,
        sha256: samples.sha256_of(indices.iter().copied()),
    })
}

/// Writes the samples with these numbers to a file that is there whole or not at all.
pub(crate) fn write_npz(
    path: &Path,
    samples: &Samples,
    indices: &[u32],
    shape: &[usize],
) -> Result<()> {
    // Two processes may write the same file; each has a part of its own.
    let part = path.with_extension(format!("npz.{}.part", std::process::id()));
    File::create(&part)
        .and_then(|file| npz::write_samples(BufWriter::new(file), samples, indices, shape))
        .and_then(|mut file| file.flush())
        .inspect_err(|_| drop(std::fs::remove_file(&part)))
        .map_err(DataError::io("write", &part))?;
    Ok(store::publish_file(&part, path)?)
}
