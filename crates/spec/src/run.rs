//! What the user asked for, checked: every default filled in, short and long form made one.

use serde::{Deserialize, Serialize};

use crate::file::RunFile;
use crate::{Evaluate, On, Prepare, Serve, Train};

/// A run file, resolved. Serialised, it is a run file in the long form again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RunFile", into = "RunFile")]
pub struct RunSpec {
    /// The run's name, `[a-z][a-z0-9-]*`, at most 40 characters.
    pub name: String,
    /// What all randomness comes from.
    pub seed: u64,
    /// What is done, in the order of the file.
    pub steps: Vec<Step>,
    /// What it is given in places other than this machine.
    pub on: On,
}

/// One thing that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name in the file.
    pub id: String,
    /// The steps that must be done first.
    pub needs: Vec<String>,
    /// What it does.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Makes data ready.
    Prepare(Prepare),
    /// Trains a model.
    Train(Train),
    /// Measures a model.
    Evaluate(Evaluate),
    /// Serves a model, when all else is done.
    Serve(Serve),
}

impl RunSpec {
    /// The spec as a run file in the long form, with nothing left to default. Equal specs give
    /// equal texts, and [`parse`](crate::parse) gives the spec back.
    pub fn to_yaml(&self) -> String {
        serde_saphyr::to_string(self).expect("every part of a spec can be written as YAML")
    }
}

/// A document as YAML.
pub fn yaml(document: &serde_json::Value) -> String {
    serde_saphyr::to_string(document).expect("JSON can be written as YAML")
}

impl Action {
    /// The word for it in run files, plans and events.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Prepare(_) => "prepare",
            Action::Train(_) => "train",
            Action::Evaluate(_) => "evaluate",
            Action::Serve(_) => "serve",
        }
    }
}
