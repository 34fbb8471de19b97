//! How fast a network answers, without the way its samples come by.

use engine::{Cpu, Program, Session};
use model::{Card, Model};
use serde::Serialize;
use train::Clock;

use super::{Subject, count_threads, fed};
use crate::env::Env;
use crate::failure::Failure;
use crate::machine::peak_rss_bytes;

/// What was found.
#[derive(Serialize)]
pub(super) struct Answers {
    network: String,
    /// Samples answered at a time.
    batch: usize,
    threads: usize,
    isa: &'static str,
    /// How often a batch was answered.
    times: u64,
    /// The median time of a batch.
    seconds: f64,
    /// What 99 of a hundred batches stay within.
    p99_seconds: f64,
    /// Of all batches together.
    samples_per_second: f64,
    /// The most memory this process has had.
    peak_rss_bytes: u64,
}

pub(super) fn measure(subject: &Subject, env: &Env) -> Result<Answers, Failure> {
    let Subject { network, train, .. } = subject;
    let Subject { threads, warm_up, steps, .. } = *subject;
    let samples = fed::samples(train);
    let (made, weights) = train::starting_point(train, &samples.shape, samples.classes)?;
    let weights = weights.unwrap_or_else(|| made.graph.initialize(0));
    let model = Model { graph: made.graph, weights, card: Card::default() };
    let model = model.folded();
    let program = Program::inference(&model.graph, train.batch)?;
    let mut session = Session::new(program, Cpu::new(threads, env.isa()));
    session.weights_mut().copy_from_slice(&model.weights);
    let clock = Clock::system();
    let batches = samples.len() as u64 / train.batch as u64;
    let mut answer = |time: u64| {
        let first = (time % batches) as usize * train.batch;
        let x = train::input(samples.rows(first..first + train.batch), samples.scale());
        let began = clock.elapsed();
        session.predict(x, train.batch);
        (clock.elapsed() - began).as_secs_f64()
    };
    (0..warm_up).for_each(|time| {
        answer(time);
    });
    let mut seconds: Vec<f64> = (0..steps).map(answer).collect();
    let all: f64 = seconds.iter().sum();
    seconds.sort_by(f64::total_cmp);
    Ok(Answers {
        network: network.clone(),
        batch: train.batch,
        threads,
        isa: env.isa().name(),
        times: steps,
        seconds: seconds[seconds.len() / 2],
        p99_seconds: seconds[(seconds.len() * 99 / 100).min(seconds.len() - 1)],
        samples_per_second: (train.batch as u64 * steps) as f64 / all,
        peak_rss_bytes: peak_rss_bytes(),
    })
}

impl Answers {
    pub(super) fn text(&self) -> String {
        let Answers { network, batch, threads, isa, .. } = self;
        let threads = count_threads(*threads);
        format!(
            "{network}, answers to {batch} at a time, {threads}, {isa}: {:.3} ms ({:.3} ms for 99 of 100), {:.0} samples/s",
            self.seconds * 1e3,
            self.p99_seconds * 1e3,
            self.samples_per_second
        )
    }
}
