//! `trainyard get`: brings what a run made to where it is wanted.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::ValueEnum;

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output, pack};

/// Copy what a run made: its models, its report, its logs, or all of it
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard get mnist --on kubernetes             # its models, into ./mnist-1/
  trainyard get mnist-1 all --to /tmp/mnist")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    /// What of it
    #[arg(value_enum, default_value_t = Part::Model)]
    part: Part,
    /// The folder to put it into [default: one named after the run]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

/// A part of what a run made.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Part {
    Model,
    Report,
    Logs,
    All,
}

impl Part {
    /// Its path in the run's folder.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Part::Model => "models",
            Part::Report => "report.json",
            Part::Logs => "logs",
            Part::All => "",
        }
    }

    /// What it is called in a sentence.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Part::Model => "the model",
            Part::Report => "the report",
            Part::Logs => "the logs",
            Part::All => "all",
        }
    }
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        return cluster::get(&args.place, &args.run, args.part, args.to.as_deref());
    }
    let (run, _) = find::run(&args.run, env)?;
    let part = args.part.path();
    let from = run.path.join(part);
    if !from.exists() {
        return Err(anyhow!("{} has no {part} yet", run.id()).into());
    }
    let to = args.to.clone().unwrap_or_else(|| PathBuf::from(run.id()));
    copy(&from, &to)?;
    output::talk(&format!("put {} of {} into {}", args.part.words(), run.id(), to.display()));
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    for (within, path) in pack::files(from)? {
        let to = to.join(within);
        to.parent().map(std::fs::create_dir_all).transpose()?;
        std::fs::copy(&path, &to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}
