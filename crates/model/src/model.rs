//! A model: layers, weights, and the facts about them, as one file.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use crate::safetensors::{CARD, GRAPH, shortened};
use crate::{Card, Error, FileProblem, Format, Graph, keras, npz, safetensors, weights_sha256};

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
        Format::of(path).map(|_| ()).map_err(|problem| at(path, problem))
    }

    /// Writes the model to a file, in the format that the ending says. The file is there whole or
    /// not at all. The same model gives the same bytes.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let format = Format::of(path).map_err(|problem| at(path, problem))?;
        store::publish(path, |out| self.write(format, out))?;
        Ok(())
    }

    /// The bytes of a `.safetensors` file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_as(Format::Safetensors).expect("memory takes all that is written to it")
    }

    /// The bytes that [`save`](Model::save) writes.
    pub fn to_bytes_as(&self, format: Format) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(format, &mut bytes)?;
        Ok(bytes)
    }

    fn write(&self, format: Format, out: impl Write) -> io::Result<()> {
        assert_eq!(self.weights.len(), self.graph.parameter_count(), "a model has all its weights");
        match format {
            Format::Safetensors => safetensors::write(self, out),
            Format::Hdf5 => keras::write_h5(self, out),
            Format::Keras => keras::write_archive(self, out),
            Format::Npz => npz::write(self, out),
        }
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

    /// A model that was read: its weights are those whose hash is in the card, where there is one.
    pub(crate) fn checked(
        graph: Graph,
        weights: Vec<f32>,
        card: Card,
    ) -> Result<Model, FileProblem> {
        let hash = weights_sha256(&weights);
        if !card.weights_sha256.is_empty() && card.weights_sha256 != hash {
            return Err(FileProblem::Damaged(format!(
                "its weights have the hash {hash}, and its card says {}",
                shortened(&card.weights_sha256)
            )));
        }
        Ok(Model { graph, weights, card })
    }

    /// The layers and the card as every kind of file carries them. The card gets the weights' hash.
    pub(crate) fn texts(&self) -> serde_json::Result<[(&'static str, String); 2]> {
        let card = Card { weights_sha256: self.weights_sha256(), ..self.card.clone() };
        Ok([(GRAPH, serde_json::to_string(&self.graph)?), (CARD, serde_json::to_string(&card)?)])
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
    let format = Format::sniff(&start)?;
    if format == Format::Safetensors {
        return safetensors::read(start.chain(source), size);
    }
    // The rest of these have their tables at the end.
    let mut bytes = start;
    source.take(size).read_to_end(&mut bytes)?;
    match format {
        Format::Hdf5 => keras::read_h5(bytes),
        Format::Npz => npz::read(&bytes),
        _ => keras::read_archive(bytes),
    }
}

pub(crate) fn at(path: &Path, problem: FileProblem) -> Error {
    Error::File { file: path.display().to_string(), problem }
}
