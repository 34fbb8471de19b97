//! A tar as a tree: a header of 512 bytes before each file, then its bytes, filled up to 512.
//!
//! Read as POSIX (ustar and pax) and GNU write it. What is no plain file is passed over.

use std::io::{Read, Seek};

use super::unpack::{Unpacked, cut_short};
use super::{Entry, Visit, add, read_up_to, unreadable};
use crate::error::{DataError, Result};

const BLOCK: usize = 512;

/// A header that only says a long name, or other facts of the next file, is no longer.
const LONGEST_FACTS: u64 = 64 << 10;

/// Lists all files. Numbers count plain files.
pub(super) fn list<R: Read + Seek>(mut tar: Unpacked<'_, R>) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut number = 0;
    while let Some(member) = next(&mut tar)? {
        add(&mut entries, &member.path, member.size, number)?;
        number += 1;
        tar.skip(filled(member.size)?).map_err(unreadable)?;
    }
    Ok(entries)
}

/// Reads some files: numbers, ascending, and places to tell.
pub(super) fn each<R: Read + Seek>(
    mut tar: Unpacked<'_, R>,
    numbers: &[(usize, usize)],
    most: u64,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut number = 0;
    for &(wanted, place) in numbers {
        loop {
            let member = next(&mut tar)?.ok_or_else(|| unreadable(cut_short()))?;
            number += 1;
            if number <= wanted {
                tar.skip(filled(member.size)?).map_err(unreadable)?;
                continue;
            }
            if member.size > most {
                visit(place, Err(format!("it has more than {most} bytes")))?;
                tar.skip(filled(member.size)?).map_err(unreadable)?;
            } else {
                let bytes = read_up_to(&mut (&mut tar).take(member.size), member.size, most);
                let whole = bytes.as_ref().is_ok_and(|bytes| bytes.len() as u64 == member.size);
                if !whole {
                    return Err(unreadable(bytes.err().unwrap_or_else(|| cut_short().to_string())));
                }
                visit(place, bytes)?;
                tar.skip(filled(member.size)? - member.size).map_err(unreadable)?;
            }
            break;
        }
    }
    Ok(())
}

/// A plain file.
struct Member {
    path: String,
    size: u64,
}

/// Reads headers up to the next plain file's. `None` at the archive's end.
fn next<R: Read + Seek>(tar: &mut Unpacked<'_, R>) -> Result<Option<Member>> {
    let (mut long_path, mut long_size) = (None, None);
    loop {
        let Some(header) = header(tar).map_err(unreadable)? else { return Ok(None) };
        check_sum(&header)?;
        let size = number(&header[124..136])?;
        match header[156] {
            b'0' | 0 | b'7' => {
                let path = long_path.take().map_or_else(|| name_of(&header), Ok)?;
                let size = long_size.take().unwrap_or(size);
                if !path.ends_with('/') {
                    return Ok(Some(Member { path, size }));
                }
                tar.skip(filled(size)?).map_err(unreadable)?;
            }
            b'L' => {
                let text = facts(tar, size)?;
                long_path = Some(text.trim_end_matches('\0').to_owned());
            }
            b'x' => {
                let text = facts(tar, size)?;
                long_path = pax(&text, "path").map(str::to_owned).or(long_path);
                long_size = pax(&text, "size").and_then(|size| size.parse().ok());
            }
            b'K' | b'g' => tar.skip(filled(size)?).map_err(unreadable)?,
            _ => {
                let size = long_size.take().unwrap_or(size);
                long_path = None;
                tar.skip(filled(size)?).map_err(unreadable)?;
            }
        }
    }
}

/// The next block. `None` where it is empty, or there is none: some programs leave the empty blocks at
/// the end out.
fn header(tar: &mut impl Read) -> std::io::Result<Option<[u8; BLOCK]>> {
    let mut header = [0; BLOCK];
    let mut have = 0;
    while have < BLOCK {
        match tar.read(&mut header[have..])? {
            0 if have == 0 => return Ok(None),
            0 => return Err(cut_short()),
            count => have += count,
        }
    }
    Ok(header.iter().any(|&byte| byte != 0).then_some(header))
}

/// What a header of facts says of the next file.
fn facts<R: Read + Seek>(tar: &mut Unpacked<'_, R>, size: u64) -> Result<String> {
    if size > LONGEST_FACTS {
        return Err(unreadable("a name or its like is too long"));
    }
    let mut bytes = vec![0; filled(size)? as usize];
    tar.read_exact(&mut bytes).map_err(unreadable)?;
    bytes.truncate(size as usize);
    String::from_utf8(bytes).map_err(|_| unreadable("a name is not Unicode"))
}

/// A value of a pax header: lines of `<length> <key>=<value>`.
fn pax<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let lines = text.split('\n').filter_map(|line| line.split_once(' ')?.1.split_once('='));
    lines.filter(|(found, _)| *found == key).map(|(_, value)| value).next_back()
}

/// The path in a header: a prefix, if it has one, and a name.
fn name_of(header: &[u8; BLOCK]) -> Result<String> {
    let text = |bytes: &[u8]| -> Result<String> {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        let text = std::str::from_utf8(&bytes[..end]);
        text.map(str::to_owned).map_err(|_| unreadable("a name is not Unicode"))
    };
    let name = text(&header[..100])?;
    let prefix = match &header[257..263] {
        b"ustar\0" => text(&header[345..500])?,
        _ => String::new(),
    };
    Ok(if prefix.is_empty() { name } else { format!("{prefix}/{name}") })
}

/// A number in a header: octal digits, or GNU's large form.
fn number(field: &[u8]) -> Result<u64> {
    let broken = || unreadable("a size is no number");
    if field[0] & 0x80 != 0 {
        let first = u64::from(field[0] & 0x7f);
        let longer = |value: u64, &byte: &u8| Some(value.checked_mul(256)? + u64::from(byte));
        return field[1..].iter().try_fold(first, longer).ok_or_else(broken);
    }
    let text = std::str::from_utf8(field).map_err(|_| broken())?;
    match text.trim_matches(|c| c == ' ' || c == '\0') {
        "" => Ok(0),
        digits => u64::from_str_radix(digits, 8).map_err(|_| broken()),
    }
}

/// A header's sum, with its own field taken for spaces.
fn check_sum(header: &[u8; BLOCK]) -> Result<()> {
    let sum = header.iter().enumerate().map(|(place, &byte)| match place {
        148..156 => u64::from(b' '),
        _ => u64::from(byte),
    });
    match number(&header[148..156]).is_ok_and(|told| told == sum.sum::<u64>()) {
        true => Ok(()),
        false => Err(DataError::malformed(
            "is neither a zip nor a whole tar, gzipped, xz or plain; make or fetch it again",
        )),
    }
}

/// A size, filled up to whole blocks.
fn filled(size: u64) -> Result<u64> {
    size.checked_next_multiple_of(BLOCK as u64).ok_or_else(|| unreadable("a size is too large"))
}
