//! Takes the packing off a tar: gzip, xz, or none, by its first bytes.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::unreadable;
use crate::error::Result;

/// Bytes that an archive may unpack to: this many, and this many times its own. Tests need not wait
/// for a gibibyte.
const ALWAYS: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };
const RATIO: u64 = 250;

/// `xz -9` takes 65 MiB to unpack; a dictionary may claim up to 4 GiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// A tar as a stream, with a bound.
pub(super) struct Unpacked<'a, R> {
    stream: Stream<'a, R>,
    left: u64,
}

enum Stream<'a, R> {
    Plain(R),
    Packed(Box<dyn Read + 'a>),
}

/// Looks at the first bytes and takes the packing off.
pub(super) fn unpacked<'a, R: Read + Seek + 'a>(mut reader: R) -> Result<Unpacked<'a, R>> {
    let size = reader.seek(SeekFrom::End(0)).map_err(unreadable)?;
    reader.rewind().map_err(unreadable)?;
    let mut start = [0; 6];
    let mut have = 0;
    while let Ok(count @ 1..) = reader.read(&mut start[have..]) {
        have += count;
    }
    reader.rewind().map_err(unreadable)?;
    let stream = if start.starts_with(&[0x1f, 0x8b]) {
        Stream::Packed(Box::new(MultiGzDecoder::new(io::BufReader::new(reader))))
    } else if start == *b"\xfd7zXZ\0" {
        Stream::Packed(Box::new(XzReader::new_mem_limit(reader, true, XZ_MEMORY_KIB)))
    } else {
        Stream::Plain(reader)
    };
    Ok(Unpacked { stream, left: ALWAYS.saturating_add(size.saturating_mul(RATIO)) })
}

impl<R: Read + Seek> Unpacked<'_, R> {
    /// Passes over bytes; where nothing is packed, without reading them.
    pub(super) fn skip(&mut self, count: u64) -> io::Result<()> {
        if let Stream::Plain(reader) = &mut self.stream {
            let offset = i64::try_from(count).map_err(|_| cut_short())?;
            // A place beyond the end shows when something is read there.
            return reader.seek_relative(offset);
        }
        match io::copy(&mut self.take(count), &mut io::sink())? == count {
            true => Ok(()),
            false => Err(cut_short()),
        }
    }
}

impl<R: Read> Read for Unpacked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let reader: &mut dyn Read = match &mut self.stream {
            Stream::Plain(reader) => reader,
            Stream::Packed(reader) => reader,
        };
        let count = reader.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(format!("it unpacks to more than {RATIO} times its size"))
        })?;
        Ok(count)
    }
}

pub(super) fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut short")
}
