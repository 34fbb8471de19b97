//! A model: layers, weights, and the facts about them, as one file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::{Card, Error, FileProblem, Format, Graph, safetensors, weights_sha256};

/// What a model's file is called in a run's folder for it.
pub const FILE_NAME: &str = "model.safetensors";

/// A model, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its layers.
    pub graph: Graph,
    /// All weights, in the graph's order.
    pub weights: Vec<f32>,
    /// What is known about it.
    pub card: Card,
}

impl Model {
    /// Whether the ending of a path is one that [`save`](Model::save) can write: worth asking before
    /// hours of training.
    pub fn can_save(path: &Path) -> Result<(), Error> {
        let supported = Format::of(path).and_then(Format::supported);
        supported.map_err(|problem| at(path, problem))
    }

    /// Writes the model to a file, in the format that the ending says. The file is there whole or
    /// not at all. The same model gives the same bytes.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        Model::can_save(path)?;
        store::publish(path, |out| safetensors::write(self, out))?;
        Ok(())
    }

    /// The bytes that [`save`](Model::save) writes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        safetensors::write(self, &mut bytes).expect("memory takes all that is written to it");
        bytes
    }

    /// Reads a model from a file.
    pub fn load(path: &Path) -> Result<Model, Error> {
        let open = || -> Result<Model, FileProblem> {
            let file = File::open(path)?;
            let about = file.metadata()?;
            if !about.is_file() {
                return Err(FileProblem::NotAModel("it is not a file".into()));
            }
            read(BufReader::new(file), about.len())
        };
        open().map_err(|problem| at(path, problem))
    }

    /// Reads a model from the bytes of a file. Whatever the bytes are, this ends with a model or an
    /// error, and needs little more memory than they do.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, FileProblem> {
        read(bytes, bytes.len() as u64)
    }

    /// The identity of the weights.
    pub fn weights_sha256(&self) -> String {
        weights_sha256(&self.weights)
    }

    /// How many weights are infinite or not a number: more than none means that training diverged.
    pub fn non_finite(&self) -> usize {
        self.weights.iter().filter(|weight| !weight.is_finite()).count()
    }
}

/// Reads a model of `size` bytes, which its header must agree with.
fn read(mut source: impl Read, size: u64) -> Result<Model, FileProblem> {
    let mut start = Vec::new();
    let telling = Format::TELLING as u64;
    source.by_ref().take(telling).read_to_end(&mut start)?;
    Format::sniff(&start)?.supported()?;
    safetensors::read(start.chain(source), size)
}

pub(crate) fn at(path: &Path, problem: FileProblem) -> Error {
    Error::File { file: path.display().to_string(), problem }
}
