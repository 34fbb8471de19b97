//! Layers that bring numbers to a common size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Initializer;
use crate::layer::is_yes;

/// Brings each channel (each number of the last axis) to mean 0 and variance 1, then scales and shifts it.
/// In training by what a worker's batch has, and otherwise by moving means of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BatchNormalization {
    /// How slowly the moving means follow.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub momentum: f32,
    /// Is added to the variance, which may be zero.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub epsilon: f32,
    /// Whether a trained number is added to each channel.
    pub center: bool,
    /// Whether each channel is multiplied by a trained number.
    pub scale: bool,
    /// How what is added starts.
    pub beta_initializer: Initializer,
    /// How what is multiplied starts.
    pub gamma_initializer: Initializer,
    /// How the moving means start.
    pub moving_mean_initializer: Initializer,
    /// How the moving variances start.
    pub moving_variance_initializer: Initializer,
    /// Whether training changes its weights. If not, it goes by the moving means even in training.
    #[serde(skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// Brings the last axis of each sample to mean 0 and variance 1, place by place, then scales and shifts it. It is the
/// same in training and afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayerNormalization {
    /// Is added to the variance, which may be zero.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub epsilon: f32,
    /// Whether a trained number is added to each channel.
    pub center: bool,
    /// Whether each channel is multiplied by a trained number.
    pub scale: bool,
    /// How what is added starts.
    pub beta_initializer: Initializer,
    /// How what is multiplied starts.
    pub gamma_initializer: Initializer,
    /// Whether training changes its weights.
    #[serde(skip_serializing_if = "is_yes")]
    pub trainable: bool,
}

/// Brings the last axis to length 1: each number is divided by the root of the sum of squares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitNormalization {}

impl Default for BatchNormalization {
    fn default() -> Self {
        BatchNormalization {
            momentum: 0.99,
            epsilon: 0.001,
            center: true,
            scale: true,
            beta_initializer: Initializer::Zeros,
            gamma_initializer: Initializer::Ones,
            moving_mean_initializer: Initializer::Zeros,
            moving_variance_initializer: Initializer::Ones,
            trainable: true,
        }
    }
}

impl Default for LayerNormalization {
    fn default() -> Self {
        LayerNormalization {
            epsilon: 0.001,
            center: true,
            scale: true,
            beta_initializer: Initializer::Zeros,
            gamma_initializer: Initializer::Ones,
            trainable: true,
        }
    }
}
