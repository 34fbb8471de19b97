//! Makes a container image without a container engine: the release binary, the few libraries that it
//! needs, and nothing else, in one archive that every engine takes.
//!
//! A *binary* names its *libraries*; they make the lower *layer*, the binary the upper one, so that a
//! new binary sends little anew. Layers, config and manifest are blobs of one *layout*.

mod config;
mod elf;
mod layer;
mod layout;
mod libraries;
mod options;
mod reference;
mod rootfs;
mod search;
mod tar;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use elf::Elf;
use layer::Layer;
use libraries::Libraries;
use options::Options;
use reference::Reference;
use search::Search;

use crate::output::say;
use crate::workspace::{Workspace, cargo};

/// What people carry to sites without a network, and every machine of a cluster fetches.
const MAX_BYTES: usize = 50_000_000;

/// Writes the image that `words` ask for.
pub(crate) fn image(words: &[&str]) -> Result<bool> {
    if matches!(words, ["--help" | "-h"]) {
        say(options::USAGE.trim_end());
        return Ok(true);
    }
    let options = Options::parse(words)?;
    let path = options.bin.map_or_else(build, Ok)?;
    let binary = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let archive = make(&options.tag, &binary).with_context(|| path.display().to_string())?;
    check_size(archive.len())?;
    publish(&options.out, &archive)?;
    let (name, out) = (options.tag, options.out.display());
    say(&format!("{name} is in {out}: {:.1} MB", archive.len() as f64 / 1e6));
    Ok(true)
}

fn check_size(bytes: usize) -> Result<()> {
    ensure!(
        bytes <= MAX_BYTES,
        "the image has {bytes} bytes, more than {MAX_BYTES}; build the binary with --release"
    );
    Ok(())
}

/// The image's archive.
fn make(name: &Reference, binary: &[u8]) -> Result<Vec<u8>> {
    let elf = Elf::read(binary)?;
    let libraries = Libraries::gather(&elf, &Search::new(Path::new("/"), elf.machine))?;
    let layers = [
        Layer::new("libraries", &rootfs::system(&libraries))?,
        Layer::new("program", &rootfs::program(binary))?,
    ];
    layout::archive(name, elf.machine, &layers)
}

/// Builds the release binary and says where it is.
fn build() -> Result<PathBuf> {
    let built = cargo()
        .args(["build", "--release", "--package", "trainyard"])
        .current_dir(crate::tree::root())
        .status()
        .context("cannot run cargo")?;
    ensure!(built.success(), "the binary does not build; the reason is above");
    Ok(Workspace::read()?.target.join("release/trainyard"))
}

/// Under another name first, so that nobody loads half an image.
fn publish(out: &Path, archive: &[u8]) -> Result<()> {
    let mut part = out.as_os_str().to_owned();
    part.push(".part");
    let written = std::fs::write(&part, archive).and_then(|()| std::fs::rename(&part, out));
    written.with_context(|| format!("cannot write {}", out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_binary_gives_the_same_image_and_another_one_changes_one_layer() {
        let name = Reference::parse("localhost/test:1").unwrap();
        let binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let first = make(&name, &binary).unwrap();
        assert!(first == make(&name, &binary).unwrap(), "two images of one binary differ");
        let other = [&binary[..], b"more"].concat();
        let second = make(&name, &other).unwrap();
        let common = blobs(&first).into_iter().filter(|blob| blobs(&second).contains(blob));
        assert_eq!(common.count(), 1, "the layer of libraries alone stays");
    }

    #[test]
    fn a_large_image_is_refused() {
        assert!(check_size(MAX_BYTES).is_ok());
        assert!(check_size(MAX_BYTES + 1).unwrap_err().to_string().contains("--release"));
    }

    /// The names of an archive's blobs: config, manifest and two layers.
    fn blobs(archive: &[u8]) -> Vec<String> {
        let headers = archive.chunks(512).filter(|block| block.get(257..262) == Some(b"ustar"));
        let names = headers.map(|block| String::from_utf8_lossy(&block[..77]).into_owned());
        let blobs: Vec<String> = names.filter(|name| !name[13..].contains('\0')).collect();
        assert_eq!(blobs.len(), 4, "{blobs:?}");
        blobs
    }
}
