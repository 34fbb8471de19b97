//! `trainyard compare`: one file, every strategy, side by side.

mod candidate;
mod row;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;
use exec::Ending;
use serde::Serialize;
use store::Runs;
use train::{Report, Standing, State, read_events};

use self::candidate::{Candidate, candidates};
use self::row::{Row, table};
use crate::driver::{self, HERE, Work};
use crate::env::{Env, absolute};
use crate::failure::Failure;
use crate::run_file::RunFile;
use crate::view::View;
use crate::{facts, find, output};

/// What is compared unless the user says.
const STRATEGIES: &str = "single,all_reduce,average,parameter_server:sync,parameter_server:async";

/// Train one file with every strategy, one after another, and print them side by side
///
/// With the workers of the file, or two where it has one; `single` is one worker. Each strategy is a
/// run of its own in the folder NAME-compare beside other runs. What is done is not done again, so that
/// after Ctrl-C the same command goes on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard compare mnist-sample.yaml
  trainyard compare mnist-average.yaml --strategies single,average,average:50 --json
  trainyard compare mnist-sample.yaml --set train.workers=4 --set train.threads=1")]
pub(crate) struct Args {
    #[command(flatten)]
    file: RunFile,
    /// Which, with commas between: names, average:50 (averages every 50 steps), parameter_server:sync,
    /// or as in a run file. What the file says about a strategy that is named alone stays
    #[arg(long, value_name = "LIST", default_value = STRATEGIES)]
    strategies: String,
    /// Where runs go [default: $TRAINYARD_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Train anew what is done or unfinished
    #[arg(long)]
    fresh: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Comparison<'a> {
    name: &'a str,
    /// The folder of the runs.
    path: String,
    strategies: &'a [Row],
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let spec = args.file.spec()?;
    let candidates = candidates(&spec, &args.strategies)?;
    let out = absolute(args.out.as_ref().unwrap_or(&env.runs))?;
    let runs = Runs::new(out.join(format!("{}-compare", spec.name)));
    let stop = driver::stop_on_signals()?;
    let mut rows = vec![];
    for candidate in &candidates {
        // One that cannot be trained must not hide the others.
        let row = match train(candidate, &runs, args.fresh, (&stop, env)) {
            Ok(report) => Row::of(candidate, &report),
            Err(Failure::Usage(error) | Failure::Failed(error)) => {
                Row::failed(candidate, format!("{error:#}"))
            }
            Err(Failure::Interrupted) => {
                output::talk("`trainyard compare` with the same file goes on from here");
                return Err(Failure::Interrupted);
            }
        };
        output::talk(&row.line());
        rows.push(row);
    }
    let path = runs.root().display().to_string();
    if args.json {
        output::json(&Comparison { name: &spec.name, path, strategies: &rows })?;
    } else {
        output::print(&table(&rows));
        output::talk(&format!("the runs are in {path}"));
    }
    match rows.iter().filter(|row| row.state == State::Failed).count() {
        0 => Ok(()),
        failed => Err(anyhow!("{failed} of {} strategies failed", rows.len()).into()),
    }
}

/// Trains with one strategy, unless that is done.
fn train(
    candidate: &Candidate,
    runs: &Runs,
    fresh: bool,
    (stop, env): (&AtomicUsize, &Env),
) -> Result<Report, Failure> {
    let spec = candidate.spec()?;
    if let Some(newest) = runs.newest(&spec.name)?.filter(|_| !fresh) {
        let standing = Standing::of(&read_events(&newest.events())?);
        if standing.state == State::Done && driver::is_of(&newest, &spec) {
            output::talk(&format!("{} is done; --fresh trains it anew", newest.id()));
            return Ok(Report::of(&newest.id(), &newest.path, &standing, &find::plan(&newest)?));
        }
    }
    let (plan, _) = facts::plan(&spec, env)?;
    facts::check_memory(&plan, env)?;
    if stop.load(Ordering::SeqCst) > 0 {
        return Err(Failure::Interrupted);
    }
    let run = driver::choose(runs, &spec, fresh)?;
    let work = Work { spec: &spec, plan: &plan, run: &run, listen: HERE, processes: None, stop };
    // Where nobody watches, a line for each strategy at its end is enough.
    let mut view = output::is_watched().then(|| View::new(false, env));
    if view.is_some() {
        output::talk(&format!("{}, {}", candidate.label, candidate.workers()));
    }
    let ending = driver::drive(&work, env, &mut |event| {
        view.iter_mut().for_each(|view| view.show(event));
    });
    view.iter_mut().for_each(View::close);
    match ending? {
        Ending::Done(report) => Ok(*report),
        Ending::Stopped => Err(Failure::Interrupted),
        Ending::Failed(reason) => Err(anyhow!("{reason}").into()),
    }
}
