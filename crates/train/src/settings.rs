//! What a run file leaves open, decided: the network's own loss, optimizer and rate stand in for
//! what `train` does not say.

use model::Network;
use spec::{
    Clip, EarlyStop, Length, Loss, Mode, Optimizer, ParameterServer, Schedule, Strategy, Train,
};

use crate::Shares;

/// How one worker trains. Nothing in it is optional any more but what may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How ranks work together.
    pub strategy: Strategy,
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

/// How many workers' gradients make one update of the servers; none where every one does.
pub(crate) fn turns(servers: &ParameterServer, workers: usize) -> Option<usize> {
    match servers.mode {
        Mode::Async => None,
        Mode::Sync => Some(servers.replicas_to_aggregate.unwrap_or(workers)),
    }
}

impl Settings {
    /// `train`, completed by what `network` brings along.
    pub fn of(train: &Train, network: &Network, seed: u64) -> Self {
        let optimizer = train.optimizer.unwrap_or(network.optimizer);
        let rate = train.learning_rate.map(|rate| rate.of(train.workers));
        Settings {
            strategy: train.strategy,
            loss: train.loss.unwrap_or(network.loss),
            optimizer,
            rate: rate.unwrap_or_else(|| optimizer.learning_rate()),
            schedule: train.schedule.clone(),
            clip: train.clip,
            early_stop: train.early_stop,
            length: train.length,
            batch: train.batch,
            seed,
        }
    }

    /// How many batches make one step: each rank's, unless servers take them otherwise.
    pub fn batches_per_step(&self, shares: &Shares) -> usize {
        match self.strategy {
            Strategy::ParameterServer(servers) => turns(&servers, shares.world()).unwrap_or(1),
            _ => shares.world(),
        }
    }

    /// How many steps an epoch has: as many as make up every rank's batches.
    pub fn steps_per_epoch(&self, shares: &Shares) -> u64 {
        let batches = shares.steps_per_epoch() * shares.world() as u64;
        batches.div_ceil(self.batches_per_step(shares) as u64)
    }

    /// How many steps training has.
    pub fn steps(&self, shares: &Shares) -> u64 {
        match self.length {
            Length::Epochs(epochs) => u64::from(epochs) * self.steps_per_epoch(shares),
            Length::Steps(steps) => steps,
            Length::Endless => u64::MAX,
        }
    }
}
