//! Files on their way through a pipe: each as its path, its size and its bytes, and at the end the hash of
//! it all. So a file or a folder goes into a pod, or comes out of one, whole or not at all.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

/// The longest path, and the most bytes of all files together.
const LONGEST_PATH: usize = 4096;
pub(crate) const MOST_BYTES: u64 = 2 << 30;

/// The files of something that is to be sent: each with its path within it, in order.
pub(crate) fn files(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let name = root.file_name().unwrap_or_default();
    let mut open = vec![(PathBuf::from(name), root.to_owned())];
    let mut found = vec![];
    while let Some((within, path)) = open.pop() {
        let shown = path.display();
        let meta = std::fs::metadata(&path).with_context(|| format!("cannot read {shown}"))?;
        if meta.is_dir() {
            for entry in std::fs::read_dir(&path).with_context(|| format!("cannot read {shown}"))? {
                let entry = entry.with_context(|| format!("cannot read {shown}"))?;
                open.push((within.join(entry.file_name()), entry.path()));
            }
        } else {
            let within = within.to_str().with_context(|| format!("{shown} is not Unicode"))?;
            found.push((within.to_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

/// Sends files. Their hash.
pub(crate) fn send(files: &[(String, PathBuf)], to: &mut dyn Write) -> Result<String> {
    let mut to = Hashed { inner: to, hash: Sha256::new() };
    for (within, path) in files {
        let shown = path.display();
        let mut file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
        let size = file.metadata().with_context(|| format!("cannot read {shown}"))?.len();
        to.write_all(&(within.len() as u64).to_le_bytes())?;
        to.write_all(within.as_bytes())?;
        to.write_all(&size.to_le_bytes())?;
        let sent = std::io::copy(&mut (&mut file).take(size), &mut to)?;
        if sent < size {
            bail!("{shown} became shorter while it was read");
        }
    }
    to.write_all(&0u64.to_le_bytes())?;
    let hash: [u8; 32] = to.hash.clone().finalize().into();
    to.inner.write_all(&hash)?;
    to.inner.flush()?;
    Ok(store::hex(&hash))
}

/// Receives files into a folder. Their hash.
pub(crate) fn receive(from: &mut dyn Read, folder: &Path) -> Result<String> {
    let mut from = Hashed { inner: from, hash: Sha256::new() };
    let mut left = MOST_BYTES;
    loop {
        let length = number(&mut from)? as usize;
        if length == 0 {
            break;
        }
        if length > LONGEST_PATH {
            bail!("what comes in is not files: a path of {length} bytes");
        }
        let mut within = vec![0; length];
        from.read_exact(&mut within)?;
        let within = String::from_utf8(within).context("a path is not Unicode")?;
        let size = number(&mut from)?;
        left = left.checked_sub(size).context("more than 2 GiB come in")?;
        let path = folder.join(safe(&within)?);
        let shown = path.display();
        path.parent().map(std::fs::create_dir_all).transpose()?;
        let mut file = File::create(&path).with_context(|| format!("cannot write {shown}"))?;
        let received = std::io::copy(&mut (&mut from).take(size), &mut file)
            .with_context(|| format!("cannot write {shown}"))?;
        if received < size {
            bail!("the files end half-way, in {within}");
        }
    }
    let hash: [u8; 32] = from.hash.clone().finalize().into();
    let mut told = [0; 32];
    from.inner.read_exact(&mut told).context("the files end half-way")?;
    if hash != told {
        bail!("the files were damaged on their way");
    }
    Ok(store::hex(&hash))
}

fn number(from: &mut dyn Read) -> Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes).context("the files end half-way")?;
    Ok(u64::from_le_bytes(bytes))
}

/// A path that stays within its folder.
fn safe(within: &str) -> Result<&Path> {
    let path = Path::new(within);
    if path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(path);
    }
    bail!("`{within}` leads out of its folder")
}

/// Hashes what goes through.
struct Hashed<T> {
    inner: T,
    hash: Sha256,
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Hashed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> (tempfile::TempDir, Vec<u8>, String) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("data/cats")).unwrap();
        std::fs::write(folder.path().join("data/cats/1.txt"), "meow").unwrap();
        std::fs::write(folder.path().join("data/empty"), "").unwrap();
        let mut bytes = vec![];
        let files = files(&folder.path().join("data")).unwrap();
        let hash = send(&files, &mut bytes).unwrap();
        (folder, bytes, hash)
    }

    #[test]
    fn a_folder_arrives_as_it_was() {
        let (_folder, bytes, hash) = sent();
        let to = tempfile::tempdir().unwrap();
        assert_eq!(receive(&mut bytes.as_slice(), to.path()).unwrap(), hash);
        assert_eq!(std::fs::read(to.path().join("data/cats/1.txt")).unwrap(), b"meow");
        assert_eq!(std::fs::read(to.path().join("data/empty")).unwrap(), b"");
    }

    #[test]
    fn what_is_damaged_or_torn_is_refused() {
        let (_folder, bytes, _) = sent();
        let to = tempfile::tempdir().unwrap();
        for cut in [0, 5, bytes.len() - 1] {
            assert!(receive(&mut &bytes[..cut], to.path()).is_err(), "{cut}");
        }
        let mut other = bytes.clone();
        let at = other.windows(4).position(|window| window == b"meow").unwrap();
        other[at] = b'M';
        let error = receive(&mut other.as_slice(), to.path()).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }

    #[test]
    fn nothing_is_written_outside() {
        for path in ["../x", "/etc/x", "a/../../x", "a/./b/.."] {
            assert!(safe(path).is_err(), "{path}");
        }
    }
}
