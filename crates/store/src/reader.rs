//! A stream of one thing's bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::http::Download;

/// The bytes of one thing in a store, from some offset on.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    size: Option<u64>,
}

#[derive(Debug)]
enum Source {
    File(File),
    Http(Box<Download>),
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
        }
    }
}
