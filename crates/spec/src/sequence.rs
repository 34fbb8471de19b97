//! Layers for texts and other sequences: Keras' names, Keras' arguments, Keras' defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layer::{is_yes, yes, zeros};
use crate::{Activation, Initializer};

/// A row of trained numbers for each word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// How many words there are: ids are below this.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub input_dim: usize,
    /// How many numbers stand for a word.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub output_dim: usize,
    /// How the numbers start.
    #[serde(default = "uniform")]
    pub embeddings_initializer: Initializer,
    /// Whether the id 0 fills up short texts, and recurrent layers after this one pass it by.
    #[serde(default)]
    pub mask_zero: bool,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// Gated recurrent units: reads a sequence step by step and remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gru {
    /// How many numbers it remembers.
    #[schemars(range(min = 1, max = 65_536))]
    pub units: usize,
    /// What is applied to what may be remembered; `tanh` is the one there is.
    #[serde(default = "tanh")]
    pub activation: Activation,
    /// What is applied to the gates; `sigmoid` is the one there is.
    #[serde(default = "sigmoid")]
    pub recurrent_activation: Activation,
    /// Whether constants are added to the sums.
    #[serde(default = "yes")]
    pub use_bias: bool,
    /// How the weights of what is read start.
    #[serde(default)]
    pub kernel_initializer: Initializer,
    /// How the weights of what is remembered start.
    #[serde(default = "orthogonal")]
    pub recurrent_initializer: Initializer,
    /// How the constants start.
    #[serde(default = "zeros")]
    pub bias_initializer: Initializer,
    /// Whether the result is that of every step, and not of the last one alone.
    #[serde(default)]
    pub return_sequences: bool,
    /// Whether it reads from the end. The results are in the order of reading.
    #[serde(default)]
    pub go_backwards: bool,
    /// Whether the reset gate acts after the weights of what is remembered, or before.
    #[serde(default = "yes")]
    pub reset_after: bool,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// Long short-term memory: reads a sequence step by step and remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lstm {
    /// How many numbers it remembers.
    #[schemars(range(min = 1, max = 65_536))]
    pub units: usize,
    /// What is applied to what may be remembered; `tanh` is the one there is.
    #[serde(default = "tanh")]
    pub activation: Activation,
    /// What is applied to the gates; `sigmoid` is the one there is.
    #[serde(default = "sigmoid")]
    pub recurrent_activation: Activation,
    /// Whether constants are added to the sums.
    #[serde(default = "yes")]
    pub use_bias: bool,
    /// Whether the constant of the gate that forgets starts at one.
    #[serde(default = "yes")]
    pub unit_forget_bias: bool,
    /// How the weights of what is read start.
    #[serde(default)]
    pub kernel_initializer: Initializer,
    /// How the weights of what is remembered start.
    #[serde(default = "orthogonal")]
    pub recurrent_initializer: Initializer,
    /// How the constants start.
    #[serde(default = "zeros")]
    pub bias_initializer: Initializer,
    /// Whether the result is that of every step, and not of the last one alone.
    #[serde(default)]
    pub return_sequences: bool,
    /// Whether it reads from the end. The results are in the order of reading.
    #[serde(default)]
    pub go_backwards: bool,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// A recurrent layer twice, one of which reads from the other end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bidirectional {
    /// The layer: `GRU` or `LSTM` with its arguments.
    pub layer: Recurrent,
    /// What the two results come to.
    #[serde(default)]
    pub merge_mode: MergeMode,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// A layer that reads a sequence step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Recurrent {
    /// Gated recurrent units.
    #[serde(rename = "GRU")]
    Gru(Gru),
    /// Long short-term memory.
    #[serde(rename = "LSTM")]
    Lstm(Lstm),
}

/// What the results of two directions come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeMode {
    /// Side by side.
    #[default]
    Concat,
    /// Their sum.
    Sum,
    /// Their mean.
    Ave,
    /// Their product.
    Mul,
}

impl Gru {
    /// So many units, and Keras' defaults.
    pub fn new(units: usize) -> Self {
        Gru {
            units,
            activation: tanh(),
            recurrent_activation: sigmoid(),
            use_bias: yes(),
            kernel_initializer: Initializer::default(),
            recurrent_initializer: orthogonal(),
            bias_initializer: zeros(),
            return_sequences: false,
            go_backwards: false,
            reset_after: yes(),
            trainable: true,
        }
    }
}

impl Recurrent {
    /// How many numbers it remembers.
    pub fn units(&self) -> usize {
        match self {
            Recurrent::Gru(gru) => gru.units,
            Recurrent::Lstm(lstm) => lstm.units,
        }
    }

    /// Whether the result is that of every step.
    pub fn return_sequences(&self) -> bool {
        match self {
            Recurrent::Gru(gru) => gru.return_sequences,
            Recurrent::Lstm(lstm) => lstm.return_sequences,
        }
    }

    /// Whether it reads from the end.
    pub fn go_backwards(&self) -> bool {
        match self {
            Recurrent::Gru(gru) => gru.go_backwards,
            Recurrent::Lstm(lstm) => lstm.go_backwards,
        }
    }
}

fn tanh() -> Activation {
    Activation::Tanh
}

fn sigmoid() -> Activation {
    Activation::Sigmoid
}

fn uniform() -> Initializer {
    Initializer::Uniform
}

fn orthogonal() -> Initializer {
    Initializer::Orthogonal
}
