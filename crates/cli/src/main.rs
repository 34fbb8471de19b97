//! The binary `trainyard`: train one model on many machines, from one file and one binary.

mod address;
mod browser;
mod cluster;
mod driver;
mod env;
mod examples;
mod facts;
mod failure;
mod find;
mod gallery;
mod machine;
mod output;
mod pack;
mod report_text;
mod run_file;
mod serving;
mod verbs;
mod view;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::env::Env;
use crate::failure::Failure;

/// Train one model on many machines, from one file and one binary.
#[derive(Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Start here:\n  trainyard init\n  trainyard run mnist-sample.yaml")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(verbs::run::Args),
    Plan(verbs::plan::Args),
    Init(verbs::init::Args),
    Ls(verbs::ls::Args),
    Status(verbs::status::Args),
    Logs(verbs::logs::Args),
    Report(verbs::report::Args),
    Why(verbs::why::Args),
    Stop(verbs::stop::Args),
    Rm(verbs::rm::Args),
    Get(verbs::get::Args),
    Split(verbs::split::Args),
    Copy(verbs::copy::Args),
    Train(verbs::train::Args),
    Aggregate(verbs::aggregate::Args),
    Evaluate(verbs::evaluate::Args),
    Predict(verbs::predict::Args),
    Inspect(verbs::inspect::Args),
    Convert(verbs::convert::Args),
    Bench(verbs::bench::Args),
    Compare(verbs::compare::Args),
    Serve(verbs::serve::Args),
    Open(verbs::open::Args),
    Render(verbs::render::Args),
    Doctor(verbs::doctor::Args),
    #[command(hide = true)]
    Drive(verbs::drive::Args),
    #[command(hide = true)]
    Pack(verbs::pod::Pack),
    #[command(hide = true)]
    Unpack(verbs::pod::Unpack),
    #[command(hide = true)]
    Rest(verbs::pod::Rest),
    #[command(hide = true)]
    Probe(verbs::pod::Probe),
    Join(verbs::join::Args),
    Worker(verbs::worker::Args),
    Completions(verbs::completions::Args),
}

fn main() -> ExitCode {
    let verb = Cli::parse().verb;
    let result = Env::read().map_err(Failure::Usage).and_then(|env| act(&verb, &env));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell();
            failure.code()
        }
    }
}

fn act(verb: &Verb, env: &Env) -> Result<(), Failure> {
    match verb {
        Verb::Run(args) => verbs::run::act(args, env),
        Verb::Plan(args) => verbs::plan::act(args, env),
        Verb::Init(args) => verbs::init::act(args),
        Verb::Ls(args) => verbs::ls::act(args, env),
        Verb::Status(args) => verbs::status::act(args, env),
        Verb::Logs(args) => verbs::logs::act(args, env),
        Verb::Report(args) => verbs::report::act(args, env),
        Verb::Why(args) => verbs::why::act(args, env),
        Verb::Rm(args) => verbs::rm::act(args, env),
        Verb::Get(args) => verbs::get::act(args, env),
        Verb::Render(args) => verbs::render::act(args, env),
        Verb::Stop(args) => verbs::stop::act(args, env),
        Verb::Split(args) => verbs::split::act(args, env),
        Verb::Copy(args) => verbs::copy::act(args, env),
        Verb::Train(args) => verbs::train::act(args, env),
        Verb::Aggregate(args) => verbs::aggregate::act(args),
        Verb::Evaluate(args) => verbs::evaluate::act(args, env),
        Verb::Predict(args) => verbs::predict::act(args, env),
        Verb::Inspect(args) => verbs::inspect::act(args, env),
        Verb::Convert(args) => verbs::convert::act(args, env),
        Verb::Bench(args) => verbs::bench::act(args, env),
        Verb::Compare(args) => verbs::compare::act(args, env),
        Verb::Serve(args) => verbs::serve::act(args, env),
        Verb::Open(args) => verbs::open::act(args, env),
        Verb::Completions(args) => verbs::completions::act(args),
        Verb::Drive(args) => verbs::drive::act(args, env),
        Verb::Pack(args) => verbs::pod::pack(args),
        Verb::Unpack(args) => verbs::pod::unpack(args),
        Verb::Rest(args) => verbs::pod::rest(args),
        Verb::Probe(args) => verbs::pod::probe(args),
        Verb::Doctor(args) => verbs::doctor::act(args, env),
        Verb::Join(args) => verbs::join::act(args, env),
        Verb::Worker(args) => verbs::worker::act(args, env),
    }
}
