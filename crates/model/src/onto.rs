//! Files of weights alone, which need a model that has their layers.

use std::path::Path;

use crate::keras::UNKNOWN_INITIALIZERS;
use crate::model::at;
use crate::{Card, Error, FileProblem, Format, Graph, Model, keras, npz};

impl Model {
    /// Whether training can start from fresh weights: not if an initializer of the file is one that we do
    /// not have.
    pub fn check_fresh(&self) -> Result<(), Error> {
        match self.card.more.get(UNKNOWN_INITIALIZERS) {
            None => Ok(()),
            Some(unknown) => Err(Error::Unfit(format!(
                "the weights of {} cannot start afresh: there is no {unknown}; name the file without `layers_of` to go on from the weights \
                 it has",
                self.card.name
            ))),
        }
    }

    /// These layers with the weights of a file that need not have layers of its own: `.h5` as
    /// `save_weights` of Keras 2 and 3 writes it, or `.npz`. What was measured with other weights is left
    /// out of the card.
    pub fn with_weights_of(&self, path: &Path) -> Result<Model, Error> {
        let read = || -> Result<Model, FileProblem> { self.with_weights(std::fs::read(path)?) };
        read().map_err(|problem| at(path, problem))
    }

    /// The same with the bytes of a file.
    pub fn with_weights(&self, bytes: Vec<u8>) -> Result<Model, FileProblem> {
        let weights = read(&self.graph, bytes)?;
        let Card { version, name, network, input, labels, trainyard, more, .. } = self.card.clone();
        let card =
            Card { version, name, network, input, labels, trainyard, more, ..Card::default() };
        Ok(Model { graph: self.graph.clone(), weights, card })
    }
}

fn read(graph: &Graph, bytes: Vec<u8>) -> Result<Vec<f32>, FileProblem> {
    match Format::sniff(&bytes[..bytes.len().min(Format::TELLING)])? {
        Format::Hdf5 => keras::read_weights(bytes, graph),
        Format::Npz => npz::read_onto(&bytes, graph, &keras::keras_order(graph)),
        _ => {
            let model = Model::from_bytes(&bytes)?;
            let shapes = |graph: &Graph| -> Vec<Vec<usize>> {
                graph.weights().iter().map(|weight| weight.shape.clone()).collect()
            };
            match shapes(&model.graph) == shapes(graph) {
                true => Ok(model.weights),
                false => Err(FileProblem::NotAModel("its weights are of other shapes".into())),
            }
        }
    }
}
