//! `trainyard bench`: how fast networks train here, by one worker or by several, and how fast numbers
//! are summed between processes.

mod all_reduce;
mod alone;
mod answers;
mod fed;
mod profile;
mod timing;
mod together;

use serde::Serialize;
use spec::{Length, Strategy, Train};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::output;

/// Train a network on random data and print how fast
///
/// One worker trains in this process. Several are processes of their own, started and led as by `run`,
/// and all that a run does while it trains is part of the time: exchanging, waiting, saving.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "Examples:
  trainyard bench mnist-cnn --batch 100
  trainyard bench mnist-mlp --batch 20 --threads 1 --steps 5000 --json
  trainyard bench small-xception --batch 128 --profile
  trainyard bench small-xception --predict
  trainyard bench mnist-cnn --batch 100 --workers 2 --strategy average:50
  trainyard bench all-reduce --size 1MiB --ranks 2 --link shm")]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    /// A built-in network
    #[arg(required = true)]
    network: Option<String>,
    /// Samples a step, of each worker [default: 32]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: Option<u32>,
    /// How many workers train
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,
    /// How they work together: all_reduce, average, average:50 (averages every 50 steps),
    /// parameter_server, parameter_server:sync, or as in a run file [default: all_reduce for several]
    #[arg(long)]
    strategy: Option<String>,
    /// How many processes they are, where that is to be fewer than one for each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    processes: Option<u16>,
    /// How many threads each worker computes with [default: its share of the cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// How many steps are timed, after a tenth as many to warm up [default: some seconds' worth]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    steps: Option<u64>,
    /// Print what each operation of a step takes, and what share of the processor's peak it reaches
    #[arg(long, conflicts_with_all = ["workers", "strategy", "processes", "steps"])]
    profile: bool,
    /// Answer instead of train: `--batch` samples at a time, 1 unless given
    #[arg(long, conflicts_with_all = ["workers", "strategy", "processes", "profile"])]
    predict: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Other {
    AllReduce(all_reduce::Args),
}

/// What is measured.
struct Subject {
    network: String,
    /// How the strategy was written.
    strategy: String,
    train: Train,
    threads: usize,
    /// Steps before those that are timed.
    warm_up: u64,
    /// Steps that are timed.
    steps: u64,
}

/// What was found.
#[derive(Serialize)]
struct Speed {
    network: String,
    batch: usize,
    workers: usize,
    /// How many processes trained.
    processes: usize,
    strategy: String,
    /// Of each worker.
    threads: usize,
    isa: &'static str,
    steps: u64,
    seconds: f64,
    steps_per_second: f64,
    /// Of all workers together.
    samples_per_second: f64,
    /// What processes sent to each other in these steps.
    bytes_sent: u64,
    /// What they sent it through; none for one worker.
    link: Option<String>,
    waiting_share: f64,
    /// Of the process that held most.
    peak_rss_bytes: u64,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if let Some(Other::AllReduce(args)) = &args.other {
        return all_reduce::act(args);
    }
    let subject = subject(args, env)?;
    if args.profile {
        let profile = profile::measure(&subject, env)?;
        return show(args, &profile, profile.text());
    }
    if args.predict {
        let answers = answers::measure(&subject, env)?;
        return show(args, &answers, answers.text());
    }
    let speed = match subject.train.strategy {
        Strategy::Single => alone::measure(&subject, env)?,
        _ => together::measure(&subject, args.processes.map(usize::from), env)?,
    };
    show(args, &speed, line(&speed))
}

fn show(args: &Args, found: &impl Serialize, text: String) -> Result<(), Failure> {
    if args.json {
        return output::json(found);
    }
    output::print(&text);
    Ok(())
}

fn subject(args: &Args, env: &Env) -> Result<Subject, Failure> {
    let network = args.network.clone().expect("it is required");
    let model = spec::Model::parse(&network).or_usage()?;
    let workers = usize::from(args.workers);
    let strategy = match &args.strategy {
        Some(text) => Strategy::parse(text, workers).or_usage()?,
        None => Strategy::for_workers(workers),
    };
    let threads = args.threads.map_or((env.threads / workers).max(1), usize::from);
    let steps = args.steps.unwrap_or_else(|| fed::steps(&model));
    let warm_up = steps.div_ceil(10);
    let train = Train {
        length: Length::Steps(warm_up + steps),
        batch: args.batch.unwrap_or(if args.predict { 1 } else { 32 }) as usize,
        workers,
        strategy,
        threads: Some(threads),
        ..Train::new(model)
    };
    let strategy = args.strategy.clone().unwrap_or_else(|| strategy.name().into());
    Ok(Subject { network, strategy, train, threads, warm_up, steps })
}

fn count_threads(threads: usize) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

fn line(speed: &Speed) -> String {
    let Speed { network, batch, threads, isa, .. } = speed;
    let threads = count_threads(*threads);
    let who = match speed.workers {
        1 => threads,
        workers => format!("{workers} workers ({}) of {threads}", speed.strategy),
    };
    let exchanged = speed.link.as_ref().map_or(String::new(), |link| {
        let sent = train::bytes(speed.bytes_sent);
        format!(", {sent} exchanged ({link}), {:.1} % waiting", speed.waiting_share * 100.0)
    });
    format!(
        "{network}, batch {batch}, {who}, {isa}: {:.0} samples/s, {:.1} steps/s, {} at most{exchanged}",
        speed.samples_per_second,
        speed.steps_per_second,
        train::bytes(speed.peak_rss_bytes)
    )
}
