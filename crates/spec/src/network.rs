//! Which network is trained: built in, written out, or from a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::freeze::{Freeze, beside};
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
    /// One of the others, of which some layers are not trained.
    Frozen(Box<Model>, Freeze),
}

impl Model {
    /// The model file, where there is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Model::File(file) | Model::Fresh(file) => Some(file),
            Model::Builtin(_) | Model::Layers(_) => None,
            Model::Frozen(model, _) => model.file(),
        }
    }

    /// The same, to be changed.
    pub fn file_mut(&mut self) -> Option<&mut String> {
        match self {
            Model::File(file) | Model::Fresh(file) => Some(file),
            Model::Builtin(_) | Model::Layers(_) => None,
            Model::Frozen(model, _) => model.file_mut(),
        }
    }

    /// The network itself, whatever of it is frozen.
    pub fn thawed(&self) -> &Model {
        match self {
            Model::Frozen(model, _) => model.thawed(),
            model => model,
        }
    }

    /// Whether it is a built-in network whose answers are embeddings.
    pub fn embeds(&self) -> bool {
        matches!(
            self.thawed(),
            Model::Builtin(Builtin::Facenet { .. } | Builtin::FacenetSmall { .. })
        )
    }
}

/// The networks that Trainyard knows by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = beside)]
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
    /// FaceNet's Inception-ResNet v1: a picture of a face becomes 128 numbers, near to those of other
    /// pictures of the same person.
    Facenet {
        /// The share of elements dropped before the last layer.
        #[serde(default = "fifth")]
        #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
        dropout: f32,
        /// The size of pictures; the data's unless given, and then the same. At least 75 by 75.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image_size: Option<Pair>,
        /// How many numbers a face becomes.
        #[serde(default = "embedding")]
        #[schemars(range(min = 2, max = 65_536))]
        embedding: usize,
    },
    /// The same in small, for pictures of any size and machines without a graphics card.
    FacenetSmall {
        /// The share of elements dropped before the last layer.
        #[serde(default = "half")]
        #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
        dropout: f32,
        /// The size of pictures; the data's unless given, and then the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image_size: Option<Pair>,
        /// How many numbers a face becomes.
        #[serde(default = "small_embedding")]
        #[schemars(range(min = 2, max = 65_536))]
        embedding: usize,
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
            Builtin::Facenet { .. } => "facenet",
            Builtin::FacenetSmall { .. } => "facenet-small",
        }
    }
}

/// How a network is written: which one, and beside that what of it is frozen.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(with = "Which", rename = "Model")]
struct Form {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    freeze: Option<Freeze>,
    #[serde(flatten)]
    which: Which,
}

/// Which network.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[schemars(rename = "Model", extend("x-short-path" = "file"), transform = beside)]
enum Which {
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
    fn from(Form { which, freeze }: Form) -> Self {
        let model = match which {
            Which::Builtin(builtin) => Model::Builtin(builtin),
            Which::Layers { layers } => Model::Layers(layers),
            Which::File { file } => Model::File(file),
            Which::Fresh { layers_of } => Model::Fresh(layers_of),
        };
        match freeze {
            None => model,
            Some(freeze) => Model::Frozen(Box::new(model), freeze),
        }
    }
}

impl From<Model> for Form {
    fn from(model: Model) -> Self {
        let (which, freeze) = match model {
            Model::Builtin(builtin) => (Which::Builtin(builtin), None),
            Model::Layers(layers) => (Which::Layers { layers }, None),
            Model::File(file) => (Which::File { file }, None),
            Model::Fresh(layers_of) => (Which::Fresh { layers_of }, None),
            Model::Frozen(model, freeze) => (Form::from(*model).which, Some(freeze)),
        };
        Form { freeze, which }
    }
}

fn hundred() -> usize {
    100
}

fn half() -> f32 {
    0.5
}

fn fifth() -> f32 {
    0.2
}

fn embedding() -> usize {
    128
}

fn small_embedding() -> usize {
    64
}

fn ten_thousand() -> usize {
    10_000
}

fn quarter_and_half() -> [f32; 2] {
    [0.25, 0.5]
}
