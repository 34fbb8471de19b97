//! Layers whose windows slide over pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layer::{is_yes, yes, zeros};
use crate::{Activation, Initializer};

/// A window of weights slides over a picture (height, width, channels).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conv2D {
    /// How many output channels.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub filters: usize,
    /// Height and width of the window; one number means both.
    pub kernel_size: Pair,
    /// How far the window moves each time.
    #[serde(default = "one")]
    pub strides: Pair,
    /// Whether the picture is padded so that its size stays.
    #[serde(default)]
    pub padding: Padding,
    /// How far apart the pixels of a window are; 1 where they touch. Above 1, `strides` must be 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(extend("default" = [1, 1]))]
    pub dilation_rate: Pair,
    /// How many groups channels and filters fall into; each filter sees the channels of its own group only. It divides both.
    #[serde(default = "single", skip_serializing_if = "is_single")]
    #[schemars(range(min = 1, max = 1_048_576), extend("default" = 1))]
    pub groups: usize,
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

impl Conv2D {
    /// A convolution with Keras' defaults.
    pub fn new(filters: usize, kernel_size: Pair) -> Conv2D {
        Conv2D {
            filters,
            kernel_size,
            strides: Pair::square(1),
            padding: Padding::Valid,
            dilation_rate: Pair::square(1),
            groups: 1,
            activation: Activation::Linear,
            use_bias: true,
            kernel_initializer: Initializer::GlorotUniform,
            bias_initializer: Initializer::Zeros,
            trainable: true,
        }
    }
}

/// A window of weights for each channel slides over a picture (height, width, channels).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepthwiseConv2D {
    /// Height and width of the windows; one number means both.
    pub kernel_size: Pair,
    /// How far the windows move each time.
    #[serde(default = "one")]
    pub strides: Pair,
    /// Whether the picture is padded so that its size stays.
    #[serde(default)]
    pub padding: Padding,
    /// How far apart the pixels of a window are; 1 where they touch. Above 1, `strides` must be 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(extend("default" = [1, 1]))]
    pub dilation_rate: Pair,
    /// How many windows, and output channels, each channel has.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1024))]
    pub depth_multiplier: usize,
    /// What is applied to each sum.
    #[serde(default)]
    pub activation: Activation,
    /// Whether a constant is added to each sum.
    #[serde(default = "yes")]
    pub use_bias: bool,
    /// How the weights start.
    #[serde(default)]
    pub depthwise_initializer: Initializer,
    /// How the constants start.
    #[serde(default = "zeros")]
    pub bias_initializer: Initializer,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// A window of weights for each channel slides over a picture, and each output is a weighted sum of what
/// the channels come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeparableConv2D {
    /// How many output channels.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub filters: usize,
    /// Height and width of the windows; one number means both.
    pub kernel_size: Pair,
    /// How far the windows move each time.
    #[serde(default = "one")]
    pub strides: Pair,
    /// Whether the picture is padded so that its size stays.
    #[serde(default)]
    pub padding: Padding,
    /// How far apart the pixels of a window are; 1 where they touch. Above 1, `strides` must be 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(extend("default" = [1, 1]))]
    pub dilation_rate: Pair,
    /// How many windows each channel has.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1024))]
    pub depth_multiplier: usize,
    /// What is applied to each sum.
    #[serde(default)]
    pub activation: Activation,
    /// Whether a constant is added to each sum.
    #[serde(default = "yes")]
    pub use_bias: bool,
    /// How the windows start.
    #[serde(default)]
    pub depthwise_initializer: Initializer,
    /// How the weights of the sums start.
    #[serde(default)]
    pub pointwise_initializer: Initializer,
    /// How the constants start.
    #[serde(default = "zeros")]
    pub bias_initializer: Initializer,
    /// Whether training changes its weights.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// One value for each window of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pooling2D {
    /// Height and width of the window.
    #[serde(default = "two")]
    pub pool_size: Pair,
    /// How far the window moves each time; the window's size unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Pair>,
    /// Whether windows that reach over the edge count.
    #[serde(default)]
    pub padding: Padding,
}

/// One value for each channel of a picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobalPooling2D {
    /// Whether the result is a picture of one pixel instead of a row of numbers.
    #[serde(default)]
    pub keepdims: bool,
}

/// What happens at a picture's edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Padding {
    /// Windows stay inside the picture.
    #[default]
    Valid,
    /// The output is as large as the input divided by the stride, rounded up; the odd pixel of
    /// padding goes below and to the right, as in TensorFlow.
    Same,
}

/// Height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "PairForm", into = "[usize; 2]")]
#[schemars(with = "PairForm")]
pub struct Pair {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Pair {
    /// The same in both directions.
    pub const fn square(side: usize) -> Self {
        Pair { height: side, width: side }
    }
}

/// `3` or `[3, 5]`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum PairForm {
    Both(#[schemars(range(min = 1, max = 65_536))] usize),
    Each(#[schemars(inner(range(min = 1, max = 65_536)))] [usize; 2]),
}

impl From<PairForm> for Pair {
    fn from(form: PairForm) -> Self {
        match form {
            PairForm::Both(side) => Pair::square(side),
            PairForm::Each([height, width]) => Pair { height, width },
        }
    }
}

impl From<Pair> for [usize; 2] {
    fn from(pair: Pair) -> Self {
        [pair.height, pair.width]
    }
}

pub(crate) fn single() -> usize {
    1
}

pub(crate) fn is_single(given: &usize) -> bool {
    *given == 1
}

fn one() -> Pair {
    Pair::square(1)
}

fn is_one(given: &Pair) -> bool {
    *given == one()
}

fn two() -> Pair {
    Pair::square(2)
}
