//! `trainyard bench`: how fast the engine trains a network here.

use data::Samples;
use engine::Cpu;
use serde::Serialize;
use spec::{Length, Train};
use train::{Clock, Material, Settings, Trainer};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::machine::peak_rss_bytes;
use crate::output;

/// Samples to train on: enough that they do not all lie in the nearest cache.
const SAMPLES: usize = 4096;

/// Train a network on random data and print how fast
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard bench mnist-cnn --batch 100
  trainyard bench mnist-mlp --batch 20 --threads 1 --steps 5000 --json")]
pub(crate) struct Args {
    /// A built-in network
    network: String,
    /// Samples a step
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// How many threads compute [default: all]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// How many steps are timed, after a tenth as many to warm up
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    steps: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Speed<'a> {
    network: &'a str,
    batch: u32,
    threads: usize,
    isa: &'static str,
    steps: u64,
    seconds: f64,
    steps_per_second: f64,
    samples_per_second: f64,
    peak_rss_bytes: u64,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let model = spec::Model::parse(&args.network).or_usage()?;
    let warm_up = args.steps.div_ceil(10);
    let train =
        Train { length: Length::Steps(u64::MAX), batch: args.batch as usize, ..Train::new(model) };
    let samples = Samples::synthetic(&[28, 28, 1], 10, SAMPLES.max(args.batch as usize), 0);
    let (network, weights) = train::starting_point(&train.model, &samples.shape, samples.classes)?;
    let settings = Settings::of(&train, &network, 0);
    let threads = args.threads.map_or(env.threads, usize::from);
    let material = Material { network, samples, validation: None, weights };
    let mut trainer = Trainer::new(material, settings, Cpu::new(threads, env.isa()))?;
    for _ in 0..warm_up {
        trainer.step()?;
    }
    let clock = Clock::system();
    let before = trainer.samples_in(warm_up);
    for _ in 0..args.steps {
        trainer.step()?;
    }
    let seconds = clock.elapsed().as_secs_f64();
    let samples = trainer.samples_in(warm_up + args.steps) - before;
    let speed = Speed {
        network: &args.network,
        batch: args.batch,
        threads,
        isa: env.isa().name(),
        steps: args.steps,
        seconds,
        steps_per_second: args.steps as f64 / seconds,
        samples_per_second: samples as f64 / seconds,
        peak_rss_bytes: peak_rss_bytes(),
    };
    if args.json {
        return output::json(&speed);
    }
    output::print(&format!(
        "{}, batch {}, {threads} threads, {}: {:.0} samples/s, {:.0} steps/s, {} at most",
        args.network,
        args.batch,
        speed.isa,
        speed.samples_per_second,
        speed.steps_per_second,
        train::bytes(speed.peak_rss_bytes)
    ));
    Ok(())
}
