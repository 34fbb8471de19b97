//! `trainyard why`: what stands in a run's way.

use train::{Event, Kind, State, read_events};

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// How many of the processes that were lost last are told of.
const LAST: usize = 5;

/// Say why a run failed, stopped, or goes on with fewer processes than it should
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard why mnist-sample
  trainyard why mnist --on kubernetes")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        return cluster::why(&args.place, &args.run);
    }
    let (run, standing) = find::run(&args.run, env)?;
    let state = find::true_state(&run, &standing);
    let reason = find::true_reason(&standing, state);
    let why = reason.map_or(String::new(), |reason| format!(": {reason}"));
    output::print(&format!("{} is {}{why}", run.id(), state.as_str()));
    for (id, task) in &standing.tasks {
        if let Some(reason) = task.reason.as_ref().filter(|_| task.state == State::Failed) {
            output::print(&format!("  task {id} failed: {reason}"));
        }
        let living = task.living.iter().filter(|_| task.state == State::Running);
        for (process, living) in living {
            if let Some(reason) = &living.delayed {
                output::print(&format!("  process {process} of {id} cannot start: {reason}"));
            }
        }
    }
    let lost = lost(&read_events(&run.events())?);
    if !lost.is_empty() {
        output::print(&format!("lost, while others went on: {}", lost.len()));
        lost.iter().rev().take(LAST).rev().for_each(|line| output::print(&format!("  {line}")));
    }
    Ok(())
}

fn lost(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| match &event.kind {
        Kind::ProcessLost { reason, .. } => {
            Some(format!("{} {reason}", crate::view::time(event.ms)))
        }
        _ => None,
    };
    events.iter().filter_map(line).collect()
}
