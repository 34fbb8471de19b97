//! One worker's training, a step at a time: gradient, update, count; validate at an epoch's end.

use std::sync::Arc;

use data::{Batches, Order, Samples};
use engine::{Cpu, Noise, Program, Session};
use model::{Graph, Network};

use crate::checkpoint::{Position, Snapshot};
use crate::early_stop::Verdict;
use crate::event::{Epoch, Metrics};
use crate::measure::{check_fit, evaluate, input};
use crate::schedule::rate;
use crate::tally::Tally;
use crate::{Error, Settings};

/// The rank of the only worker there is so far.
const RANK: u64 = 0;

/// A worker in the middle of its training.
pub struct Trainer {
    network: String,
    graph: Graph,
    settings: Settings,
    session: Session,
    optimizer: engine::Optimizer,
    samples: Arc<Samples>,
    validation: Option<Samples>,
    batches: Batches,
    position: Position,
    /// What has been counted since progress was last told.
    recent: Tally,
    /// The weights of the best epoch so far, where early stopping will want them back.
    best: Vec<f32>,
}

/// What a worker trains with.
pub struct Material {
    /// What is trained.
    pub network: Network,
    /// The samples it is trained on.
    pub samples: Samples,
    /// Samples held out.
    pub validation: Option<Samples>,
    /// Weights to begin from; those of the seed unless given.
    pub weights: Option<Vec<f32>>,
}

impl Trainer {
    /// At the very beginning.
    pub fn new(material: Material, settings: Settings, cpu: Cpu) -> Result<Self, Error> {
        let Material { network, samples, validation, weights } = material;
        let Network { name: network, graph, .. } = network;
        check_fit(&graph, &samples)?;
        let program = Program::training(&graph, settings.loss, settings.batch)?;
        let mut session = Session::new(program, cpu);
        let weights = weights.unwrap_or_else(|| graph.initialize(settings.seed));
        session.weights_mut().copy_from_slice(&weights);
        let optimizer = engine::Optimizer::new(settings.optimizer, graph.parameter_count());
        let samples = Arc::new(samples);
        let batches = batches(&samples, &settings, 0);
        Ok(Trainer {
            network,
            graph,
            settings,
            session,
            optimizer,
            samples,
            validation,
            batches,
            position: Position::default(),
            recent: Tally::default(),
            best: vec![],
        })
    }

    /// Trains on the next batch. At the end of an epoch, and of training, also validates and
    /// returns the epoch's result.
    pub fn step(&mut self) -> Result<Option<Epoch>, Error> {
        let step = self.position.step;
        let batch = self.batches.next()?;
        let noise = Noise { seed: self.settings.seed, rank: RANK, step };
        let outcome = self.session.gradient(input(batch.x, self.samples.scale()), batch.y, noise);
        if !outcome.loss.is_finite() {
            return Err(Error::Diverged { step, loss: outcome.loss });
        }
        let rate = self.rate(step);
        self.session.update(&mut self.optimizer, rate, self.settings.clip);
        self.position.step += 1;
        self.position.tally.count(&outcome);
        self.recent.count(&outcome);
        self.position.ended = self.position.step >= self.steps();
        let epoch_ends = self.position.step.is_multiple_of(self.steps_per_epoch());
        if epoch_ends || self.position.ended { self.end_epoch().map(Some) } else { Ok(None) }
    }

    /// Where training stands.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How many steps training has in all, unless it ends early.
    pub fn steps(&self) -> u64 {
        self.settings.steps(self.samples.len())
    }

    /// How many steps an epoch has.
    pub fn steps_per_epoch(&self) -> u64 {
        self.settings.steps_per_epoch(self.samples.len())
    }

    /// How many samples the first `steps` steps train on.
    pub fn samples_in(&self, steps: u64) -> u64 {
        let per_epoch = self.steps_per_epoch();
        steps / per_epoch * self.samples.len() as u64
            + steps % per_epoch * self.settings.batch as u64
    }

    /// Loss and accuracy of the batches since the last call, as they were trained on.
    pub fn take_recent(&mut self) -> Option<Metrics> {
        std::mem::take(&mut self.recent).metrics()
    }

    /// Asks early stopping about an epoch's result: if training ends, the best epoch and a sentence
    /// why.
    pub fn judge(&mut self, epoch: &Epoch) -> Option<(u64, String)> {
        let rule = self.settings.early_stop?;
        match self.position.watch.decide(&rule, epoch) {
            Verdict::Better if rule.restore_best => {
                self.position.result = Some(epoch.clone());
                self.best.clear();
                self.best.extend_from_slice(self.session.weights());
                None
            }
            Verdict::Better | Verdict::GoOn => None,
            Verdict::Stop { reason } => {
                self.position.ended = true;
                let best = self.position.watch.best.map_or(epoch.epoch, |(_, at)| at);
                Some((best, reason))
            }
        }
    }

    /// The weights that would be published now: those of the best epoch where early stopping keeps
    /// them, else the last.
    pub(crate) fn result(&self) -> &[f32] {
        if self.best.is_empty() { self.session.weights() } else { &self.best }
    }

    /// The network's name.
    pub(crate) fn network(&self) -> &str {
        &self.network
    }

    /// The network.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What it is trained on.
    pub(crate) fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Takes note of how long training has taken in all.
    pub(crate) fn set_seconds(&mut self, seconds: f64) {
        self.position.seconds = seconds;
    }

    /// How it is trained.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Everything needed to go on from here in another process.
    pub fn snapshot(&self) -> Snapshot {
        let mut arrays = vec![("weights".to_owned(), self.session.weights().to_vec())];
        let slots = self.optimizer.slots().iter().enumerate();
        arrays.extend(slots.map(|(i, slot)| (format!("slot.{i}"), slot.to_vec())));
        arrays.push(("best".to_owned(), self.best.clone()));
        Snapshot { position: self.position.clone(), arrays }
    }

    /// Goes on from a snapshot.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<(), Error> {
        let Snapshot { position, arrays } = snapshot;
        let strange = || {
            Error::Orders("the checkpoint is of another network; start anew with `--fresh`".into())
        };
        let mut arrays = arrays.into_iter().map(|(_, array)| array);
        let weights = arrays.next().ok_or_else(strange)?;
        let best = arrays.next_back().ok_or_else(strange)?;
        let slots: Vec<Vec<f32>> = arrays.collect();
        let fits = |array: &Vec<f32>| array.len() == self.graph.parameter_count();
        if !fits(&weights)
            || slots.len() != self.optimizer.slots().len()
            || !slots.iter().all(fits)
            || !(best.is_empty() || fits(&best))
        {
            return Err(strange());
        }
        self.session.weights_mut().copy_from_slice(&weights);
        self.optimizer.restore(slots, position.step);
        self.best = best;
        self.batches = batches(&self.samples, &self.settings, position.step);
        self.position = position;
        Ok(())
    }

    fn rate(&self, step: u64) -> f32 {
        rate(&self.settings.schedule, self.settings.rate, step, self.steps())
    }

    fn end_epoch(&mut self) -> Result<Epoch, Error> {
        let validation = match &self.validation {
            Some(samples) => {
                let batch = self.settings.batch;
                Some(evaluate(&mut self.session, samples, samples.scale(), batch)?)
            }
            None => None,
        };
        let tally = std::mem::take(&mut self.position.tally);
        let step = self.position.step;
        let epoch = Epoch {
            epoch: step.div_ceil(self.steps_per_epoch()),
            step,
            train: tally.metrics().expect("an epoch has at least one sample"),
            validation,
            learning_rate: f64::from(self.rate(step - 1)),
        };
        if !self.settings.early_stop.is_some_and(|rule| rule.restore_best) {
            self.position.result = Some(epoch.clone());
        }
        Ok(epoch)
    }
}

fn batches(samples: &Arc<Samples>, settings: &Settings, start: u64) -> Batches {
    let order = Order { seed: settings.seed, rank: RANK, batch: settings.batch, start };
    Batches::new(samples.clone(), order)
}
