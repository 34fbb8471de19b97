//! `trainyard status`: where a run stands.

use plan::Plan;
use serde::Serialize;
use train::{State, duration};

use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// Say where a run stands, task by task
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard status mnist-sample
  trainyard status mnist-sample-3 --json")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Status {
    run: String,
    state: State,
    reason: Option<String>,
    seconds: f64,
    tasks: Vec<TaskStatus>,
}

#[derive(Serialize)]
struct TaskStatus {
    id: String,
    state: State,
    reason: Option<String>,
    processes: u32,
    progress: Option<train::Progress>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (run, standing) = find::run(&args.run, env)?;
    let state = find::true_state(&run, &standing);
    let plan: Plan = find::plan(&run)?;
    let tasks = plan.tasks.iter().map(|task| {
        let stands = standing.tasks.get(&task.id).cloned().unwrap_or_default();
        let gone = stands.state == State::Running && state != State::Running;
        TaskStatus {
            id: task.id.clone(),
            state: if gone { State::Stopped } else { stands.state },
            reason: stands.reason,
            processes: stands.processes,
            progress: stands.progress,
        }
    });
    let status = Status {
        run: run.id(),
        state,
        reason: find::true_reason(&standing, state),
        seconds: standing.seconds(),
        tasks: tasks.collect(),
    };
    if args.json {
        return output::json(&status);
    }
    let why = status.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    output::print(&format!(
        "{} is {} after {}{why}",
        status.run,
        status.state.as_str(),
        duration(status.seconds)
    ));
    let rows: Vec<_> = status.tasks.iter().map(row).collect();
    output::print(&output::table(&rows));
    Ok(())
}

fn row(task: &TaskStatus) -> Vec<String> {
    let detail = match (&task.reason, &task.progress, task.state) {
        (Some(reason), ..) => reason.clone(),
        (None, Some(p), State::Running | State::Stopped) => format!(
            "epoch {}/{}, step {}/{}, loss {:.4}, accuracy {:.4}",
            p.epoch, p.epochs, p.step, p.steps, p.metrics.loss, p.metrics.accuracy
        ),
        _ => String::new(),
    };
    vec![format!("  {}", task.id), task.state.as_str().to_owned(), detail]
}
