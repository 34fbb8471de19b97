//! A folder as a tree. Links are followed: it is the user's own folder, and data often lies elsewhere.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{Entry, names};
use crate::error::{DataError, Result};

/// Lists all files, those in folders too.
pub(super) fn list(root: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut open = vec![(String::new(), root.to_owned(), 0)];
    while let Some((within, path, depth)) = open.pop() {
        for entry in fs::read_dir(&path).map_err(DataError::io("read", &path))? {
            let entry = entry.map_err(DataError::io("read", &path))?;
            let name = text(&entry.path())?;
            if !names::is_visible(&name) {
                continue;
            }
            // What cannot be looked at, such as a link that leads nowhere, is no file.
            let Ok(meta) = fs::metadata(entry.path()) else { continue };
            let within = if within.is_empty() { name } else { format!("{within}/{name}") };
            if meta.is_dir() && depth < names::DEEPEST {
                open.push((within, entry.path(), depth + 1));
            } else if meta.is_file() {
                super::add(&mut entries, &within, meta.len(), 0)
                    .map_err(|error| error.in_file(root))?;
            } else if meta.is_dir() {
                return Err(DataError::malformed("is too deep; does a link lead back into it?")
                    .in_file(&entry.path()));
            }
        }
    }
    Ok(entries)
}

fn text(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| {
        DataError::malformed("has a name that is not Unicode; rename it").in_file(path)
    })
}

/// Reads one file.
pub(super) fn read(path: &PathBuf, most: u64) -> Result<Vec<u8>, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let size = file.metadata().map_or(0, |meta| meta.len());
    super::read_up_to(&mut file, size, most)
}
