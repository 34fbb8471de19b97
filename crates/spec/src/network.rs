//! Which network is trained: built in, written out, or from a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Layer, Pair};

/// A network. In a run file: `mnist-cnn`, `{name: mnist-mlp, hidden_units: 1000}`,
/// `{layers: […]}`, a path that ends in `.safetensors`, `.h5` or `.keras`, or `{layers_of: my.h5}` for its layers
/// alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Form", into = "Form")]
#[schemars(with = "Form")]
pub enum Model {
    /// A network that Trainyard knows by name.
    Builtin(Builtin),
    /// Layers one after another. The data says the shape of the input.
    Layers(Vec<Layer>),
    /// A model file, whose weights training starts from.
    File(String),
    /// The layers of a model file, with fresh weights.
    Fresh(String),
}

impl Model {
    /// The model file, where there is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Model::File(file) | Model::Fresh(file) => Some(file),
            Model::Builtin(_) | Model::Layers(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn file_mut(&mut self) -> Option<&mut String> {
        match self {
            Model::File(file) | Model::Fresh(file) => Some(file),
            Model::Builtin(_) | Model::Layers(_) => None,
        }
    }
}

/// The networks that Trainyard knows by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-later" = ["facenet"]))]
pub enum Builtin {
    /// One hidden layer.
    MnistMlp {
        /// How wide the hidden layer is.
        #[serde(default = "hundred")]
        #[schemars(range(min = 1, max = 1_048_576))]
        hidden_units: usize,
    },
    /// Two convolutions, one pooling, one dense layer.
    MnistCnn {
        /// The share of elements dropped after the pooling, and before the dense layer.
        #[serde(default = "quarter_and_half")]
        #[schemars(extend("items" = {"type": "number", "format": "float", "minimum": 0, "exclusiveMaximum": 1}))]
        dropout: [f32; 2],
    },
    /// Separable convolutions with shortcuts past them, for pictures of any size.
    SmallXception {
        /// The share of elements dropped before the last layer.
        #[serde(default = "half")]
        #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
        dropout: f32,
        /// The size of pictures; the data's unless given, and then the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image_size: Option<Pair>,
    },
    /// Words become numbers, which two layers of gated recurrent units read from both ends.
    ImdbBigru {
        /// How many words it knows; as many as the data has, or more.
        #[serde(default = "ten_thousand")]
        #[schemars(range(min = 1, max = 16_777_216))]
        vocabulary_size: usize,
    },
}

impl Builtin {
    /// The name in run files and cards.
    pub fn name(&self) -> &'static str {
        match self {
            Builtin::MnistMlp { .. } => "mnist-mlp",
            Builtin::MnistCnn { .. } => "mnist-cnn",
            Builtin::SmallXception { .. } => "small-xception",
            Builtin::ImdbBigru { .. } => "imdb-bigru",
        }
    }
}

/// How a network is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[schemars(rename = "Model", extend("x-short-path" = "file"))]
enum Form {
    /// A built-in network, with arguments of its own.
    Builtin(Builtin),
    /// A network written out.
    Layers {
        /// Keras' layers with Keras' arguments, one after another.
        #[schemars(length(min = 1, max = 10_000))]
        layers: Vec<Layer>,
    },
    /// A model to go on from.
    File {
        /// A path that ends in `.safetensors`, `.h5` or `.keras`.
        file: String,
    },
    /// The layers of a model, to start from fresh weights.
    Fresh {
        /// A path that ends in `.safetensors`, `.h5` or `.keras`.
        layers_of: String,
    },
}

impl From<Form> for Model {
    fn from(form: Form) -> Self {
        match form {
            Form::Builtin(builtin) => Model::Builtin(builtin),
            Form::Layers { layers } => Model::Layers(layers),
            Form::File { file } => Model::File(file),
            Form::Fresh { layers_of } => Model::Fresh(layers_of),
        }
    }
}

impl From<Model> for Form {
    fn from(model: Model) -> Self {
        match model {
            Model::Builtin(builtin) => Form::Builtin(builtin),
            Model::Layers(layers) => Form::Layers { layers },
            Model::File(file) => Form::File { file },
            Model::Fresh(layers_of) => Form::Fresh { layers_of },
        }
    }
}

fn hundred() -> usize {
    100
}

fn half() -> f32 {
    0.5
}

fn ten_thousand() -> usize {
    10_000
}

fn quarter_and_half() -> [f32; 2] {
    [0.25, 0.5]
}
