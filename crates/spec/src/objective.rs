//! What training drives at and how: losses and optimizers, with Keras' names and defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What training makes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-short" = "name"))]
pub struct Loss {
    /// Which function.
    pub name: LossName,
    /// How the samples of a batch are put together.
    #[serde(default)]
    pub reduction: Reduction,
    /// `triplet`: how much nearer the same person has to be than another one; 0.4 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 1e6))]
    pub alpha: Option<f32>,
    /// `triplet`: how many pairs of two pictures of each person an epoch has; 10 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub pairs: Option<usize>,
    /// `triplet`: with how many pictures of other people each of these pairs is put together; 10 unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub negatives: Option<usize>,
}

impl Loss {
    /// A loss with nothing else said about it.
    pub fn of(name: LossName) -> Loss {
        Loss { name, ..Loss::default() }
    }

    /// `triplet`: how much nearer the same person has to be than another one.
    pub fn margin(&self) -> f32 {
        self.alpha.unwrap_or(0.4)
    }

    /// How many pictures a sample is.
    pub fn pictures(&self) -> usize {
        match self.name {
            LossName::Triplet => 3,
            _ => 1,
        }
    }
}

/// The loss functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossName {
    /// Minus the logarithm of the probability given to the right class.
    #[default]
    SparseCategoricalCrossentropy,
    /// The same. Keras has two names for two ways to write labels; here a label is always a class.
    CategoricalCrossentropy,
    /// For each output, minus the logarithm of the probability that it is as it should be: one output
    /// says yes or no; of several, the one of the right class says yes.
    BinaryCrossentropy,
    /// The mean of the squared differences from what outputs should be: one output is the class's number;
    /// of several, the one of the right class is 1 and the others 0.
    MeanSquaredError,
    /// For faces. A sample is a triplet of pictures: of a person, of the same one, of somebody else. It
    /// costs what the squared distance of the first two is larger than that of the first and the last,
    /// plus `alpha`, and nothing where it is smaller.
    Triplet,
}

impl LossName {
    /// What a classifier with so many outputs is usually trained by.
    pub fn usual(outputs: usize) -> LossName {
        match outputs {
            1 => LossName::BinaryCrossentropy,
            _ => LossName::SparseCategoricalCrossentropy,
        }
    }

    /// How many classes so many outputs can tell apart.
    pub fn classes(self, outputs: usize) -> usize {
        match (self, outputs) {
            (LossName::BinaryCrossentropy, 1) => 2,
            (LossName::MeanSquaredError, 1) | (LossName::Triplet, _) => usize::MAX,
            _ => outputs,
        }
    }
}

/// How the losses of a batch's samples become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// Their mean: the gradient does not grow with the batch.
    #[default]
    Mean,
    /// Their sum: the gradient grows with the batch.
    Sum,
}

/// How gradients change weights. Formulas and defaults are Keras'.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    /// Down the gradient, with momentum if wanted.
    Sgd(Sgd),
    /// Steps scaled by running means of the gradient and its square.
    Adam(Adam),
    /// The same, while weights decay on their own.
    Adamw(Adamw),
    /// Steps scaled by a running mean of the gradient's square.
    Rmsprop(Rmsprop),
}

/// Down the gradient, with momentum if wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sgd {
    /// The size of a step.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub learning_rate: f32,
    /// How much of the last step is kept.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub momentum: f32,
    /// Whether the gradient is taken ahead, where momentum leads.
    pub nesterov: bool,
}

/// Steps scaled by running means of the gradient and its square.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adam {
    /// The size of a step.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub learning_rate: f32,
    /// How slowly the mean of the gradient forgets.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_1: f64,
    /// How slowly the mean of its square forgets.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_2: f64,
    /// Keeps the division sane.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub epsilon: f32,
}

/// Steps scaled by running means of the gradient and its square, while weights decay on their own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adamw {
    /// The size of a step.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub learning_rate: f32,
    /// The share of every trained weight, biases too, that it loses in a step, times the learning rate.
    #[schemars(extend("minimum" = 0, "maximum" = 1e6))]
    pub weight_decay: f32,
    /// How slowly the mean of the gradient forgets.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_1: f64,
    /// How slowly the mean of its square forgets.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_2: f64,
    /// Keeps the division sane.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub epsilon: f32,
}

/// Steps scaled by a running mean of the gradient's square.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rmsprop {
    /// The size of a step.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub learning_rate: f32,
    /// How slowly the mean of the square forgets.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub rho: f64,
    /// How much of the last step is kept.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub momentum: f32,
    /// Keeps the division sane.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub epsilon: f32,
}

impl Default for Sgd {
    fn default() -> Self {
        Sgd { learning_rate: 0.01, momentum: 0.0, nesterov: false }
    }
}

impl Default for Adam {
    fn default() -> Self {
        Adam { learning_rate: 0.001, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-7 }
    }
}

impl Default for Adamw {
    fn default() -> Self {
        let Adam { learning_rate, beta_1, beta_2, epsilon } = Adam::default();
        Adamw { learning_rate, weight_decay: 0.004, beta_1, beta_2, epsilon }
    }
}

impl Default for Rmsprop {
    fn default() -> Self {
        Rmsprop { learning_rate: 0.001, rho: 0.9, momentum: 0.0, epsilon: 1e-7 }
    }
}

impl Optimizer {
    /// The size of a step before any schedule.
    pub fn learning_rate(&self) -> f32 {
        match self {
            Optimizer::Sgd(sgd) => sgd.learning_rate,
            Optimizer::Adam(adam) => adam.learning_rate,
            Optimizer::Adamw(adamw) => adamw.learning_rate,
            Optimizer::Rmsprop(rmsprop) => rmsprop.learning_rate,
        }
    }
}
