//! A stream of one thing's bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::http::Download;

/// The bytes of one thing in a store, from some offset on.
pub struct Reader {
    source: Source,
    size: Option<u64>,
}

enum Source {
    File(File),
    Http(Box<Download>),
    Remote(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn local(mut file: File, size: u64, offset: u64) -> io::Result<Reader> {
        if offset > size {
            let problem = format!("it ends at byte {size}, before {offset}");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok(Reader { source: Source::File(file), size: Some(size) })
    }

    pub(crate) fn http(download: Download) -> Reader {
        Reader { size: download.size(), source: Source::Http(Box::new(download)) }
    }

    pub(crate) fn remote((size, bytes): (u64, Box<dyn Read + Send>)) -> Reader {
        Reader { size: Some(size), source: Source::Remote(bytes) }
    }

    /// The size of the whole thing, where it is known before the end.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::File(file) => file.read(buffer),
            Source::Http(download) => download.read(buffer),
            Source::Remote(bytes) => bytes.read(buffer),
        }
    }
}
