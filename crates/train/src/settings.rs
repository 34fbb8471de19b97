//! What a run file leaves open, decided: the network's own loss, optimizer and rate stand in for
//! what `train` does not say.

use model::Network;
use spec::{Clip, EarlyStop, Length, Loss, Optimizer, Schedule, Train};

/// How one worker trains. Nothing in it is optional any more but what may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What training makes small.
    pub loss: Loss,
    /// How gradients change weights.
    pub optimizer: Optimizer,
    /// The size of a step before any schedule.
    pub rate: f32,
    /// How it changes.
    pub schedule: Schedule,
    /// Whether large gradients are cut.
    pub clip: Option<Clip>,
    /// When to end early.
    pub early_stop: Option<EarlyStop>,
    /// When to end.
    pub length: Length,
    /// Samples a step.
    pub batch: usize,
    /// What all randomness is a function of.
    pub seed: u64,
}

impl Settings {
    /// `train`, completed by what `network` brings along.
    pub fn of(train: &Train, network: &Network, seed: u64) -> Self {
        let optimizer = train.optimizer.unwrap_or(network.optimizer);
        Settings {
            loss: train.loss.unwrap_or(network.loss),
            optimizer,
            rate: train.learning_rate.unwrap_or_else(|| optimizer.learning_rate()),
            schedule: train.schedule.clone(),
            clip: train.clip,
            early_stop: train.early_stop,
            length: train.length,
            batch: train.batch,
            seed,
        }
    }

    /// How many steps an epoch over `samples` has: the last batch may be short.
    pub fn steps_per_epoch(&self, samples: usize) -> u64 {
        data::steps_per_epoch(samples, self.batch)
    }

    /// How many steps training over `samples` has.
    pub fn steps(&self, samples: usize) -> u64 {
        match self.length {
            Length::Epochs(epochs) => u64::from(epochs) * self.steps_per_epoch(samples),
            Length::Steps(steps) => steps,
        }
    }
}
