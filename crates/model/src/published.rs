//! What answers questions: one model, or several that vote.

use std::path::Path;

use crate::model::at;
use crate::{ENSEMBLE_FILE, Ensemble, Error, FILE_NAME, FileProblem, Model};

/// What training published.
#[derive(Clone, Debug, PartialEq)]
pub enum Published {
    /// A model.
    One(Box<Model>),
    /// Models that answer by vote.
    Many(Ensemble),
}

impl Published {
    /// Whether a path leads to what [`open`](Published::open) takes: a file, or a folder in which a
    /// model or an ensemble was published.
    pub fn is_at(path: &Path) -> bool {
        path.is_file() || [ENSEMBLE_FILE, FILE_NAME].iter().any(|name| path.join(name).is_file())
    }

    /// Reads a model file, an `ensemble.json` with what it names, or the one of these that a folder
    /// holds: of both the ensemble.
    pub fn open(path: &Path) -> Result<Published, Error> {
        let file = match path {
            folder if !folder.is_dir() => path.to_owned(),
            folder if folder.join(ENSEMBLE_FILE).is_file() => folder.join(ENSEMBLE_FILE),
            folder if folder.join(FILE_NAME).is_file() => folder.join(FILE_NAME),
            folder => {
                let problem = format!("the folder holds neither {FILE_NAME} nor {ENSEMBLE_FILE}");
                return Err(at(folder, FileProblem::NotAModel(problem)));
            }
        };
        if file.file_name().is_some_and(|name| name == ENSEMBLE_FILE) {
            return Ensemble::load(&file).map(Published::Many);
        }
        Model::load(&file).map(Box::new).map(Published::One)
    }

    /// The models, by rank: one, or all of an ensemble. They have the same layers, input and labels.
    pub fn members(&self) -> &[Model] {
        match self {
            Published::One(model) => std::slice::from_ref(model),
            Published::Many(ensemble) => ensemble.members(),
        }
    }

    /// One model, for what is the same in all: layers, input, labels.
    pub fn first(&self) -> &Model {
        &self.members()[0]
    }

    /// The identity of all weights.
    pub fn weights_sha256(&self) -> String {
        match self {
            Published::One(model) => model.weights_sha256(),
            Published::Many(ensemble) => ensemble.weights_sha256(),
        }
    }

    /// How many numbers all weights are.
    pub fn parameters(&self) -> usize {
        self.members().iter().map(|model| model.weights.len()).sum()
    }
}

impl From<Model> for Published {
    fn from(model: Model) -> Self {
        Published::One(Box::new(model))
    }
}
