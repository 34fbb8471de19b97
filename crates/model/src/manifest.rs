//! `ensemble.json`: which files are the members of an ensemble, and what their weights must be.
//!
//! It may come from anybody, so it can name nothing but files beside itself, and only so many.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hash::sha256;
use crate::model::at;
use crate::safetensors::shortened;
use crate::{Error, FileProblem, Format};

/// Far more members than answer together anywhere; all of them are held in memory.
pub(crate) const MAX_MEMBERS: usize = 1024;

/// A manifest says less than two hundred bytes of a member.
const MAX_BYTES: u64 = 1 << 20;

/// What `ensemble.json` holds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    combine: Combine,
    pub(crate) members: Vec<Member>,
    pub(crate) weights_sha256: String,
}

/// How the members' answers become one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Combine {
    Vote,
}

/// One member: its file beside the manifest, and the hash of its weights.
#[derive(Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) file: String,
    pub(crate) weights_sha256: String,
}

impl Manifest {
    const VERSION: u32 = 1;

    /// The manifest of members with these hashes, by rank.
    pub(crate) fn of(hashes: Vec<String>) -> Manifest {
        let weights_sha256 = sha256_of_all(hashes.iter());
        let member = |(rank, weights_sha256): (usize, String)| Member {
            file: file_of(rank),
            weights_sha256,
        };
        let members = hashes.into_iter().enumerate().map(member).collect();
        Manifest { version: Manifest::VERSION, combine: Combine::Vote, members, weights_sha256 }
    }

    /// Reads and checks a manifest, if there is one.
    pub(crate) fn read(path: &Path) -> Result<Option<Manifest>, Error> {
        let bytes = match limited(path) {
            Err(FileProblem::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            bytes => bytes.map_err(|problem| at(path, problem))?,
        };
        Manifest::parse(&bytes).map(Some).map_err(|problem| at(path, problem))
    }

    /// The version before all else, then that nothing in it leads astray.
    fn parse(bytes: &[u8]) -> Result<Manifest, FileProblem> {
        let damaged =
            |error: serde_json::Error| FileProblem::Damaged(shortened(&error.to_string()));
        let value: Value = serde_json::from_slice(bytes).map_err(damaged)?;
        if let Some(found) = value.get("version").and_then(Value::as_u64)
            && found > u64::from(Manifest::VERSION)
        {
            return Err(FileProblem::Newer { found, known: Manifest::VERSION });
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(damaged)?;
        manifest.check().map_err(FileProblem::Damaged)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if self.members.is_empty() || self.members.len() > MAX_MEMBERS {
            let count = self.members.len();
            return Err(format!("it names {count} members, and may name 1 to {MAX_MEMBERS}"));
        }
        let mut files = BTreeSet::new();
        for Member { file, .. } in &self.members {
            if !is_plain(file) {
                return Err(format!(
                    "its member `{}` is not the plain name of a model file beside it",
                    shortened(file)
                ));
            }
            if !files.insert(file) {
                return Err(format!("it names the member {file} twice"));
            }
        }
        if sha256_of_all(self.members.iter().map(|member| &member.weights_sha256))
            != self.weights_sha256
        {
            return Err("its own hash is not that of the hashes of its members".into());
        }
        Ok(())
    }
}

/// What the member of a rank is called.
pub(crate) fn file_of(rank: usize) -> String {
    format!("{rank}.safetensors")
}

/// The hash of an ensemble, from the hashes of its members by rank.
pub(crate) fn sha256_of_all(hashes: impl Iterator<Item: AsRef<str>>) -> String {
    sha256(|take| hashes.for_each(|hash| take(hash.as_ref().as_bytes())))
}

/// Whether a name means a model file in the folder it is looked up in, on every system.
fn is_plain(name: &str) -> bool {
    let odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    let is_model = Format::of(Path::new(name)).is_ok();
    is_model && name.len() <= 255 && !name.starts_with('.') && !name.contains(odd)
}

/// Reads a file that is not longer than a manifest may be.
fn limited(path: &Path) -> Result<Vec<u8>, FileProblem> {
    if !path.metadata()?.is_file() {
        return Err(FileProblem::NotAModel("it is not a file".into()));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let problem = format!("it is longer than the {MAX_BYTES} bytes that are read");
        return Err(FileProblem::Damaged(problem));
    }
    Ok(bytes)
}
