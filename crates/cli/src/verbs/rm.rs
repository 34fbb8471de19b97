//! `trainyard rm`: removes a run.

use anyhow::{Context, anyhow};
use store::Lock;

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::verbs::stop;
use crate::{find, output};

/// Remove a run and everything it made
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard rm mnist-sample-1
  trainyard rm mnist-1 --on kubernetes      # its volume too
  trainyard rm mnist-1 --force              # whether it has ended or not")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    /// Remove it even if it goes on
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        return cluster::remove(&args.place, &args.run, args.force);
    }
    let (run, _) = find::run(&args.run, env)?;
    if args.force {
        stop::until_left(&run)?;
    }
    if Lock::is_held(&run)? {
        return Err(anyhow!("{0} goes on; `trainyard stop {0}` first", run.id()).into());
    }
    std::fs::remove_dir_all(&run.path)
        .with_context(|| format!("cannot remove {}", run.path.display()))?;
    output::talk(&format!("{} is removed", run.id()));
    Ok(())
}
