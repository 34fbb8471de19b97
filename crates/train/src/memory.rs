//! How much memory a task's process needs, known before it starts.

use data::{Batches, Draw, Facts};
use engine::Program;
use model::Network;
use spec::{Combine, Evaluate, Loss, LossName, ParameterServer, Split, Strategy, Train};

use crate::servers::{self, range};
use crate::settings::turns;
use crate::{Error, Settings, triplets};

/// What a process needs before it has done anything: the program itself, its stacks, its files.
const PROCESS: u64 = 14 << 20;

/// What preparing a dataset needs: all its samples, and what makes them. Shards are written from where
/// they lie.
pub fn prepare_bytes(facts: &Facts) -> u64 {
    PROCESS + facts.working + facts.memory(facts.train + facts.validation + facts.test)
}

/// What a worker needs: its program, the optimizer's slots, its samples, batches on their way,
/// checkpoints being written, and what it exchanges with others.
pub fn worker_bytes(train: &Train, network: &Network, facts: &Facts) -> Result<u64, Error> {
    if let Strategy::ParameterServer(how) = train.strategy {
        servers::check(network.graph.parameter_count(), how.servers)?;
    }
    let settings = Settings::of(train, network, 0);
    let program = Program::training(&network.graph, settings.loss, settings.batch)?;
    let arena = network.graph.parameter_count() as u64 * 4;
    let slots =
        engine::Optimizer::memory(settings.optimizer, network.graph.parameter_count()) as u64;
    let best = if train.early_stop.is_some_and(|rule| rule.restore_best) { arena } else { 0 };
    // One snapshot is being taken, one waits, one is being written, as numbers and as bytes.
    let snapshots = 4 * (arena + slots + best);
    let shard = facts.assign.largest_shard(facts.train, train.workers);
    let drawn = |samples: usize| triplets_at_most(&settings.loss, facts, samples);
    let measured = facts.validation + watched(train, facts);
    let samples =
        facts.memory(shard + measured + drawn(measured).map_or(0, |(_, pictures)| pictures));
    let batches = match drawn(shard) {
        None => Batches::memory(shard, facts.row_bytes(), settings.batch),
        // Numbers of pictures, as drawn, shuffled and in the order of the epoch.
        Some((triplets, _)) => {
            let numbers = 3 * 12 * triplets as u64;
            numbers + Batches::memory(triplets, 3 * facts.row_bytes(), settings.batch)
        }
    };
    let own = program.memory().total() as u64 + slots + best + snapshots;
    Ok(PROCESS + own + samples + batches + exchange_bytes(train, arena, slots))
}

/// How many triplets an epoch of so many samples has at most, where they are drawn, and how many pictures
/// those have that are measured on.
fn triplets_at_most(loss: &Loss, facts: &Facts, samples: usize) -> Option<(usize, usize)> {
    let Draw { pairs, negatives } = triplets::draw(loss, &facts.shape)?;
    // Whoever has a pair has two pictures.
    let pairs = pairs.saturating_mul(facts.classes.min(samples / 2));
    Some((pairs.saturating_mul(negatives), pairs.saturating_mul(3)))
}

/// Test samples that every worker measures itself on along the way.
fn watched(train: &Train, facts: &Facts) -> usize {
    match &train.strategy {
        Strategy::ParameterServer(servers) if servers.accuracy_every > 0 => facts.test,
        _ => 0,
    }
}

/// What a server needs: its part of the weights with the optimizer's slots, where updates are made
/// together those of the update before and the gradients of the next, and what is on its way.
pub fn server_bytes(train: &Train, servers: &ParameterServer, network: &Network) -> u64 {
    let count = network.graph.parameter_count();
    let of = |index| range(count, servers.servers, index).len();
    let count = (0..servers.servers).map(of).max().unwrap_or(0);
    let weights = count as u64 * 4;
    let optimizer = Settings::of(train, network, 0).optimizer;
    let state = weights + engine::Optimizer::memory(optimizer, count) as u64;
    let (together, each) = match turns(servers, train.workers) {
        // A new earlier state is made while the last one is there.
        Some(turns) => (2 * state + turns as u64 * weights, weights),
        // Where each goes alone, all of them begin with everything that is held.
        None => (0, state),
    };
    // As numbers and as bytes: what each worker sends or is sent, and everything, which one of them
    // brings or takes meanwhile.
    let on_its_way = 2 * (train.workers as u64 * each + state);
    PROCESS + state + together + on_its_way
}

/// What working with others takes: what a worker puts up for them and what comes back, and what
/// momentum over rounds keeps.
fn exchange_bytes(train: &Train, arena: u64, slots: u64) -> u64 {
    match &train.strategy {
        Strategy::AllReduce if train.workers > 1 => 2 * arena,
        // Everything that servers hold comes as bytes, is read, and is put together.
        Strategy::ParameterServer(_) => 3 * (arena + slots),
        Strategy::Average(average) if train.workers > 1 && average.combine == Combine::Mean => {
            let outer = if average.outer.is_some() { 2 * arena } else { 0 };
            2 * (arena + slots) + outer
        }
        _ => 0,
    }
}

/// What measuring a model needs: its program and the samples.
pub fn evaluate_bytes(how: &Evaluate, network: &Network, facts: &Facts) -> Result<u64, Error> {
    let program = Program::inference(&network.graph, how.batch)?;
    // The model is read whole before its weights are copied into the program.
    let file = 2 * network.graph.parameter_count() as u64 * 4;
    let samples = match how.split {
        Split::Test => facts.test,
        Split::Validation => facts.validation,
        Split::Train => facts.train,
    };
    let own = PROCESS + program.memory().total() as u64 + file + facts.memory(samples);
    if network.loss.name != LossName::Triplet {
        return Ok(own);
    }
    // Triplets are judged first; then pixels are compared as numbers.
    let judging =
        Program::judging(&network.graph, network.loss, how.batch)?.memory().total() as u64;
    let drawn = triplets_at_most(&network.loss, facts, samples).map_or(0, |(_, pictures)| pictures);
    let pixels = 4 * (samples * facts.shape.iter().product::<usize>()) as u64;
    Ok(own + pixels.max(judging + facts.memory(drawn)))
}
