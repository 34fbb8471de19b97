//! What an ELF file says of itself: which processor it is for, who loads it, and which libraries it
//! needs. Only the 64-bit little-endian form is read; we build no other.

use anyhow::{Context, Result, bail, ensure};

/// A processor that we make images for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Machine {
    Amd64,
    Arm64,
}

/// An executable or a library.
#[derive(Debug, PartialEq)]
pub(super) struct Elf {
    pub(super) machine: Machine,
    /// The path of the loader; libraries and static binaries have none.
    pub(super) interpreter: Option<String>,
    /// The libraries it names, in its order.
    pub(super) needed: Vec<String>,
}

/// A part of the file, and where it lies in memory.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

// The numbers of the ELF specification.
const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;
const NEEDED: u64 = 1;
const STRING_TABLE: u64 = 5;
const SEGMENT_BYTES: usize = 56;
const ENTRY_BYTES: usize = 16;

impl Machine {
    /// As images and Go call it.
    pub(super) fn architecture(self) -> &'static str {
        match self {
            Machine::Amd64 => "amd64",
            Machine::Arm64 => "arm64",
        }
    }

    /// As Debian calls the folder of its libraries.
    pub(super) fn triplet(self) -> &'static str {
        match self {
            Machine::Amd64 => "x86_64-linux-gnu",
            Machine::Arm64 => "aarch64-linux-gnu",
        }
    }
}

impl Elf {
    /// Reads the headers. Nothing they claim is believed beyond the file's own length.
    pub(super) fn read(file: &[u8]) -> Result<Elf> {
        ensure!(file.starts_with(MAGIC), "not a 64-bit little-endian ELF file");
        let machine = match u16_at(file, 18)? {
            62 => Machine::Amd64,
            183 => Machine::Arm64,
            other => bail!("made for machine {other}; images are for 62 (amd64) and 183 (arm64)"),
        };
        let segments = segments(file)?;
        let find = |kind| segments.iter().find(|segment| segment.kind == kind);
        let interpreter =
            find(INTERPRETER).map(|segment| text(contents(file, segment)?, 0)).transpose()?;
        let needed = match find(DYNAMIC) {
            Some(dynamic) => needed(file, &segments, contents(file, dynamic)?)?,
            None => vec![],
        };
        Ok(Elf { machine, interpreter, needed })
    }
}

fn segments(file: &[u8]) -> Result<Vec<Segment>> {
    let start = usize::try_from(u64_at(file, 32)?)?;
    let size = usize::from(u16_at(file, 54)?);
    ensure!(size == SEGMENT_BYTES, "its program headers have {size} bytes, not {SEGMENT_BYTES}");
    let table = file.get(start..).context("its program headers lie behind its end")?;
    let count = usize::from(u16_at(file, 56)?);
    let rows = table.chunks_exact(SEGMENT_BYTES).take(count);
    let segments = rows.map(|row| {
        Ok(Segment {
            kind: u32_at(row, 0)?,
            offset: u64_at(row, 8)?,
            address: u64_at(row, 16)?,
            size: u64_at(row, 32)?,
        })
    });
    let segments: Vec<Segment> = segments.collect::<Result<_>>()?;
    ensure!(segments.len() == count, "it is cut in the middle of its program headers");
    Ok(segments)
}

/// The names behind the `NEEDED` entries. The table of strings is told by its address in memory;
/// the segment that is loaded there says where that is in the file.
fn needed(file: &[u8], segments: &[Segment], dynamic: &[u8]) -> Result<Vec<String>> {
    let mut names = vec![];
    let mut table = None;
    for entry in dynamic.chunks_exact(ENTRY_BYTES) {
        match (u64_at(entry, 0)?, u64_at(entry, 8)?) {
            (NEEDED, name) => names.push(usize::try_from(name)?),
            (STRING_TABLE, address) => table = Some(address),
            _ => {}
        }
    }
    if names.is_empty() {
        return Ok(vec![]);
    }
    let address = table.context("it names libraries but has no table of strings")?;
    let inside = |segment: &&Segment| {
        segment.kind == LOAD
            && address.checked_sub(segment.address).is_some_and(|start| start < segment.size)
    };
    let segment = segments.iter().find(inside).context("its table of strings is not loaded")?;
    let start = usize::try_from(address - segment.address)?;
    let strings = contents(file, segment)?.get(start..).context("its strings are cut")?;
    names.into_iter().map(|name| text(strings, name)).collect()
}

fn contents<'a>(file: &'a [u8], segment: &Segment) -> Result<&'a [u8]> {
    let start = usize::try_from(segment.offset)?;
    let end = start.checked_add(usize::try_from(segment.size)?);
    end.and_then(|end| file.get(start..end)).context("a segment reaches behind its end")
}

/// The text at a place, up to its closing zero.
fn text(bytes: &[u8], start: usize) -> Result<String> {
    let rest = bytes.get(start..).context("a name lies behind its end")?;
    let end = rest.iter().position(|&byte| byte == 0).context("a name has no end")?;
    Ok(String::from_utf8(rest[..end].to_vec())?)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().context("it is cut in the middle of a header")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_program_names_its_loader_and_its_libraries() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = Elf::read(&file).unwrap();
        assert_eq!(elf.machine.triplet().split('-').next(), Some(std::env::consts::ARCH));
        assert!(elf.interpreter.unwrap().contains("/ld-"));
        assert!(elf.needed.contains(&"libc.so.6".to_string()), "{:?}", elf.needed);
    }

    #[test]
    fn a_cut_file_is_refused_wherever_it_is_cut() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(Elf::read(b"#!/bin/sh\n").is_err());
        for length in [0, 6, 40, 64, 100, 500] {
            assert!(Elf::read(&file[..length]).is_err(), "the first {length} bytes were believed");
        }
    }

    #[test]
    fn another_machine_is_named() {
        let mut file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        file[18..20].copy_from_slice(&243u16.to_le_bytes());
        assert!(Elf::read(&file).unwrap_err().to_string().contains("machine 243"));
    }
}
