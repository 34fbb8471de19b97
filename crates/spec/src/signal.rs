//! Layers whose windows slide over sequences: Keras' names, Keras' arguments, Keras' defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::convolution::{is_single, single};
use crate::layer::{is_yes, yes, zeros};
use crate::{Activation, Conv2D, Initializer, Padding, Pair, Pooling2D};

/// A window of weights slides over a sequence (steps, features).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conv1D {
    /// How many numbers come out of each window.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub filters: usize,
    /// How many steps a window has.
    #[schemars(range(min = 1, max = 65_536))]
    pub kernel_size: usize,
    /// How far the window moves each time.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 65_536))]
    pub strides: usize,
    /// Whether the sequence is padded so that its length stays.
    #[serde(default)]
    pub padding: Padding1D,
    /// How far apart the steps of a window are; 1 where they touch. Above 1, `strides` must be 1.
    #[serde(default = "single", skip_serializing_if = "is_single")]
    #[schemars(range(min = 1, max = 65_536), extend("default" = 1))]
    pub dilation_rate: usize,
    /// How many groups features and filters fall into; each filter sees the features of its own group only. It divides both.
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

/// What happens at the ends of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Padding1D {
    /// Windows stay inside the sequence.
    #[default]
    Valid,
    /// The output is as long as the input divided by the stride, rounded up; the odd step of padding goes after
    /// the end.
    Same,
    /// As long as that, and all padding goes before the beginning: no window sees later steps.
    Causal,
}

/// One value for each window of a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pooling1D {
    /// How many steps a window has.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 65_536))]
    pub pool_size: usize,
    /// How far the window moves each time; the window's size unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub strides: Option<usize>,
    /// Whether windows that reach over the ends count.
    #[serde(default)]
    pub padding: Padding,
}

/// One value for each feature of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobalPooling1D {
    /// Whether the result is a sequence of one step instead of a row of numbers.
    #[serde(default)]
    pub keepdims: bool,
}

impl Conv1D {
    /// The same over a picture of one row. What is padded causally counts as `same`, which is as long.
    pub fn over_row(&self) -> Conv2D {
        Conv2D {
            filters: self.filters,
            kernel_size: across(self.kernel_size),
            strides: across(self.strides),
            padding: match self.padding {
                Padding1D::Valid => Padding::Valid,
                Padding1D::Same | Padding1D::Causal => Padding::Same,
            },
            dilation_rate: across(self.dilation_rate),
            groups: self.groups,
            activation: self.activation,
            use_bias: self.use_bias,
            kernel_initializer: self.kernel_initializer,
            bias_initializer: self.bias_initializer,
            trainable: self.trainable,
        }
    }
}

impl Pooling1D {
    /// The same over a picture of one row.
    pub fn over_row(&self) -> Pooling2D {
        Pooling2D {
            pool_size: across(self.pool_size),
            strides: self.strides.map(across),
            padding: self.padding,
        }
    }
}

fn across(width: usize) -> Pair {
    Pair { height: 1, width }
}

fn two() -> usize {
    2
}
