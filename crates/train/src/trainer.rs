//! What a process trains with: the model as all ranks share it, the ranks it hosts, and where
//! training stands. How ranks work together is the strategies' part.

use std::collections::BTreeMap;
use std::sync::Arc;

use collective::Group;
use data::{Batches, Draw, Order, Samples};
use engine::{Cpu, Floats, Noise, Outcome, Program, Session, Trained};
use model::{Graph, Model, Network};
use preprocess::Form;
use spec::{Combine, LossName, Strategy};

use crate::checkpoint::{Position, Snapshot};
use crate::event::Metrics;
use crate::measure::{check_ids, check_shape, check_vocabulary, input};
use crate::schedule::rate;
use crate::servers::State;
use crate::settings::turns;
use crate::strategy::Round;
use crate::tally::Tally;
use crate::triplets;
use crate::{Error, Origin, Settings, Shares};

/// Keeps the model of a rank, where nothing is averaged.
pub(crate) type KeepMember = Box<dyn Fn(usize, &Model) -> Result<(), Error>>;

/// A process in the middle of training.
pub struct Trainer {
    pub(crate) network: String,
    pub(crate) graph: Graph,
    pub(crate) settings: Settings,
    pub(crate) shares: Shares,
    pub(crate) session: Session,
    pub(crate) optimizer: engine::Optimizer,
    pub(crate) validation: Option<Arc<Samples>>,
    pub(crate) position: Position,
    /// The weights of the best epoch so far, where early stopping will want them back.
    pub(crate) best: Vec<f32>,
    /// What outer momentum remembers; empty without it.
    pub(crate) outer: Vec<f32>,
    /// The ranks that are hosted here.
    pub(crate) hosted: BTreeMap<usize, Hosted>,
    /// What ranks have done for themselves since weights were last shared.
    pub(crate) round: Round,
    /// What has been counted here since progress was last told.
    pub(crate) recent: Tally,
    /// How triplets are drawn, where they are.
    draw: Option<Draw>,
    pub(crate) shape: Vec<usize>,
    pub(crate) scale: f32,
    pub(crate) origin: Origin,
    /// Keeps a rank's model, if all are kept.
    pub(crate) keep_member: Option<KeepMember>,
    /// How many samples' gradients were computed here.
    pub(crate) computed: u64,
    /// Samples that accuracy is told of along the way, where it is.
    pub(crate) test: Option<Arc<Samples>>,
}

/// What training is made of.
pub struct Material {
    /// What is trained.
    pub network: Network,
    /// How many samples each rank has.
    pub shards: Vec<usize>,
    /// The shape of a sample.
    pub shape: Vec<usize>,
    /// How many classes there are.
    pub classes: usize,
    /// What bytes are multiplied by.
    pub scale: f32,
    /// Samples held out.
    pub validation: Option<Arc<Samples>>,
    /// Weights to begin from; those of the seed unless given.
    pub weights: Option<Vec<f32>>,
    /// Where the model will come from.
    pub origin: Origin,
}

/// A rank that is hosted here.
pub(crate) struct Hosted {
    samples: Arc<Samples>,
    /// Its batches, and the step that the next one is for.
    batches: Option<(u64, Batches)>,
    /// Where its contribution goes: memory of the group's, so that nothing need be copied.
    pub(crate) memory: Floats,
}

impl Material {
    /// For one worker that has all samples.
    pub fn of_one(network: Network, samples: &Samples, origin: Origin) -> Self {
        Material {
            shards: vec![triplets::of_one(samples, &network.loss)],
            network,
            shape: samples.shape.clone(),
            classes: samples.classes,
            scale: samples.scale(),
            validation: None,
            weights: None,
            origin,
        }
    }
}

impl Trainer {
    /// At the very beginning, hosting no rank yet.
    pub fn new(material: Material, settings: Settings, cpu: Cpu) -> Result<Self, Error> {
        let Material { network, shards, shape, classes, scale, validation, weights, origin } =
            material;
        let Network { name: network, graph, .. } = network;
        let scale = if graph.takes_bytes() { 1.0 } else { scale };
        let draw = triplets::draw(&settings.loss, &shape);
        if shards.iter().all(|&count| count == 0) {
            return Err(triplets::none_drawn());
        }
        let shape = match settings.loss.name {
            LossName::Triplet => data::picture_shape(&shape).to_vec(),
            _ => shape,
        };
        let validation = validation.and_then(|samples| {
            let drawn = triplets::measured_on(&samples, &settings.loss);
            Some(drawn.map_or(samples, Arc::new)).filter(|samples| !samples.is_empty())
        });
        check_shape(&graph, &shape, (classes, settings.loss.name))?;
        let words = match &origin.form {
            Form::Text(text) => Some(text.size as usize),
            _ => None,
        };
        check_vocabulary(&graph, words)?;
        validation.iter().try_for_each(|samples| check_ids(&graph, samples.x.view()))?;
        let program = Program::training(&graph, settings.loss, settings.batch)?;
        let mut session = Session::new(program, cpu);
        let weights = weights.unwrap_or_else(|| graph.initialize(settings.seed));
        session.weights_mut().copy_from_slice(&weights);
        let optimizer = engine::Optimizer::new(settings.optimizer, Trained::of(&graph));
        let outer = match &settings.strategy {
            Strategy::Average(average) if average.outer.is_some() => vec![0.0; weights.len()],
            _ => vec![],
        };
        Ok(Trainer {
            network,
            shares: Shares::new(shards, settings.batch),
            settings,
            session,
            optimizer,
            validation,
            position: Position::default(),
            best: vec![],
            outer,
            hosted: BTreeMap::new(),
            round: Round::default(),
            recent: Tally::default(),
            graph,
            shape,
            scale,
            origin,
            draw,
            keep_member: None,
            computed: 0,
            test: None,
        })
    }

    /// Hosts the ranks that a group has placed here, and no others. `load` brings the samples of a
    /// rank that was not here before.
    pub fn host(
        &mut self,
        group: &mut Group,
        mut load: impl FnMut(usize) -> Result<Arc<Samples>, Error>,
    ) -> Result<(), Error> {
        let mut before = std::mem::take(&mut self.hosted);
        for rank in group.ranks().to_vec() {
            let samples = match before.remove(&rank) {
                Some(hosted) => hosted.samples,
                None => load(rank)?,
            };
            check_ids(&self.graph, samples.x.view())?;
            let memory = group.slot(rank);
            self.hosted.insert(rank, Hosted { samples, batches: None, memory });
        }
        Ok(())
    }

    /// Whether every rank's model is kept, and nothing is averaged.
    pub(crate) fn keeps_members(&self) -> bool {
        matches!(&self.settings.strategy, Strategy::Average(a) if a.combine == Combine::Vote)
    }

    /// Whether processes do not wait for each other, and each tells of what it sees.
    pub(crate) fn goes_alone(&self) -> bool {
        let servers = match &self.settings.strategy {
            Strategy::ParameterServer(servers) => servers,
            _ => return false,
        };
        turns(servers, self.shares.world()).is_none()
    }

    /// The step that all servers are at, where they take steps together.
    pub(crate) fn step_of_all(&self) -> Option<u64> {
        (!self.goes_alone()).then_some(self.position.step)
    }

    /// Takes over what servers hold.
    pub(crate) fn take_state(&mut self, state: State) {
        self.session.weights_mut().copy_from_slice(&state.weights);
        self.optimizer.restore(&state.slots, state.step);
        self.position.step = state.step;
        self.position.turns = state.turns;
    }

    /// What servers are to hold.
    pub(crate) fn state(&self) -> State {
        let mut turns = self.position.turns.clone();
        turns.resize(self.shares.world(), 0);
        State {
            first: 0,
            step: self.position.step,
            turns,
            weights: self.session.weights().to_vec(),
            slots: self.optimizer.slots().iter().map(|slot| slot.to_vec()).collect(),
        }
    }

    /// How many floats a rank contributes to an exchange.
    pub fn contribution(&self) -> usize {
        match self.settings.strategy {
            Strategy::Average(_) => {
                self.graph.parameter_count() * (1 + self.optimizer.slots().len())
            }
            // Only notes go from worker to worker.
            Strategy::ParameterServer(_) => 0,
            _ => self.graph.parameter_count(),
        }
    }

    /// One batch of a rank, forward and backward, in the engine's own memory of gradients.
    pub(crate) fn gradient(
        &mut self,
        rank: usize,
        step: u64,
        share: f32,
    ) -> Result<Outcome, Error> {
        let order = Order {
            seed: self.settings.seed,
            rank: rank as u64,
            batch: self.settings.batch,
            start: step,
            steps_per_epoch: self.shares.steps_per_epoch(),
            draw: self.draw,
        };
        let hosted = self.hosted.get_mut(&rank).expect("only hosted ranks are trained here");
        // A rank that was taken over, or computes a step again, starts where it has to.
        let batches = match hosted.batches.take() {
            Some((next, batches)) if next == step => batches,
            _ => Batches::new(hosted.samples.clone(), order),
        };
        let (_, batches) = hosted.batches.insert((step + 1, batches));
        let batch = batches.next()?;
        let noise = Noise { seed: self.settings.seed, rank: rank as u64, step };
        let outcome = self.session.gradient(input(batch.x, self.scale), batch.y, noise, share);
        self.computed += u64::from(outcome.samples);
        Ok(outcome)
    }

    /// Where training stands.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How many steps training has in all, unless it ends early.
    pub fn steps(&self) -> u64 {
        self.settings.steps(&self.shares)
    }

    /// How many steps an epoch has.
    pub fn steps_per_epoch(&self) -> u64 {
        self.settings.steps_per_epoch(&self.shares)
    }

    /// How many samples the first `steps` steps train on, all ranks together.
    pub fn samples_in(&self, steps: u64) -> u64 {
        let (world, each) = (self.shares.world(), self.settings.batches_per_step(&self.shares));
        self.shares.samples_in((steps as u128 * each as u128 / world as u128) as u64)
    }

    /// Who trains on how many samples.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// How many weights there are.
    pub(crate) fn parameters(&self) -> usize {
        self.graph.parameter_count()
    }

    /// How it is trained.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How far the rank that is being trained here has come: ahead of the position where ranks
    /// work for themselves.
    pub(crate) fn reached(&self) -> u64 {
        self.round.reached().unwrap_or(self.position.step)
    }

    /// Loss and accuracy of the batches since the last call, as they were trained on.
    pub(crate) fn take_recent(&mut self) -> Option<Metrics> {
        std::mem::take(&mut self.recent).metrics()
    }

    /// The size of a step.
    pub(crate) fn rate(&self, step: u64) -> f32 {
        rate(&self.settings.schedule, self.settings.rate, step, self.steps())
    }

    /// The weights that would be published now: those of the best epoch where early stopping keeps
    /// them, else the last.
    pub(crate) fn result(&self) -> &[f32] {
        if self.best.is_empty() { self.session.weights() } else { &self.best }
    }

    /// Everything needed to go on, in another process, from where all ranks were last equal.
    pub fn snapshot(&self) -> Snapshot {
        let (weights, slots) = match self.round.start() {
            Some(start) => (start.weights.clone(), start.slots.clone()),
            None => (
                self.session.weights().to_vec(),
                self.optimizer.slots().iter().map(|slot| slot.to_vec()).collect(),
            ),
        };
        let mut arrays = vec![("weights".to_owned(), weights)];
        let slots = slots.into_iter().enumerate();
        arrays.extend(slots.map(|(i, slot)| (format!("slot.{i}"), slot)));
        arrays.push(("outer".to_owned(), self.outer.clone()));
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
        let outer = arrays.next_back().ok_or_else(strange)?;
        let slots: Vec<Vec<f32>> = arrays.collect();
        let fits = |array: &Vec<f32>| array.len() == self.graph.parameter_count();
        if !fits(&weights)
            || slots.len() != self.optimizer.slots().len()
            || !slots.iter().all(fits)
            || outer.len() != self.outer.len()
            || !(best.is_empty() || fits(&best))
        {
            return Err(strange());
        }
        self.session.weights_mut().copy_from_slice(&weights);
        self.optimizer.restore(&slots, position.step);
        (self.best, self.outer) = (best, outer);
        self.position = position;
        self.round = Round::default();
        Ok(())
    }
}
