//! `trainyard status`: where a run stands.

use plan::{Plan, Task};
use serde::Serialize;
use train::{State, TaskStanding, duration, of_all};

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// Say where a run stands, task by task
///
/// Of a task that several processes work on, each is listed with the ranks it hosts.
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
    #[command(flatten)]
    place: Place,
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
    processes: Vec<ProcessStatus>,
    faults_survived: u64,
    progress: Option<train::Progress>,
}

/// A process that works on a task now.
#[derive(Serialize)]
struct ProcessStatus {
    process: u32,
    pid: u32,
    /// The pod it runs in, on a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// What it waits for, where it cannot start.
    #[serde(skip_serializing_if = "Option::is_none")]
    delayed: Option<String>,
    /// Whether it is a server of parameters, which hosts no ranks.
    serves: bool,
    ranks: Vec<usize>,
    /// How far it had come when progress was last told.
    step: Option<u64>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        let flags: &[&str] = if args.json { &["--json"][..] } else { &[] };
        return cluster::forward(&args.place, "status", &args.run, flags);
    }
    let (run, standing) = find::run(&args.run, env)?;
    let state = find::true_state(&run, &standing);
    let plan: Plan = find::plan(&run)?;
    let tasks = plan.tasks.iter().map(|task| {
        let stands = standing.tasks.get(&task.id).cloned().unwrap_or_default();
        task_status(task, stands, state)
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
    for task in status.tasks.iter().filter(|task| task.processes.len() > 1) {
        let rows: Vec<_> = task.processes.iter().map(process_row).collect();
        output::print(&format!("\nprocesses of {}\n{}", task.id, output::table(&rows)));
    }
    Ok(())
}

/// `run` is the run's true state: of one whose driver is gone, no task runs.
fn task_status(task: &Task, stands: TaskStanding, run: State) -> TaskStatus {
    let gone = stands.state == State::Running && run != State::Running;
    let step = |process: u32| {
        let workers = &stands.progress.as_ref()?.workers;
        workers.iter().find(|worker| worker.process == process).map(|worker| worker.step)
    };
    let living = stands.living.iter().filter(|_| !gone);
    let processes = living.map(|(&process, living)| ProcessStatus {
        process,
        pid: living.pid,
        place: living.place.clone(),
        delayed: living.delayed.clone(),
        serves: living.serves,
        ranks: stands.hosts.get(&process).cloned().unwrap_or_default(),
        step: step(process),
    });
    TaskStatus {
        id: task.id.clone(),
        state: if gone { State::Stopped } else { stands.state },
        processes: processes.collect(),
        reason: stands.reason,
        faults_survived: stands.faults,
        progress: stands.progress,
    }
}

fn row(task: &TaskStatus) -> Vec<String> {
    let detail = match (&task.reason, &task.progress, task.state) {
        (Some(reason), ..) => reason.clone(),
        (None, Some(p), State::Running | State::Stopped) => format!(
            "epoch {}, step {}, loss {:.4}, accuracy {:.4}",
            of_all(p.epoch, p.epochs),
            of_all(p.step, p.steps),
            p.metrics.loss,
            p.metrics.accuracy
        ),
        _ => String::new(),
    };
    vec![format!("  {}", task.id), task.state.as_str().to_owned(), detail]
}

fn process_row(process: &ProcessStatus) -> Vec<String> {
    let ranks = match process.serves {
        true => "server".into(),
        false => output::ranks(&process.ranks),
    };
    let step = process.step.map_or(String::new(), |step| format!("step {step}"));
    let name = process.place.clone().unwrap_or_else(|| format!("pid {}", process.pid));
    let state = process.delayed.clone().unwrap_or(step);
    vec![format!("  {}", process.process), name, ranks, state]
}
