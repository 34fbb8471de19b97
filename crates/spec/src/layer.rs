//! Layers as a run file names them: Keras' names, Keras' arguments, Keras' defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BatchNormalization, Bidirectional, Conv1D, Conv2D, DepthwiseConv2D, Embedding, GlobalPooling1D,
    GlobalPooling2D, Gru, LayerNormalization, Lstm, Pooling1D, Pooling2D, RandomFlip,
    RandomRotation, RandomTranslation, Rescaling, SeparableConv2D, UnitNormalization,
    ZeroPadding2D,
};

/// One layer of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Layer {
    /// Where samples enter. In a run file it may be left out: the data says the shape.
    Input(Input),
    /// Every output is a weighted sum of every input.
    Dense(Dense),
    /// A window of weights slides over a picture.
    Conv2D(Conv2D),
    /// A window of weights for each channel slides over a picture.
    DepthwiseConv2D(DepthwiseConv2D),
    /// A window for each channel, and then weighted sums over channels.
    SeparableConv2D(SeparableConv2D),
    /// The largest value in each window.
    MaxPooling2D(Pooling2D),
    /// The mean of each window.
    AveragePooling2D(Pooling2D),
    /// The largest value of each channel.
    GlobalMaxPooling2D(GlobalPooling2D),
    /// The mean of each channel.
    GlobalAveragePooling2D(GlobalPooling2D),
    /// Brings each channel to mean 0 and variance 1.
    BatchNormalization(BatchNormalization),
    /// Brings the last axis of each sample to mean 0 and variance 1.
    LayerNormalization(LayerNormalization),
    /// Brings the last axis to length 1.
    UnitNormalization(UnitNormalization),
    /// Drops random elements while training.
    Dropout(Dropout),
    /// Numbers times a constant, plus another.
    Rescaling(Rescaling),
    /// Flips pictures at random while training.
    RandomFlip(RandomFlip),
    /// Turns pictures at random while training.
    RandomRotation(RandomRotation),
    /// Shifts pictures at random while training.
    RandomTranslation(RandomTranslation),
    /// Zeros around a picture.
    ZeroPadding2D(ZeroPadding2D),
    /// Turns a sample of any shape into one row of numbers.
    Flatten(Flatten),
    /// Gives a sample another shape.
    Reshape(Reshape),
    /// An activation function on its own.
    Activation(ActivationLayer),
    /// The sum of several layers of one shape. Not in `layers:`, where each reads the one before.
    Add(Add),
    /// Several layers side by side, along the last axis. Not in `layers:`, where each reads the one
    /// before.
    Concatenate(Concatenate),
    /// A row of trained numbers for each word. It comes first, and takes ids of words.
    Embedding(Embedding),
    /// A window of weights slides over a sequence.
    Conv1D(Conv1D),
    /// The largest value in each window of a sequence.
    MaxPooling1D(Pooling1D),
    /// The mean of each window of a sequence.
    AveragePooling1D(Pooling1D),
    /// The largest value of each feature of a sequence.
    GlobalMaxPooling1D(GlobalPooling1D),
    /// The mean of each feature of a sequence.
    GlobalAveragePooling1D(GlobalPooling1D),
    /// Gated recurrent units: reads a sequence step by step and remembers.
    #[serde(rename = "GRU")]
    Gru(Gru),
    /// Long short-term memory: reads a sequence step by step and remembers.
    #[serde(rename = "LSTM")]
    Lstm(Lstm),
    /// A recurrent layer twice, one of which reads from the other end.
    Bidirectional(Bidirectional),
}

impl Layer {
    /// Whether training may change its weights, if it has any.
    pub fn trainable(&self) -> bool {
        match self {
            Layer::Dense(layer) => layer.trainable,
            Layer::Conv1D(layer) => layer.trainable,
            Layer::Conv2D(layer) => layer.trainable,
            Layer::DepthwiseConv2D(layer) => layer.trainable,
            Layer::SeparableConv2D(layer) => layer.trainable,
            Layer::BatchNormalization(layer) => layer.trainable,
            Layer::LayerNormalization(layer) => layer.trainable,
            Layer::Embedding(layer) => layer.trainable,
            Layer::Gru(layer) => layer.trainable,
            Layer::Lstm(layer) => layer.trainable,
            Layer::Bidirectional(layer) => layer.trainable,
            _ => true,
        }
    }

    /// Lets training leave its weights as they are, if it has any.
    pub fn freeze(&mut self) {
        let trainable = match self {
            Layer::Dense(layer) => &mut layer.trainable,
            Layer::Conv1D(layer) => &mut layer.trainable,
            Layer::Conv2D(layer) => &mut layer.trainable,
            Layer::DepthwiseConv2D(layer) => &mut layer.trainable,
            Layer::SeparableConv2D(layer) => &mut layer.trainable,
            Layer::BatchNormalization(layer) => &mut layer.trainable,
            Layer::LayerNormalization(layer) => &mut layer.trainable,
            Layer::Embedding(layer) => &mut layer.trainable,
            Layer::Gru(layer) => &mut layer.trainable,
            Layer::Lstm(layer) => &mut layer.trainable,
            Layer::Bidirectional(layer) => &mut layer.trainable,
            _ => return,
        };
        *trainable = false;
    }
}

/// Where samples enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The shape of one sample, without the batch: `[28, 28, 1]`.
    #[schemars(length(min = 1, max = 8), inner(range(min = 1, max = 1_048_576)))]
    pub shape: Vec<usize>,
}

/// Every output is a weighted sum of every input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dense {
    /// How many outputs.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub units: usize,
    /// What is applied to each sum.
    #[serde(default)]
    pub activation: Activation,
    /// Whether a constant is added to each sum.
    #[serde(default = "yes")]
    pub use_bias: bool,
    /// How the weights start.
    #[serde(default)]
    pub kernel_initializer: Initializer,
    /// How the constants start.
    #[serde(default = "zeros")]
    pub bias_initializer: Initializer,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// Drops random elements while training, and scales up the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dropout {
    /// The share that is dropped, from 0 to below 1.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub rate: f32,
}

/// Turns a sample of any shape into one row of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flatten {}

/// Gives a sample another shape of as many numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reshape {
    /// The shape, without the batch.
    #[schemars(length(min = 1, max = 8), inner(range(min = 1, max = 1_048_576)))]
    pub target_shape: Vec<usize>,
}

/// An activation function on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivationLayer {
    /// Which one.
    pub activation: Activation,
}

/// The sum of several layers of one shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Add {}

/// Several layers side by side, along the last axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Concatenate {}

/// What is applied to a layer's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// Nothing.
    #[default]
    Linear,
    /// max(x, 0).
    Relu,
    /// 1 / (1 + e^-x).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// e^x over the sum of all e^x: probabilities. Over the last axis.
    Softmax,
    /// x, and e^x - 1 below zero.
    Elu,
    /// e^x.
    Exponential,
    /// x/6 + 1/2, from 0 to 1.
    HardSigmoid,
    /// x, and a fifth of it below zero.
    LeakyRelu,
    /// x from 0 to 6.
    Relu6,
    /// `elu` with constants for which means and variances stay what they are.
    Selu,
    /// ln(1 + e^x).
    Softplus,
    /// x / (1 + |x|).
    Softsign,
    /// x times the share of a normal distribution that lies below x: exact, and not by tanh.
    Gelu,
    /// x / (1 + e^-x); Keras knows it as `swish` too.
    Silu,
    /// x times tanh(ln(1 + e^x)).
    Mish,
    /// x times `hard_sigmoid`; Keras knows it as `hard_swish` too.
    HardSilu,
    /// x from -1 to 1.
    HardTanh,
}

/// How weights start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initializer {
    /// Uniform within ±√(6 / (inputs + outputs)).
    #[default]
    GlorotUniform,
    /// Normal within two deviations, the deviation being √(2 / inputs), corrected as Keras does.
    HeNormal,
    /// All zero.
    Zeros,
    /// All one.
    Ones,
    /// Uniform within ±0.05.
    Uniform,
    /// A matrix whose rows, or columns where there are fewer, are of length one and at right angles.
    Orthogonal,
    /// Normal with a given deviation, within two deviations.
    TruncatedNormal {
        /// The deviation before values beyond two deviations are redrawn.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
        stddev: f32,
    },
}

pub(crate) fn yes() -> bool {
    true
}

pub(crate) fn is_yes(given: &bool) -> bool {
    *given
}

pub(crate) fn zeros() -> Initializer {
    Initializer::Zeros
}
