//! Training as a run file writes it, and how that becomes [`Train`] and back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rate::RateForm;
use crate::strategy_form::StrategyForm;
use crate::{
    Checkpoint, Clip, EarlyStop, Length, Loss, Model, Optimizer, Schedule, Strategy, Train,
};

/// How a model is trained.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Train")]
pub(crate) struct TrainForm {
    /// What is trained. In the short form it stands beside `train` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<Model>,
    /// How many workers train the model together. Each has its own samples and, as long as nothing
    /// dies, its own process.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub(crate) workers: usize,
    /// How workers train one model together. `single` for one worker and `all_reduce` for more
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strategy: Option<StrategyForm>,
    /// How many times training goes over all samples. 1 unless `steps` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) epochs: Option<u32>,
    /// How many times the weights are updated, instead of `epochs`. `0`: until training is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<u64>,
    /// How many samples each worker learns from in a step.
    #[serde(default = "thirty_two")]
    #[schemars(range(min = 1, max = 65_536))]
    pub(crate) batch: usize,
    /// How gradients change weights: `adam`, or `{adam: {beta_1: 0.8}}`. The network's own unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) optimizer: Option<Optimizer>,
    /// The size of an update: a number, or `{base: 0.0001, per_worker: 0.00006}` to have it grow
    /// with the number of workers. The optimizer's own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) learning_rate: Option<RateForm>,
    /// What training makes small. The network's own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) loss: Option<Loss>,
    /// How the learning rate changes while training goes on.
    #[serde(default)]
    pub(crate) schedule: Schedule,
    /// How large gradients are cut. Not at all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clip: Option<Clip>,
    /// Stops when a metric no longer gets better. Never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) early_stop: Option<EarlyStop>,
    /// How many threads each worker computes with. Its share of the cores unless given; the result
    /// does not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) threads: Option<usize>,
    /// How often training is saved, to be resumed from.
    #[serde(default)]
    pub(crate) checkpoint: Checkpoint,
}

impl TryFrom<TrainForm> for Train {
    type Error = &'static str;

    fn try_from(form: TrainForm) -> Result<Self, &'static str> {
        let length = match (form.epochs, form.steps) {
            (Some(_), Some(_)) => return Err("`epochs` and `steps` are both given; keep one"),
            (None, Some(0)) => Length::Endless,
            (None, Some(steps)) => Length::Steps(steps),
            (epochs, None) => Length::Epochs(epochs.unwrap_or(1)),
        };
        let strategy = match form.strategy {
            Some(strategy) => strategy.try_into()?,
            None => Strategy::for_workers(form.workers),
        };
        Ok(Train {
            workers: form.workers,
            strategy,
            length,
            batch: form.batch,
            optimizer: form.optimizer,
            learning_rate: form.learning_rate.map(Into::into),
            loss: form.loss,
            schedule: form.schedule,
            clip: form.clip,
            early_stop: form.early_stop,
            threads: form.threads,
            checkpoint: form.checkpoint,
            ..Train::new(form.model.ok_or("`model` is missing")?)
        })
    }
}

impl From<Train> for TrainForm {
    fn from(train: Train) -> Self {
        let (epochs, steps) = match train.length {
            Length::Epochs(epochs) => (Some(epochs), None),
            Length::Steps(steps) => (None, Some(steps)),
            Length::Endless => (None, Some(0)),
        };
        TrainForm {
            model: Some(train.model),
            workers: train.workers,
            strategy: Some(train.strategy.into()),
            epochs,
            steps,
            batch: train.batch,
            optimizer: train.optimizer,
            learning_rate: train.learning_rate.map(Into::into),
            loss: train.loss,
            schedule: train.schedule,
            clip: train.clip,
            early_stop: train.early_stop,
            threads: train.threads,
            checkpoint: train.checkpoint,
        }
    }
}

impl Default for TrainForm {
    fn default() -> Self {
        TrainForm {
            model: None,
            workers: one(),
            strategy: None,
            epochs: None,
            steps: None,
            batch: thirty_two(),
            optimizer: None,
            learning_rate: None,
            loss: None,
            schedule: Schedule::default(),
            clip: None,
            early_stop: None,
            threads: None,
            checkpoint: Checkpoint::default(),
        }
    }
}

fn one() -> usize {
    1
}

fn thirty_two() -> usize {
    32
}
