//! A dataset that is one archive.

use std::path::Path;

use store::{Store, StoreError};

use super::{ATTEMPTS, fetch_file, lock};
use crate::error::{DataError, Result};
use crate::known_texts::KnownTexts;
use crate::source::{Places, Progress, Raw};
use crate::tree;

/// Fetches the archive, if it is not here, and reads it. A copy that is read wrongly is fetched anew.
pub(crate) fn archive(
    known: &KnownTexts,
    mirror: Option<&str>,
    places: &Places,
    read: &mut dyn FnMut(&Path) -> Result<Raw>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Raw> {
    let cache = places.cache.join("datasets").join(known.name);
    let file = cache.join(known.file);
    let missing = |reason: String| DataError::Missing {
        name: known.name.to_owned(),
        reason,
        files: known.file,
        cache: cache.clone(),
    };
    let mut reasons = Vec::new();
    if file.exists() {
        match read(&file) {
            Ok(raw) => return Ok(raw),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    if places.offline {
        reasons.push("fetching is switched off".to_owned());
        return Err(missing(reasons.join("; ")));
    }
    std::fs::create_dir_all(&cache).map_err(DataError::io("create", &cache))?;
    let _lock = lock(&cache, progress)?;
    // Whoever had the lock may have fetched it.
    if reasons.is_empty() && file.exists() {
        return read(&file);
    }
    let (home, name) = home(known, mirror);
    for _ in 0..ATTEMPTS {
        let fetched = Store::url(home)
            .map_err(DataError::from)
            .and_then(|store| fetch_file(&store, name, &file, progress));
        let gone = matches!(fetched, Err(DataError::Store(StoreError::NotFound { .. })));
        match fetched.and_then(|()| read(&file)) {
            Ok(raw) => return Ok(raw),
            Err(error) => reasons.push(error.to_string()),
        }
        if gone {
            break;
        }
        if file.exists() {
            std::fs::remove_file(&file).map_err(DataError::io("remove", &file))?;
        }
    }
    reasons.dedup();
    Err(missing(reasons.join("; ")))
}

/// The folder that has the archive, and its name there. A mirror is a folder, or the archive itself.
fn home<'a>(known: &'a KnownTexts, mirror: Option<&'a str>) -> (&'a str, &'a str) {
    let split = mirror.filter(|mirror| tree::is_archive(Path::new(mirror)));
    match split.and_then(|mirror| mirror.rsplit_once('/')) {
        Some(halves) => halves,
        None => (mirror.unwrap_or(known.home), known.file),
    }
}
