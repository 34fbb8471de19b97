//! `trainyard stop`: asks a run's driver to save and leave.

use std::time::Duration;

use anyhow::anyhow;
use store::{Lock, Owner, RunDir};
use train::State;

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// How long a driver may take to leave.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Stop a run in order: it saves, leaves, and can be continued
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard stop mnist-sample")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        return cluster::stop(&args.place, &args.run);
    }
    let (run, _) = find::run(&args.run, env)?;
    until_left(&run)?;
    let (_, standing) = find::run(&args.run, env)?;
    let state = find::true_state(&run, &standing);
    let next = if state == State::Stopped { "; running its file again continues it" } else { "" };
    output::talk(&format!("{} is {}{next}", run.id(), state.as_str()));
    Ok(())
}

/// Asks a run's driver to save and leave, and waits until it has.
pub(super) fn until_left(run: &RunDir) -> Result<(), Failure> {
    let here = Owner::this_process(0).host;
    let mut asked = None;
    let mut waited = Duration::ZERO;
    while Lock::is_held(run)? {
        // Read anew each time: a driver that has just begun writes itself down after it has the lock.
        if let Some(owner) = Owner::of(run).filter(|owner| asked != Some(owner.pid)) {
            if owner.host != here {
                let Owner { pid, host, .. } = owner;
                return Err(anyhow!(
                    "{} is driven by process {pid} on {host}; stop it there",
                    run.id()
                )
                .into());
            }
            // Of a driver that is gone, only workers are left, which save and leave by themselves.
            if owner.lives_on(&here) {
                exec::ask_to_stop(owner.pid);
                asked = Some(owner.pid);
            }
        }
        if waited > PATIENCE {
            return Err(anyhow!("{} is still held after {PATIENCE:?}", run.id()).into());
        }
        std::thread::sleep(LOOK_AGAIN);
        waited += LOOK_AGAIN;
    }
    Ok(())
}
