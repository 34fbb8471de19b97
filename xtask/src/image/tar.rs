//! Writes tar archives (ustar) that depend on their contents alone: entries by name, times zero, and
//! owners by number. The same files give the same bytes.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

/// Files and folders by their path, which has no leading slash.
#[derive(Debug, Default)]
pub(super) struct Tar {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    mode: u32,
    owner: u32,
    /// None is a folder.
    contents: Option<Vec<u8>>,
}

const BLOCK: usize = 512;
/// What the header has room for.
const MAX_PATH_BYTES: usize = 100;

impl Tar {
    /// A file of root's, in folders that are made where they are missing.
    pub(super) fn file(&mut self, path: &str, mode: u32, contents: impl Into<Vec<u8>>) {
        let above: Vec<&str> = path.match_indices('/').map(|(end, _)| &path[..end]).collect();
        for folder in above {
            let missing = Entry { mode: 0o755, owner: 0, contents: None };
            self.entries.entry(folder.into()).or_insert(missing);
        }
        self.entries.insert(path.into(), Entry { mode, owner: 0, contents: Some(contents.into()) });
    }

    /// A folder; its owner is a user and the group of the same number.
    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.entries.insert(path.into(), Entry { mode, owner, contents: None });
    }

    /// The archive. A folder comes before what is in it, as its path is the beginning of theirs.
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        let mut archive = vec![];
        for (path, entry) in &self.entries {
            archive.extend(header(path, entry)?);
            let contents = entry.contents.as_deref().unwrap_or_default();
            archive.extend(contents);
            archive.resize(archive.len().next_multiple_of(BLOCK), 0);
        }
        archive.resize(archive.len() + 2 * BLOCK, 0);
        Ok(archive)
    }
}

fn header(path: &str, entry: &Entry) -> Result<[u8; BLOCK]> {
    let (name, kind) = match entry.contents {
        Some(_) => (path.to_string(), b'0'),
        None => (format!("{path}/"), b'5'),
    };
    let (room, size) = (MAX_PATH_BYTES, entry.contents.as_ref().map_or(0, Vec::len));
    ensure!(name.len() <= room, "{name} is longer than the {room} bytes that tar has for a path");
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{:07o}", entry.mode).as_bytes());
    put(108, format!("{:07o}", entry.owner).as_bytes());
    put(116, format!("{:07o}", entry.owner).as_bytes());
    let digits = format!("{size:011o}");
    ensure!(digits.len() == 11, "{name} has {size} bytes, more than tar has digits for");
    put(124, digits.as_bytes());
    put(136, format!("{:011o}", 0).as_bytes());
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    // The sum is taken with blanks in its own place.
    put(148, b"        ");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Tar {
        let mut tar = Tar::default();
        tar.file("usr/bin/tool", 0o755, *b"#!");
        tar.folder("tmp", 0o1777, 0);
        tar.folder("runs", 0o755, 65532);
        tar
    }

    /// The blocks with a header, as their parts that are text.
    fn headers(archive: &[u8]) -> Vec<[String; 4]> {
        let blocks = archive.chunks(BLOCK).filter(|block| &block[257..262] == b"ustar");
        let part = |block: &[u8], at: usize, size: usize| {
            String::from_utf8_lossy(&block[at..at + size]).trim_end_matches('\0').to_string()
        };
        blocks
            .map(|block| {
                [
                    part(block, 0, 100),
                    part(block, 100, 8),
                    part(block, 108, 8),
                    part(block, 124, 12),
                ]
            })
            .collect()
    }

    #[test]
    fn entries_are_sorted_and_lie_in_folders() {
        let expected = [
            ["runs/", "0000755", "0177774", "00000000000"],
            ["tmp/", "0001777", "0000000", "00000000000"],
            ["usr/", "0000755", "0000000", "00000000000"],
            ["usr/bin/", "0000755", "0000000", "00000000000"],
            ["usr/bin/tool", "0000755", "0000000", "00000000002"],
        ];
        assert_eq!(headers(&small().bytes().unwrap()), expected);
    }

    #[test]
    fn blocks_are_whole_and_two_empty_ones_close() {
        let archive = small().bytes().unwrap();
        assert_eq!(archive.len(), (5 + 1 + 2) * BLOCK);
        assert_eq!(&archive[5 * BLOCK..5 * BLOCK + 3], b"#!\0");
        assert!(archive[6 * BLOCK..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_header_sums_up_to_what_it_says() {
        let mut block: Vec<u8> = small().bytes().unwrap()[..BLOCK].to_vec();
        let told = u32::from_str_radix(std::str::from_utf8(&block[148..154]).unwrap(), 8).unwrap();
        block[148..156].fill(b' ');
        assert_eq!(block.iter().map(|&byte| u32::from(byte)).sum::<u32>(), told);
    }

    #[test]
    fn a_path_without_room_is_refused() {
        let mut tar = Tar::default();
        tar.file(&"a".repeat(101), 0o644, vec![]);
        assert!(tar.bytes().unwrap_err().to_string().contains("100 bytes"));
    }
}
