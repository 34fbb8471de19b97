//! The words after `cargo xtask image`.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};

use super::reference::Reference;

/// What was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    /// What the image is called.
    pub(super) tag: Reference,
    /// Where the archive goes.
    pub(super) out: PathBuf,
    /// The binary, unless it is to be built.
    pub(super) bin: Option<PathBuf>,
}

pub(super) const USAGE: &str = "\
cargo xtask image --tag NAME --out FILE [--bin PATH]

Writes a container image into one archive, which `docker load`, `podman load`, `ctr images import`
and `kind load image-archive` take. No container engine is needed, and the same binary gives the
same archive, byte for byte.

  --tag NAME  what the image is called, registry and tag included: localhost/trainyard:dev
  --out FILE  the archive
  --bin PATH  the binary, built on this machine; without it, the release binary is built now

The image holds the binary, the shared libraries of this machine that it needs, and a user 65532.
";

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Options> {
        let (mut tag, mut out, mut bin) = (None, None, None);
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().ok_or_else(|| anyhow!("{word} lacks its value"));
            match word {
                "--tag" => tag = Some(Reference::parse(value()?)?),
                "--out" => out = Some(PathBuf::from(value()?)),
                "--bin" => bin = Some(PathBuf::from(value()?)),
                _ => bail!("`{word}` is unknown\n\n{USAGE}"),
            }
        }
        match (tag, out) {
            (Some(tag), Some(out)) => Ok(Options { tag, out, bin }),
            _ => bail!("--tag and --out are needed\n\n{USAGE}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_options() {
        let words = ["--out", "a.tar", "--tag", "localhost/a:1"];
        let options = Options::parse(&words).unwrap();
        assert_eq!(options.tag.to_string(), "localhost/a:1");
        assert_eq!((options.out, options.bin), ("a.tar".into(), None));
    }

    #[test]
    fn what_is_wrong_with_them_is_said() {
        let told = |words: &[&str]| Options::parse(words).unwrap_err().to_string();
        assert!(told(&["--out", "a.tar"]).contains("--tag and --out are needed"));
        assert!(told(&["--out"]).contains("--out lacks its value"));
        assert!(told(&["--size"]).contains("`--size` is unknown"));
    }
}
