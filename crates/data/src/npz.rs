//! Many arrays in one file (`.npz`): a zip of `.npy` files, as `numpy.savez` writes it and
//! `numpy.load` reads it.
//!
//! Everything a file claims is checked against what it holds before memory is spent on it: the
//! number of arrays, each header's length and shape, stored and unpacked sizes and their ratio.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use zip::read::{ZipArchive, ZipFile};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::elements;
use crate::error::{DataError, Result};
pub use crate::npy::{Header, Kind};
use crate::samples::{Samples, Values, View};

/// How much a file may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Arrays in one file.
    pub arrays: usize,
    /// Bytes of one array's header.
    pub header: usize,
    /// Bytes of one array, unpacked.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { arrays: 64, header: 64 << 10, bytes: 64 << 30 }
    }
}

/// No deflated byte stands for more than this many; a claim beyond it is a lie.
const DEFLATE_MOST: u64 = 1032;

/// Room is made at once for this many times the packed size; real data seldom packs better.
const LIKELY_RATIO: u64 = 16;

/// One array, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its shape, outermost first.
    pub shape: Vec<usize>,
    /// Its elements: bytes stay bytes, all else is 32-bit floats.
    pub values: Values,
}

/// An open `.npz` file.
#[derive(Debug)]
pub struct Archive<R> {
    zip: ZipArchive<R>,
    limits: Limits,
    place: String,
    /// Bytes of the whole file.
    size: u64,
}

/// Reads every array of a file in memory, with its name.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Array)>> {
    let mut archive = Archive::new(Cursor::new(bytes), *limits, "npz")?;
    let names = archive.names();
    names.into_iter().map(|name| archive.array(&name).map(|array| (name, array))).collect()
}

impl Archive<BufReader<File>> {
    /// Opens a file on disk.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(DataError::io("read", path))?;
        let place = path.display().to_string();
        Archive::new(BufReader::new(file), Limits::default(), &place)
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Opens anything that can be read at any place. `place` is what errors call it.
    pub fn new(mut reader: R, limits: Limits, place: &str) -> Result<Self> {
        let named = |error: DataError| error.in_place(place);
        let size = check_end(&mut reader, &limits).map_err(named)?;
        let zip = ZipArchive::new(reader).map_err(|error| named(broken(error)))?;
        Ok(Archive {
            zip: check_archive(zip, &limits).map_err(named)?,
            limits,
            place: place.to_owned(),
            size,
        })
    }

    /// The names of the arrays, in the file's order.
    pub fn names(&self) -> Vec<String> {
        let names = self.zip.file_names().filter_map(|name| name.ok());
        names.filter_map(|name| Some(name.strip_suffix(".npy")?.to_owned())).collect()
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// What an array says of itself.
    pub fn header(&mut self, name: &str) -> Result<Header> {
        self.with(name, |header, _, _| Ok(header))
    }

    /// Reads an array as values.
    pub fn array(&mut self, name: &str) -> Result<Array> {
        self.with(name, |header, reader, likely| {
            let values = elements::read_values(reader, &header, likely)?;
            at_end(reader)?;
            Ok(Array { shape: header.shape, values })
        })
    }

    /// Reads an array as it was written: ids stay ids.
    pub(crate) fn array_as_written(&mut self, name: &str) -> Result<Array> {
        self.with(name, |header, reader, likely| {
            let values = elements::read_kind(reader, &header, likely)?;
            at_end(reader)?;
            Ok(Array { shape: header.shape, values })
        })
    }

    /// Reads an array of shape (n) or (n, 1) as labels.
    pub fn labels(&mut self, name: &str) -> Result<Vec<u32>> {
        self.with(name, |header, reader, likely| {
            if !matches!(header.shape[..], [_] | [_, 1]) {
                return Err(DataError::malformed(format!(
                    "has shape {:?}; labels are one whole number for each sample, not one-hot rows",
                    header.shape
                )));
            }
            let labels = elements::read_labels(reader, &header, likely)?;
            at_end(reader)?;
            Ok(labels)
        })
    }

    /// Opens an array, checks what it claims, and hands its elements on.
    fn with<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Header, &mut dyn Read, usize) -> Result<T>,
    ) -> Result<T> {
        let result = if self.has(name) {
            let entry = self.zip.by_name(&format!("{name}.npy"));
            let entry = entry.map_err(|error| {
                DataError::malformed(format!("cannot be read ({error}); write it with numpy.savez"))
            });
            entry.and_then(|mut entry| {
                let (header, likely) = checked_header(&mut entry, self.size, &self.limits)?;
                read(header, &mut entry, likely)
            })
        } else {
            let listed = self.names().join(", ");
            Err(DataError::malformed(format!("is not in this file; it holds {listed}")))
        };
        result.map_err(|error| error.in_place(name).in_place(&self.place))
    }
}

/// Reads an array's header and checks it against the sizes in the zip, and those against the
/// file's. Returns it with the number of elements there will likely be, to make room for.
fn checked_header(
    entry: &mut ZipFile<'_, impl Read>,
    file: u64,
    limits: &Limits,
) -> Result<(Header, usize)> {
    let (packed, size) = (entry.compressed_size(), entry.size());
    if size > limits.bytes {
        return Err(DataError::malformed(format!(
            "unpacks to {size} bytes; the limit is {}",
            limits.bytes
        )));
    }
    if packed > file || size / DEFLATE_MOST > packed {
        return Err(DataError::malformed(format!(
            "claims to unpack {packed} bytes to {size}, which is impossible; the file is damaged"
        )));
    }
    let (header, before) = Header::read(entry, limits.header)?;
    if header.bytes().and_then(|bytes| bytes.checked_add(before)) != Some(size) {
        return Err(DataError::malformed(format!(
            "has shape {:?}, which does not fit its {size} bytes; the file is damaged, fetch or \
             write it again",
            header.shape
        )));
    }
    let likely = packed.saturating_mul(LIKELY_RATIO).min(size) as usize / header.kind.width();
    Ok((header, likely))
}

fn broken(error: impl std::fmt::Display) -> DataError {
    DataError::malformed(format!(
        "is not a whole .npz file ({error}); write it with numpy.savez, or fetch it again"
    ))
}

/// Looks at the zip's last record before anything is made of what the file lists.
/// numpy writes no comment, so the record is the file's end.
/// Returns the file's size.
fn check_end(reader: &mut (impl Read + Seek), limits: &Limits) -> Result<u64> {
    let mut end = [0; 22];
    let read = reader.seek(SeekFrom::End(-22)).and_then(|_| reader.read_exact(&mut end));
    read.map_err(|_| broken("it is too short"))?;
    if !end.starts_with(b"PK\x05\x06") || end[20..] != [0, 0] {
        return Err(broken("it does not end as one"));
    }
    let arrays = usize::from(u16::from_le_bytes([end[10], end[11]]));
    check_count(arrays, limits)?;
    reader.stream_position().map_err(broken)
}

fn check_count(arrays: usize, limits: &Limits) -> Result<()> {
    match arrays > limits.arrays {
        false => Ok(()),
        true => Err(DataError::malformed(format!(
            "holds {arrays} arrays; the limit is {}",
            limits.arrays
        ))),
    }
}

/// A file that means different things to different readers is refused.
fn check_archive<R: Read + Seek>(mut zip: ZipArchive<R>, limits: &Limits) -> Result<ZipArchive<R>> {
    check_count(zip.len(), limits)?;
    let overlapping = zip.has_overlapping_files().map_err(broken)?;
    match zip.offset() > 0 || overlapping || zip.has_duplicate_names() {
        false => Ok(zip),
        true => Err(broken("its arrays share names or bytes, or something stands before them")),
    }
}

/// Reads past the last element: this is where the checksum is compared.
fn at_end(reader: &mut dyn Read) -> Result<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(DataError::malformed("goes on after its last element")),
        Err(error) => {
            Err(DataError::malformed(format!("is damaged ({error}); fetch or write it again")))
        }
    }
}

/// Writes arrays as an `.npz` file that numpy reads: stored, not packed, and always the same bytes.
///
/// # Panics
/// When an array's elements do not fill its shape.
pub fn write<W: Write + Seek>(writer: W, arrays: &[(&str, &[usize], View<'_>)]) -> io::Result<W> {
    let mut zip = ZipWriter::new(writer);
    for &(name, shape, values) in arrays {
        start(&mut zip, name, Header::of(shape, values))?;
        assert_eq!(values.len(), shape.iter().product::<usize>(), "`{name}` fills its shape");
        values.bytes(|bytes| zip.write_all(bytes))?;
    }
    Ok(zip.finish()?)
}

/// Writes the samples with these numbers as `x` and `y`, without gathering them first.
/// `shape` is that of one sample in the file.
pub(crate) fn write_samples<W: Write + Seek>(
    writer: W,
    samples: &Samples,
    indices: &[u32],
    shape: &[usize],
) -> io::Result<W> {
    let mut zip = ZipWriter::new(writer);
    let whole = [&[indices.len()], shape].concat();
    start(&mut zip, "x", Header::of(&whole, samples.x.view()))?;
    for &index in indices {
        let row = samples.rows(index as usize..index as usize + 1);
        row.bytes(|bytes| zip.write_all(bytes))?;
    }
    // Labels are bytes where they fit, as in every published MNIST.
    let small = samples.classes <= 256;
    let header =
        Header { kind: if small { Kind::U8 } else { Kind::U32 }, shape: vec![indices.len()] };
    start(&mut zip, "y", header.clone())?;
    let mut labels = Vec::with_capacity(indices.len() * header.kind.width());
    for &index in indices {
        let label = samples.y[index as usize].to_le_bytes();
        labels.extend_from_slice(&label[..header.kind.width()]);
    }
    zip.write_all(&labels)?;
    Ok(zip.finish()?)
}

/// Starts an array: its name and header.
fn start<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str, header: Header) -> io::Result<()> {
    // Zip's large form for what may pass 4 GiB with header and all.
    let large = header.bytes().is_none_or(|bytes| bytes > 4_000_000_000);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .large_file(large);
    zip.start_file(format!("{name}.npy"), options)?;
    header.write(zip)
}
