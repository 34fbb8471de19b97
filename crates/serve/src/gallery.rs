//! Faces of known people, to compare with.
//!
//! A gallery is a folder with a folder of pictures for each person. Embeddings are computed once and kept, with a hash
//! of the picture and of the weights, so that only what changed is computed again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::{Cpu, Input, Isa, Jury};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::asked::Asked;
use crate::examples::{Example, sorted, spread};
use crate::served::Served;

/// Pictures at most, and bytes of one.
const MOST_PICTURES: usize = 10_000;
const MOST_BYTES: u64 = 16 << 20;

/// How many people are told.
const NEAREST: usize = 3;

/// Faces of known people.
pub struct Gallery {
    faces: Vec<Face>,
}

struct Face {
    person: String,
    file: PathBuf,
    embedding: Vec<f32>,
}

/// A person of the gallery, seen from another face.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Near {
    /// Who.
    pub person: String,
    /// How far away, from 0 for the same picture to 2.
    pub distance: f32,
    /// Where their nearest picture is.
    pub picture: String,
    #[serde(skip)]
    number: usize,
}

/// What is kept: embeddings by the hashes of pictures.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    weights_sha256: String,
    embeddings: BTreeMap<String, Vec<f32>>,
}

impl Gallery {
    /// Reads a folder of people. What cannot be used is told and left out. `kept` is a file for embeddings.
    pub fn open(
        folder: &Path,
        served: &Served,
        kept: &Path,
        isa: Isa,
        mut tell: impl FnMut(&str),
    ) -> io::Result<Gallery> {
        let mut known = Kept::read(kept, &served.about.weights_sha256);
        let mut fresh = Kept { weights_sha256: known.weights_sha256.clone(), ..Kept::default() };
        let (mut faces, mut computed) = (vec![], 0);
        let mut jury = served.jury(Cpu::new(1, isa)).map_err(io::Error::other)?;
        for (person, file) in pictures(folder)? {
            let bytes = fs::read(&file)?;
            let hash = store::hex(&Sha256::digest(&bytes));
            let embedding = match known.embeddings.remove(&hash) {
                Some(embedding) if embedding.len() == served.about.outputs => embedding,
                _ => match embed(served, &mut jury, &bytes) {
                    Ok(embedding) => {
                        computed += 1;
                        embedding
                    }
                    Err(problem) => {
                        tell(&format!("{} is left out: {problem}", file.display()));
                        continue;
                    }
                },
            };
            fresh.embeddings.insert(hash, embedding.clone());
            faces.push(Face { person, file, embedding });
        }
        if faces.is_empty() {
            let problem = format!("{} holds no folder with a picture", folder.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        if computed > 0 {
            fresh.write(kept)?;
        }
        Ok(Gallery { faces })
    }

    /// How many people there are.
    pub fn people(&self) -> usize {
        // Pictures lie by person.
        self.faces.chunk_by(|a, b| a.person == b.person).count()
    }

    /// A picture of each person, or of some where there are many.
    pub(crate) fn examples(&self) -> Vec<Example> {
        let mut first = 0;
        let last_of = |faces: &[Face]| {
            first += faces.len();
            Example { url: format!("/gallery/{}", first - 1), name: faces[0].person.clone() }
        };
        spread(self.faces.chunk_by(|a, b| a.person == b.person).map(last_of).collect())
    }

    /// The nearest people, each by their nearest picture. A picture of the gallery itself is compared with the others
    /// of its person, if there are some: that it is like itself, everybody knows.
    pub(crate) fn nearest(&self, embedding: &[f32]) -> Vec<Near> {
        let people = self.faces.chunk_by(|a, b| a.person == b.person);
        let mut first = 0;
        let mut all: Vec<(f32, usize)> = people
            .map(|faces| {
                let of = |(number, face): (usize, &Face)| {
                    (distance(&face.embedding, embedding), first + number)
                };
                let mut found: Vec<_> = faces.iter().enumerate().map(of).collect();
                first += faces.len();
                found.sort_by(|a, b| a.0.total_cmp(&b.0));
                found.iter().find(|near| near.0 > 0.0).copied().unwrap_or(found[0])
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let near = |(distance, number): (f32, usize)| Near {
            person: self.faces[number].person.clone(),
            distance,
            picture: format!("/gallery/{number}"),
            number,
        };
        all.into_iter().take(NEAREST).map(near).collect()
    }

    /// The file of the picture by which somebody is near.
    pub fn file(&self, near: &Near) -> Option<&Path> {
        self.picture(near.number)
    }

    /// The file of a picture, by its number.
    pub(crate) fn picture(&self, number: usize) -> Option<&Path> {
        self.faces.get(number).map(|face| face.file.as_path())
    }
}

/// How far two embeddings are apart.
pub(crate) fn distance(a: &[f32], b: &[f32]) -> f32 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum();
    square.sqrt() as f32
}

fn embed(served: &Served, jury: &mut Jury<'_>, file: &[u8]) -> Result<Vec<f32>, String> {
    let read = served.reader.read(&Asked::Pictures(vec![file.into()]))?;
    Ok(jury.embed(Input::Floats(&read.values), read.count))
}

/// The pictures of a folder of people, by person and name.
fn pictures(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut all = vec![];
    for person in sorted(folder)?.into_iter().filter(|path| path.is_dir()) {
        let Some(name) = person.file_name().and_then(|name| name.to_str()) else { continue };
        for file in sorted(&person)? {
            let about = file.metadata()?;
            if !about.is_file() || about.len() > MOST_BYTES {
                continue;
            }
            all.push((name.to_owned(), file));
            if all.len() > MOST_PICTURES {
                let problem = format!("a gallery has at most {MOST_PICTURES} pictures");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
        }
    }
    Ok(all)
}

impl Kept {
    /// What is kept for these weights; nothing where that cannot be read, since it can be computed again.
    fn read(file: &Path, weights_sha256: &str) -> Kept {
        let kept = fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let ours = kept.filter(|kept: &Kept| kept.weights_sha256 == weights_sha256);
        ours.unwrap_or(Kept { weights_sha256: weights_sha256.to_owned(), ..Kept::default() })
    }

    fn write(&self, file: &Path) -> io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        store::publish(file, |out| Ok(serde_json::to_writer(out, self)?)).map_err(io::Error::other)
    }
}
