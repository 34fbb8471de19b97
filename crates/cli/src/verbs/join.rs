//! `trainyard join`: one more process for a run that goes on here.

use collective::Reach;
use store::{Lock, Runs};

use super::worker::{PATIENCE, Worker, serve};
use crate::env::{Env, absolute};
use crate::failure::{Failure, OrUsage};

/// Add a process to a run that goes on, on this machine
///
/// It takes a rank from the process that has most; where every process has one it stands by, and
/// takes over when another is lost. Ctrl-C hands its work back.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard join mnist")]
pub(crate) struct Args {
    /// A run: its name, `name-number`, or its folder
    run: String,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let run = Runs::new(absolute(&env.runs)?).resolve(&args.run).or_usage()?;
    if !Lock::is_held(&run)? {
        let problem = format!("{} does not go on now; `trainyard run` its file first", run.id());
        return Err(Failure::Failed(anyhow::anyhow!("{problem}")));
    }
    serve(Worker {
        join: &run.join(),
        listen: None,
        door: None,
        reach: Reach::Anywhere,
        process: None,
        place: None,
        patience: PATIENCE,
        scratch: None,
        log_dir: env.log_dir.as_deref(),
    })
}
