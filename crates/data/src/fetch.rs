//! Getting a known dataset's files: from a mirror in a folder, from the cache, or from its homes.
//!
//! Whatever the way, the samples are checked against the hashes in `known`, so any faithful copy
//! will do and no other passes. Downloads go to `<file>.part` and are continued from there after an
//! interruption; a finished file is put in its place by a rename. One process downloads a dataset
//! at a time, others wait for it.

mod archive;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use store::{Store, StoreError};

use crate::error::{DataError, Result};
use crate::folder::{FILES, Folder};
use crate::known::Known;
use crate::samples::Samples;
use crate::source::{Places, Progress};

pub(crate) use archive::archive;

/// No file of a known dataset is larger.
const MOST: u64 = 256 << 20;

/// How often each home is tried. One try may go to leftovers that turn out to be wrong.
const ATTEMPTS: usize = 3;

/// How long another process may take to download, and how often we look.
const WAIT: Duration = Duration::from_secs(1800);
const POLL: Duration = Duration::from_millis(100);

type Pair = (Samples, Option<Samples>);

/// Loads a known dataset, fetching it if it is not here.
pub(crate) fn load(
    known: &Known,
    mirror: Option<&str>,
    places: &Places,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Pair> {
    let mirror = mirror.map(|mirror| mirror.strip_prefix("file://").unwrap_or(mirror));
    if let Some(folder) = mirror.filter(|mirror| !mirror.contains("://")) {
        return load_checked(known, Path::new(folder));
    }
    let cache = places.cache.join("datasets").join(known.name);
    let missing = |reason: String| DataError::Missing {
        name: known.name.to_owned(),
        reason,
        files: "four idx files",
        cache: cache.clone(),
    };
    match load_checked(known, &cache) {
        Ok(pair) => return Ok(pair),
        Err(_) if !places.offline => {}
        Err(_) if !cache.exists() => return Err(missing("fetching is switched off".to_owned())),
        Err(error) => return Err(missing(format!("fetching is switched off, and {error}"))),
    }
    fs::create_dir_all(&cache).map_err(DataError::io("create", &cache))?;
    let _lock = lock(&cache, progress)?;
    let homes = match mirror {
        Some(mirror) => vec![mirror],
        None => known.homes.to_vec(),
    };
    fetch_checked(known, &homes, &cache, progress).map_err(|reasons| missing(reasons.join("; ")))
}

/// Loads a folder and checks that it holds the dataset.
fn load_checked(known: &Known, folder: &Path) -> Result<Pair> {
    let folder_of_files = Folder::open(folder)?;
    let found = folder_of_files.facts()?;
    if (found.train, found.test) != (known.train.samples, known.test.samples) {
        return Err(DataError::malformed(format!(
            "holds {} training and {} test samples, and {} has {} and {}; fetch it again from a \
             faithful copy",
            found.train, found.test, known.name, known.train.samples, known.test.samples
        ))
        .in_file(folder));
    }
    let (train, test) = folder_of_files.load()?;
    for (split, samples, expected) in
        [("training", Some(&train), &known.train), ("test", test.as_ref(), &known.test)]
    {
        if samples.is_none_or(|samples| samples.sha256() != expected.sha256) {
            return Err(DataError::malformed(format!(
                "does not hold the {} {split} samples of {} (SHA-256 over the samples is not {}); \
                 fetch it again from a faithful copy",
                expected.samples, known.name, expected.sha256
            ))
            .in_file(folder));
        }
    }
    Ok((train, test))
}

/// Fetches into the cache from one home after another until what is there is right.
/// Otherwise says what each attempt came to.
fn fetch_checked(
    known: &Known,
    homes: &[&str],
    cache: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Pair, Vec<String>> {
    let mut reasons: Vec<String> = Vec::new();
    for home in homes {
        for _ in 0..ATTEMPTS {
            let fetched = fetch(home, cache, progress);
            let gone = matches!(fetched, Err(DataError::Store(StoreError::NotFound { .. })));
            let arrived = fetched.is_ok();
            match fetched.and_then(|()| load_checked(known, cache)) {
                Ok(pair) => return Ok(pair),
                Err(error) => reasons.push(error.to_string()),
            }
            if arrived {
                // All files are here and wrong: nothing of them can be used.
                let removed = remove_files(cache);
                reasons.extend(removed.err().map(|error| error.to_string()));
            }
            if gone {
                break;
            }
        }
    }
    reasons.dedup();
    Err(reasons)
}

/// Downloads those of the four files that are not here yet.
fn fetch(home: &str, cache: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<()> {
    let store = Store::url(home)?;
    for file in FILES {
        let packed = format!("{file}.gz");
        if cache.join(file).exists() || cache.join(&packed).exists() {
            continue;
        }
        match fetch_file(&store, &packed, &cache.join(&packed), progress) {
            Err(DataError::Store(StoreError::NotFound { .. })) => {
                fetch_file(&store, file, &cache.join(file), progress)?;
            }
            other => other?,
        }
    }
    Ok(())
}

/// Downloads one file, going on where an earlier download was cut.
fn fetch_file(
    store: &Store,
    name: &str,
    dest: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<()> {
    let mut part = dest.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let mut done = fs::metadata(part).map_or(0, |part| part.len());
    let mut reader = match store.reader(name, done) {
        Err(_) if done > 0 => {
            // What is here may be longer than the file. Only a server that has the file may say so.
            let reader = store.reader(name, 0)?;
            fs::remove_file(part).map_err(DataError::io("remove", part))?;
            done = 0;
            reader
        }
        other => other?,
    };
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(part)
        .map_err(DataError::io("write", part))?;
    let total = reader.size();
    let mut buffer = vec![0; 1 << 16];
    loop {
        progress(Progress::Fetching { file: name, done, total });
        let broken = |problem: String| StoreError::Unreachable {
            url: format!("{}/{name}", store.place()),
            problem,
        };
        let count = reader.read(&mut buffer).map_err(|error| broken(error.to_string()))?;
        if count == 0 {
            break;
        }
        done += count as u64;
        if done > MOST {
            fs::remove_file(part).map_err(DataError::io("remove", part))?;
            return Err(broken(format!("it is larger than {MOST} bytes")).into());
        }
        file.write_all(&buffer[..count]).map_err(DataError::io("write", part))?;
    }
    Ok(store::publish_file(part, dest)?)
}

/// Removes the dataset's files, finished or not.
fn remove_files(cache: &Path) -> Result<()> {
    for file in FILES {
        for end in ["", ".gz", ".part", ".gz.part"] {
            let path = cache.join(format!("{file}{end}"));
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(DataError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Waits until no other process fetches into this folder. The lock ends with the file.
fn lock(cache: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<File> {
    let path = cache.join(".lock");
    let file = File::create(&path).map_err(DataError::io("create", &path))?;
    for _ in 0..WAIT.as_millis() / POLL.as_millis() {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => progress(Progress::Waiting),
            Err(TryLockError::Error(error)) => return Err(DataError::io("lock", &path)(error)),
        }
        std::thread::sleep(POLL);
    }
    Err(DataError::Impossible(format!(
        "another process has been fetching into {} for {} minutes; end it and try again",
        cache.display(),
        WAIT.as_secs() / 60
    )))
}

#[cfg(test)]
mod tests;
