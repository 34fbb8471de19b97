//! Zip archives of strangers: `.keras` and `.npz`. What an archive claims is checked before memory is
//! spent on it.

use std::io::{self, Cursor, Read, Write};

use zip::read::ZipArchive;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::FileProblem;
use crate::safetensors::shortened;

/// No deflated byte stands for more than this many; a claim beyond it is a lie.
const DEFLATE_MOST: u64 = 1032;

/// An archive in memory.
pub(crate) struct Zipped<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Zipped<'a> {
    /// Opens an archive of at most so many entries.
    pub(crate) fn open(bytes: &'a [u8], most: usize) -> Result<Self, FileProblem> {
        let broken = |error: &dyn std::fmt::Display| {
            let error = shortened(&error.to_string());
            FileProblem::Damaged(format!("it is not a whole archive ({error})"))
        };
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
        if zip.len() > most {
            return Err(broken(&format!("{} entries, and at most {most} are read", zip.len())));
        }
        let overlapping = zip.has_overlapping_files().map_err(|error| broken(&error))?;
        match overlapping || zip.has_duplicate_names() {
            false => Ok(Zipped(zip)),
            true => Err(broken(&"its entries share names or bytes")),
        }
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.file_names().filter_map(|name| name.ok().map(|name| name.to_string())).collect()
    }

    /// The bytes of an entry, if it is there and has at most so many.
    pub(crate) fn entry(&mut self, name: &str, most: u64) -> Result<Option<Vec<u8>>, FileProblem> {
        if self.0.index_for_name(name).is_none() {
            return Ok(None);
        }
        let damaged = |error: &dyn std::fmt::Display| {
            FileProblem::Damaged(format!(
                "its {}: {}",
                shortened(name),
                shortened(&error.to_string())
            ))
        };
        let mut entry = self.0.by_name(name).map_err(|error| damaged(&error))?;
        let (packed, size) = (entry.compressed_size(), entry.size());
        if size > most || size / DEFLATE_MOST > packed {
            return Err(damaged(&format!("it claims to unpack {packed} bytes to {size}")));
        }
        let mut bytes = Vec::new();
        let read = entry.by_ref().take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| damaged(&error))?;
        match bytes.len() as u64 == size {
            true => Ok(Some(bytes)),
            false => Err(damaged(&"it is not as long as it says")),
        }
    }

    /// The text of an entry.
    pub(crate) fn text(&mut self, name: &str, most: u64) -> Result<Option<String>, FileProblem> {
        let text = self.entry(name, most)?.map(String::from_utf8).transpose();
        text.map_err(|_| FileProblem::Damaged(format!("its {name} is not text")))
    }
}

/// Writes an archive, always with the same bytes.
pub(crate) struct Zipper<W: Write>(ZipWriter<StreamWriter<W>>);

impl<W: Write> Zipper<W> {
    pub(crate) fn new(out: W) -> Self {
        Zipper(ZipWriter::new_stream(out))
    }

    /// Adds an entry of several parts.
    pub(crate) fn add(&mut self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            .large_file(size > 4_000_000_000);
        self.0.start_file(name, options)?;
        parts.iter().try_for_each(|part| self.0.write_all(part))
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.finish()?;
        Ok(())
    }
}
