//! How a trained model is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measures a model on samples it was not trained on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluate {
    /// Which samples.
    pub split: Split,
    /// How many samples are computed at once. The result does not depend on it.
    #[schemars(range(min = 1, max = 65_536))]
    pub batch: usize,
    /// Faces: two pictures are taken to be of one person where their embeddings, each of length 1, are
    /// nearer than this.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 2))]
    pub threshold: f32,
}

/// A part of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The test samples.
    #[default]
    Test,
    /// What was held out by `data.validation`.
    Validation,
    /// The samples trained on.
    Train,
}

impl Split {
    /// Its name in a run file.
    pub fn as_str(self) -> &'static str {
        match self {
            Split::Test => "test",
            Split::Validation => "validation",
            Split::Train => "train",
        }
    }
}

impl Default for Evaluate {
    fn default() -> Self {
        Evaluate { split: Split::default(), batch: 100, threshold: 1.0 }
    }
}
