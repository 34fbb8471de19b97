//! Texts that are known by name: where they live, and what they must hold.
//!
//! What is checked are the texts themselves, in the order of their paths, whatever archive they came
//! in; how they become ids is the run file's to say.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use spec::Data;

use crate::classes::Classes;
use crate::error::{DataError, Result};
use crate::fetch;
use crate::known::Expected;
use crate::source::{Places, Progress, Raw, Whole};
use crate::texts::{Encoding, Split, Texts, is_text};
use crate::tree::Tree;

/// A dataset of texts in two classes.
#[derive(Debug)]
pub(crate) struct KnownTexts {
    pub(crate) name: &'static str,
    /// The folder that has the archive, and the archive's name.
    pub(crate) home: &'static str,
    pub(crate) file: &'static str,
    /// Hashes are those of [`hash`].
    train: Expected,
    test: Expected,
    labels: [&'static str; 2],
    /// Bytes that loading takes beside the samples.
    working: u64,
}

/// Reviews of films, published in 2011.
static IMDB: KnownTexts = KnownTexts {
    name: "imdb",
    home: "https://ai.stanford.edu/~amaas/data/sentiment",
    file: "aclImdb_v1.tar.gz",
    train: Expected {
        samples: 25_000,
        sha256: "215289d292b214471a3ebcd536c1c87ba83af407b191290fe71357a187a4b9ed",
    },
    test: Expected {
        samples: 25_000,
        sha256: "ea4637e027b079abd377512e89658fcd14f0691a31bdd8fe931a38070f74abe8",
    },
    labels: ["neg", "pos"],
    working: 120 << 20,
};

#[cfg(test)]
impl KnownTexts {
    /// Texts that a test makes up: one of each class to train on, and one to test on.
    pub(crate) fn tiny(train: &[(&str, u32)], test: &[(&str, u32)]) -> KnownTexts {
        let expected = |texts: &[(&str, u32)]| {
            let (texts, y): (Vec<_>, Vec<_>) =
                texts.iter().map(|&(text, class)| (text.to_owned(), class)).unzip();
            Expected { samples: y.len(), sha256: hash(&Split { texts, y }).leak() }
        };
        let (train, test) = (expected(train), expected(test));
        KnownTexts { train, test, ..IMDB }
    }
}

/// Finds texts by name.
pub(crate) fn find(name: &str) -> Option<&'static KnownTexts> {
    [&IMDB].into_iter().find(|known| known.name == name)
}

impl KnownTexts {
    /// What it holds, without having it.
    pub(crate) fn facts(&self, data: &Data) -> Whole {
        let encoding = Encoding::new(data);
        Whole {
            train: self.train.samples,
            validation: 0,
            test: self.test.samples,
            shape: vec![encoding.length()],
            classes: self.labels.len(),
            labels: self.labels.map(str::to_owned).to_vec(),
            width: encoding.kind().width(),
            vocabulary: Some(encoding.words()),
            working: self.working,
        }
    }

    /// Loads it from a mirror on this machine, from the cache, or from its home.
    pub(crate) fn load(
        &self,
        data: &Data,
        places: &Places,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Raw> {
        let mirror = data.mirror.as_deref();
        let mirror = mirror.map(|mirror| mirror.strip_prefix("file://").unwrap_or(mirror));
        if let Some(here) = mirror.filter(|mirror| !mirror.contains("://")) {
            return self.read(data, &self.within(Path::new(here)));
        }
        let mut read = |path: &Path| self.read(data, path);
        fetch::archive(self, mirror, places, &mut read, progress)
    }

    /// The archive in a folder, or the folder itself where the texts lie open in it.
    fn within(&self, path: &Path) -> PathBuf {
        let archive = path.join(self.file);
        if archive.is_file() { archive } else { path.to_owned() }
    }

    /// Reads and checks a copy.
    fn read(&self, data: &Data, path: &Path) -> Result<Raw> {
        let tree = Tree::open(path)?;
        let classes = Classes::find(&tree, is_text);
        let texts = Texts::new(data, tree, classes);
        let splits = texts.read_all()?;
        for (name, split, expected) in
            [("training", &splits[0], &self.train), ("test", &splits[2], &self.test)]
        {
            if split.y.len() != expected.samples || hash(split) != expected.sha256 {
                return Err(DataError::malformed(format!(
                    "does not hold the {} {name} texts of {} (it has {}, and SHA-256 over them is not \
                     {}); fetch it again from a faithful copy",
                    expected.samples,
                    self.name,
                    split.y.len(),
                    expected.sha256
                ))
                .in_file(path));
            }
        }
        texts.encode(splits)
    }
}

/// SHA-256 over each text: its class, its length and its bytes, numbers little-endian.
fn hash(split: &Split) -> String {
    let mut hash = Sha256::new();
    for (text, class) in split.texts.iter().zip(&split.y) {
        hash.update(class.to_le_bytes());
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    store::hex(&hash.finalize())
}
