//! `trainyard logs`: what tasks wrote.

use std::path::PathBuf;

use anyhow::{Context, anyhow};

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::{find, output};

/// Print what a run's tasks wrote to their logs
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard logs mnist-sample
  trainyard logs mnist-sample train")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    /// One task only
    task: Option<String>,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        let task: Vec<&str> = args.task.iter().map(String::as_str).collect();
        return cluster::forward(&args.place, "logs", &args.run, &task);
    }
    let (run, _) = find::run(&args.run, env)?;
    let plan = find::plan(&run)?;
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    if let Some(wanted) = args.task.as_deref().filter(|wanted| !ids.contains(wanted)) {
        let known = ids.join(", ");
        return Err(anyhow!("{} has no task `{wanted}`; it has {known}", run.id())).or_usage();
    }
    for id in ids.iter().filter(|id| args.task.as_deref().is_none_or(|wanted| wanted == **id)) {
        let logs = run.logs_of(id);
        let several = args.task.is_none() || logs.len() > 1;
        for (process, path) in logs {
            if several {
                output::print(&format!("==> {id}, process {process}"));
            }
            output::print(&read(path)?);
        }
    }
    Ok(())
}

fn read(path: PathBuf) -> Result<String, Failure> {
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
