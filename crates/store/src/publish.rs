//! Putting one file in its place so that it is there whole or not at all, and stays.
//!
//! The bytes go to a temporary file beside the destination, which is synced, renamed over it, and
//! then the folder is synced too: without the last step a crash can forget the rename. Whatever goes
//! wrong before the rename leaves the old file as it was. [`Store::put`](crate::Store::put) does the
//! same for names inside a store; this is for files whose path the user chose, and for contents that
//! are written as a stream.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::store::is_temporary;
use crate::{Result, StoreError};

/// What others may do with a file is what the user's mask leaves them, or nothing at all.
const PUBLIC: u32 = 0o666;
const PRIVATE: u32 = 0o600;

/// Writes a file by `write` and puts it at `path`, replacing what was there.
pub fn publish(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    publish_as(PUBLIC, path, write)
}

/// Puts a file at `path` that only its owner may read, at no time anybody else.
pub fn publish_private(path: &Path, contents: &[u8]) -> Result<()> {
    publish_as(PRIVATE, path, |out| out.write_all(contents))
}

fn publish_as(
    mode: u32,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let written = create_beside(path, mode).and_then(|(temporary, file)| {
        let mut out = BufWriter::new(file);
        write(&mut out)
            .and_then(|()| out.into_inner().map_err(io::IntoInnerError::into_error))
            .and_then(|file| file.sync_all())
            .and_then(|()| rename(&temporary, path))
            .inspect_err(|_| drop(fs::remove_file(&temporary)))
    });
    written.map_err(|source| error(source, path))
}

/// Puts a finished file, such as a download, at `path`, replacing what was there. Both must lie on
/// one file system.
pub fn publish_file(finished: &Path, path: &Path) -> Result<()> {
    File::open(finished)
        .and_then(|file| file.sync_all())
        .and_then(|()| rename(finished, path))
        .map_err(|source| error(source, path))
}

/// Creates a folder and those above it so that they survive a crash.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_folder(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder_of(path),
    }
}

/// Syncs the folder a file lies in.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder_of(to)
}

/// A new file beside `path`, under a name that `object_store` also takes for a temporary one.
fn create_beside(path: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the path of a file"))?;
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    for number in 1..=MAX_TORN {
        let mut name = name.to_os_string();
        name.push(format!("#{number}"));
        let temporary = path.with_file_name(name);
        let mut options = OpenOptions::new();
        match options.write(true).create_new(true).mode(mode).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => return other.map(|file| (temporary, file)),
        }
    }
    Err(io::Error::other(format!(
        "{MAX_TORN} unfinished files lie beside it; remove those whose names end in # and a number"
    )))
}

/// Removes what killed processes left unfinished in a folder and below. Only for who alone writes
/// there.
pub(crate) fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sweep(&entry.path())?;
        } else if kind.is_file() && is_temporary(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// How many temporary files of killed processes may lie beside a file.
const MAX_TORN: u32 = 10_000;

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn error(source: io::Error, path: &Path) -> StoreError {
    let name = path.file_name().unwrap_or(path.as_os_str());
    StoreError::io(source, &name.to_string_lossy(), &folder_of(path).display().to_string())
}
