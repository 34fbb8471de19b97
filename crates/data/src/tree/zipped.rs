//! A zip as a tree. It has a directory, so files are read where they are.

use std::io::{Read, Seek, SeekFrom};

use zip::read::ZipArchive;

use super::{Entry, Visit, add, read_up_to, unreadable};
use crate::error::{DataError, Result};

/// The directory is held in memory: so many bytes of it, at the least, are a file.
const LEAST_RECORD: u64 = 46;

/// Lists all files.
pub(super) fn list<R: Read + Seek>(reader: R) -> Result<Vec<Entry>> {
    let mut zip = open(reader)?;
    let mut entries = Vec::new();
    for number in 0..zip.len() {
        let file = zip.by_index_raw(number).map_err(unreadable)?;
        // Programs on Windows once wrote their own separator.
        let name = file.name().map_err(unreadable)?.replace('\\', "/");
        let plain = file.is_file() && !file.is_symlink();
        let (size, number) = (file.size(), number);
        if plain {
            add(&mut entries, &name, size, number)?;
        }
    }
    Ok(entries)
}

/// Reads some files: numbers in the directory, ascending, and places to tell.
pub(super) fn each<R: Read + Seek>(
    reader: R,
    numbers: &[(usize, usize)],
    most: u64,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut zip = open(reader)?;
    for &(number, place) in numbers {
        let bytes = match zip.by_index(number) {
            Ok(mut file) => {
                let size = file.size();
                read_up_to(&mut file, size, most)
            }
            Err(error) => Err(error.to_string()),
        };
        visit(place, bytes)?;
    }
    Ok(())
}

fn open<R: Read + Seek>(mut reader: R) -> Result<ZipArchive<R>> {
    let size = reader.seek(SeekFrom::End(0)).map_err(unreadable)?;
    let zip = ZipArchive::new(reader).map_err(unreadable)?;
    match zip.len() as u64 > size / LEAST_RECORD {
        false => Ok(zip),
        true => Err(DataError::malformed("lists more files than it has bytes for")),
    }
}
