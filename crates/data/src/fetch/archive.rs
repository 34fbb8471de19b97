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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use spec::Data;
    use tempfile::tempdir;

    use super::*;
    use crate::fetch::tests::{Answer, Server};

    fn packed(good: &str) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (path, text) in [
            ("a/train/neg/1.txt", "bad"),
            ("a/train/pos/1.txt", good),
            ("a/test/pos/1.txt", "fine"),
        ] {
            zip.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn it_is_fetched_once_checked_and_fetched_anew_when_wrong() {
        let known = KnownTexts::tiny(&[("bad", 0), ("good", 1)], &[("fine", 1)]);
        let server = Server::start([(known.file.to_owned(), Answer::Whole(packed("good")))]);
        let cache = tempdir().unwrap();
        let load = |mirror: &str, offline: bool| {
            let places = Places { cache: cache.path().to_owned(), offline };
            let data = Data { mirror: Some(mirror.to_owned()), ..Data::named("imdb") };
            known.load(&data, &places, &mut |_| {})
        };
        assert_eq!(load(&server.url, false).unwrap().train.len(), 2);
        assert_eq!(server.count(known.file), 1);
        // It is here now, and need not be fetched.
        assert!(load(&server.url, true).is_ok());

        // A copy that holds something else is not taken, wherever it comes from.
        let file = cache.path().join("datasets/imdb").join(known.file);
        std::fs::write(&file, packed("other")).unwrap();
        assert!(load(&server.url, false).is_ok());
        assert_eq!(server.count(known.file), 1);
        std::fs::remove_file(&file).unwrap();
        server.set("other.zip", Answer::Whole(packed("other")));
        let error = load(&format!("{}/other.zip", server.url), false).unwrap_err().to_string();
        assert!(error.contains("does not hold the 2 training texts"), "{error}");
        assert_eq!(server.count("other.zip"), ATTEMPTS);
        assert!(!file.exists());
        let error = load(&format!("{}/none.zip", server.url), false).unwrap_err().to_string();
        assert!(error.contains("none.zip"), "{error}");
        assert_eq!(server.count("none.zip"), 1);
    }
}
