//! How training goes: how long, in what batches, towards what, and when it stops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::train_form::TrainForm;
use crate::{Duration, Loss, LossName, Model, Optimizer, Rate, Strategy};

/// Trains a network. All defaults are filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TrainForm", into = "TrainForm")]
pub struct Train {
    /// What is trained.
    pub model: Model,
    /// How many logical workers train it.
    pub workers: usize,
    /// How they work together.
    pub strategy: Strategy,
    /// How long.
    pub length: Length,
    /// Samples per step of each worker.
    pub batch: usize,
    /// How gradients change weights; the network's own where not given.
    pub optimizer: Option<Optimizer>,
    /// The size of a step, over the optimizer's own.
    pub learning_rate: Option<Rate>,
    /// What is made small; the network's own where not given.
    pub loss: Option<Loss>,
    /// How the size of a step changes.
    pub schedule: Schedule,
    /// How gradients are kept small.
    pub clip: Option<Clip>,
    /// When to stop early.
    pub early_stop: Option<EarlyStop>,
    /// Threads that each worker computes with; its share of the cores where not given.
    pub threads: Option<usize>,
    /// How often the state is saved.
    pub checkpoint: Checkpoint,
}

/// How long training goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many times over all samples.
    Epochs(u32),
    /// So many updates of the weights.
    Steps(u64),
    /// Until it is stopped.
    Endless,
}

/// How the learning rate changes while training goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Schedule {
    /// It does not.
    #[default]
    Constant,
    /// It rises, then falls along half a cosine until the last step.
    Cosine {
        /// Steps over which the rate rises from 0.
        #[serde(default)]
        warmup_steps: u64,
        /// The share of the rate that is left at the end.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1))]
        final_share: f32,
    },
    /// It is multiplied by `rate` every `decay_steps` steps.
    Exponential {
        /// Steps after which the rate has been multiplied once.
        #[schemars(range(min = 1))]
        decay_steps: u64,
        /// What it is multiplied by.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
        rate: f32,
        /// Whether it falls in stairs rather than steadily.
        #[serde(default)]
        staircase: bool,
    },
    /// It is `rates[0]` until step `boundaries[0]`, then `rates[1]`, and so on.
    Piecewise {
        /// Steps after which the next rate begins, rising.
        boundaries: Vec<u64>,
        /// Learning rates: one more than boundaries.
        #[schemars(extend("items" = {"type": "number", "format": "float", "exclusiveMinimum": 0, "maximum": 1e6}))]
        rates: Vec<f32>,
    },
}

/// How large gradients are cut before they change weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clip {
    /// All gradients together are scaled so that their length is at most this.
    Norm(#[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e30))] f32),
    /// Every element is cut to within plus and minus this.
    Value(#[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e30))] f32),
}

/// Stops training when a metric no longer gets better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EarlyStop {
    /// The metric that is watched. `val_…` needs `data.validation`.
    pub monitor: Monitor,
    /// How many epochs without improvement are waited.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub patience: u32,
    /// The least change that counts as an improvement.
    #[schemars(range(min = 0))]
    pub min_delta: f64,
    /// Whether the best epoch's weights are kept, rather than the last one's.
    pub restore_best: bool,
}

/// A metric that early stopping watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Monitor {
    /// The loss on the validation samples.
    #[default]
    ValLoss,
    /// The accuracy on the validation samples.
    ValAccuracy,
    /// The loss on the training samples.
    Loss,
    /// The accuracy on the training samples.
    Accuracy,
}

/// How often training is saved, to be resumed from. It is also saved after each epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoint {
    /// How much work may be lost at most.
    pub every: Duration,
    /// How many checkpoints are kept.
    #[schemars(range(min = 1, max = 1000))]
    pub keep: u32,
}

impl Train {
    /// Training of a model with nothing else said about it.
    pub fn new(model: Model) -> Self {
        let form = TrainForm::default();
        Train {
            model,
            workers: form.workers,
            strategy: Strategy::for_workers(form.workers),
            length: Length::Epochs(1),
            batch: form.batch,
            optimizer: None,
            learning_rate: None,
            loss: None,
            schedule: form.schedule,
            clip: None,
            early_stop: None,
            threads: None,
            checkpoint: form.checkpoint,
        }
    }
}

impl Train {
    /// Whether it is to answer with embeddings, and learns from triplets.
    pub fn embeds(&self) -> bool {
        self.loss.map_or_else(|| self.model.embeds(), |loss| loss.name == LossName::Triplet)
    }
}

impl Monitor {
    /// Its name in a run file.
    pub fn as_str(self) -> &'static str {
        match self {
            Monitor::ValLoss => "val_loss",
            Monitor::ValAccuracy => "val_accuracy",
            Monitor::Loss => "loss",
            Monitor::Accuracy => "accuracy",
        }
    }

    /// Whether it is measured on validation samples.
    pub fn needs_validation(self) -> bool {
        matches!(self, Monitor::ValLoss | Monitor::ValAccuracy)
    }
}

impl Default for EarlyStop {
    fn default() -> Self {
        EarlyStop { monitor: Monitor::default(), patience: 3, min_delta: 0.0, restore_best: true }
    }
}

impl Default for Checkpoint {
    fn default() -> Self {
        Checkpoint { every: Duration::from_secs(10), keep: 3 }
    }
}
