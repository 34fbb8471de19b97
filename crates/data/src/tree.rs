//! A tree of files: a folder, a zip, or a tar (plain, gzipped or xz).
//!
//! It is listed once, in the order of paths, byte by byte, whatever order the archive or the system
//! has. What is wanted is then read in one pass, file by file; nothing is unpacked to disk, so no
//! name in an archive can lead anywhere. Links and other things that are no files are left out, and
//! so are hidden files and what macOS adds.

mod folder;
mod names;
mod tar;
mod unpack;
mod zipped;

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use crate::error::{DataError, Result};

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path from the top, with `/` between names.
    pub(crate) path: String,
    /// Bytes it says it has.
    pub(crate) size: u64,
    /// Which one of its archive it is.
    number: usize,
}

/// A tree of files that has been listed.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    form: Form,
    /// In the order of their paths.
    pub(crate) entries: Vec<Entry>,
}

/// What the tree lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Folder,
    Zip,
    Tar,
}

/// ImageNet has a million pictures; a tree of more is a mistake, or made to fill memory.
const MOST_FILES: usize = 2_000_000;

/// Gets the files that are wanted: which of them, and its bytes or why they cannot be had.
pub(crate) type Visit<'a> = dyn FnMut(usize, Result<Vec<u8>, String>) -> Result<()> + 'a;

/// Whether a file is an archive by its name.
pub(crate) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    let ends = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz"];
    name.is_some_and(|name| ends.iter().any(|end| name.ends_with(end)))
}

impl Tree {
    /// Lists a folder or an archive.
    pub(crate) fn open(root: &Path) -> Result<Tree> {
        let (form, mut entries) = if root.is_dir() {
            (Form::Folder, folder::list(root)?)
        } else {
            list(open(root)?).map_err(|error| error.in_file(root))?
        };
        sort(&mut entries).map_err(|error| error.in_file(root))?;
        Ok(Tree { root: root.to_owned(), form, entries })
    }

    /// Where it is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// How people call a file of it.
    pub(crate) fn name(&self, entry: &Entry) -> String {
        match self.form {
            Form::Folder => self.root.join(&entry.path).display().to_string(),
            _ => format!("{}: {}", self.root.display(), entry.path),
        }
    }

    /// Reads files, each of at most `most` bytes, in whatever order is quickest. `wanted` are numbers
    /// of entries, and `visit` is told places in it.
    pub(crate) fn each(&self, wanted: &[usize], most: u64, visit: &mut Visit<'_>) -> Result<()> {
        let order = |place: &usize| self.entries[wanted[*place]].number;
        let mut places: Vec<usize> = (0..wanted.len()).collect();
        places.sort_by_key(order);
        let numbers: Vec<(usize, usize)> =
            places.into_iter().map(|place| (order(&place), place)).collect();
        let read = match self.form {
            Form::Folder => {
                for &(_, place) in &numbers {
                    let path = self.root.join(&self.entries[wanted[place]].path);
                    visit(place, folder::read(&path, most))?;
                }
                Ok(())
            }
            Form::Zip => zipped::each(open(&self.root)?, &numbers, most, visit),
            Form::Tar => tar::each(unpack::unpacked(open(&self.root)?)?, &numbers, most, visit),
        };
        read.map_err(|error| match error {
            DataError::Malformed { ref place, .. } if place.is_empty() => error.in_file(&self.root),
            other => other,
        })
    }

    /// Reads one file.
    pub(crate) fn read(&self, entry: usize, most: u64) -> Result<Vec<u8>> {
        let mut found = None;
        self.each(&[entry], most, &mut |_, bytes| {
            found = Some(bytes);
            Ok(())
        })?;
        let bytes = found.unwrap_or_else(|| Err("it is gone".to_owned()));
        bytes.map_err(|problem| DataError::Malformed {
            place: self.name(&self.entries[entry]),
            problem,
        })
    }
}

/// Every file of an archive in memory: what fuzzing feeds.
pub fn read_archive(bytes: &[u8], most: u64) -> Result<Vec<(String, Vec<u8>)>> {
    let (form, mut entries) = list(Cursor::new(bytes))?;
    sort(&mut entries)?;
    let mut numbers: Vec<(usize, usize)> =
        entries.iter().enumerate().map(|(place, entry)| (entry.number, place)).collect();
    numbers.sort_unstable();
    let mut files = Vec::new();
    let mut keep = |place: usize, bytes: Result<Vec<u8>, String>| {
        files.extend(bytes.ok().map(|bytes| (entries[place].path.clone(), bytes)));
        Ok(())
    };
    match form {
        Form::Zip => zipped::each(Cursor::new(bytes), &numbers, most, &mut keep)?,
        _ => tar::each(unpack::unpacked(Cursor::new(bytes))?, &numbers, most, &mut keep)?,
    }
    files.sort();
    Ok(files)
}

/// What an archive holds, by its first bytes.
fn list<R: Read + Seek>(mut reader: R) -> Result<(Form, Vec<Entry>)> {
    let mut start = [0; 4];
    let is_zip = reader.read_exact(&mut start).is_ok() && start == *b"PK\x03\x04";
    reader.rewind().map_err(unreadable)?;
    Ok(match is_zip {
        true => (Form::Zip, zipped::list(reader)?),
        false => (Form::Tar, tar::list(unpack::unpacked(reader)?)?),
    })
}

fn open(path: &Path) -> Result<std::io::BufReader<File>> {
    let file = File::open(path).map_err(DataError::io("read", path))?;
    Ok(std::io::BufReader::with_capacity(1 << 16, file))
}

/// Puts files in the order of their paths. A path that stands twice means different things to
/// different readers.
fn sort(entries: &mut [Entry]) -> Result<()> {
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    match entries.windows(2).find(|pair| pair[0].path == pair[1].path) {
        None => Ok(()),
        Some(pair) => Err(DataError::malformed(format!(
            "holds `{}` twice; make the archive again",
            names::shown(&pair[0].path)
        ))),
    }
}

/// Adds a file to a listing, if it is one of those that count.
fn add(entries: &mut Vec<Entry>, path: &str, size: u64, number: usize) -> Result<()> {
    if let Some(path) = names::checked(path)? {
        entries.push(Entry { path, size, number });
    }
    match entries.len() > MOST_FILES {
        false => Ok(()),
        true => Err(DataError::malformed(format!("holds more than {MOST_FILES} files"))),
    }
}

/// Reads a file to its end, but no more than `most` bytes of it.
fn read_up_to(reader: &mut dyn Read, claimed: u64, most: u64) -> Result<Vec<u8>, String> {
    // A claim is believed once the bytes are there.
    let mut bytes = Vec::with_capacity(claimed.min(most).min(1 << 20) as usize);
    reader.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() as u64 > most {
        false => Ok(bytes),
        true => Err(format!("it has more than {most} bytes")),
    }
}

fn unreadable(error: impl std::fmt::Display) -> DataError {
    DataError::malformed(format!("cannot be read ({error}); make or fetch the archive again"))
}

#[cfg(test)]
mod tests;
