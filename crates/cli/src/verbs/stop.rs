//! `trainyard stop`: asks a run's driver to save and leave.

use std::time::Duration;

use anyhow::anyhow;
use store::{Lock, Owner};

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
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (run, _) = find::run(&args.run, env)?;
    let owner = match (Lock::is_held(&run)?, Owner::of(&run)) {
        (true, Some(owner)) => owner,
        _ => {
            output::talk(&format!("{} is not running", run.id()));
            return Ok(());
        }
    };
    exec::ask_to_stop(owner.pid);
    let mut waited = Duration::ZERO;
    while Lock::is_held(&run)? {
        if waited > PATIENCE {
            let Owner { pid, host, .. } = owner;
            return Err(anyhow!("process {pid} on {host} has not left after {PATIENCE:?}").into());
        }
        std::thread::sleep(LOOK_AGAIN);
        waited += LOOK_AGAIN;
    }
    output::talk(&format!(
        "{} is stopped; running its file again continues it",
        run.id()
    ));
    Ok(())
}
