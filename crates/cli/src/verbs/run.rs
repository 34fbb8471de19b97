//! `trainyard run`: the driver of a run, on this machine.

use std::path::PathBuf;

use exec::Ending;
use store::{RunDir, Runs};

use crate::address;
use crate::cluster::{self, Place};
use crate::driver::{self, Work};
use crate::env::{Env, absolute};
use crate::failure::Failure;
use crate::run_file::RunFile;
use crate::view::View;
use crate::{facts, output, report_text};

/// Carry out a run file: prepare data, train, evaluate, report
///
/// Continues the newest run of the same name if it is unfinished and the file asks for the same;
/// otherwise starts a new one. Ctrl-C saves and stops; running the same command again goes on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard run mnist-sample.yaml
  trainyard run mnist-sample.yaml --set train.epochs=5 --name longer
  trainyard run mnist-sample.yaml --on kubernetes --image registry.example/trainyard:0.1
  trainyard run mnist-sample.yaml --json | jq -c 'select(.event == \"epoch\")'")]
pub(crate) struct Args {
    #[command(flatten)]
    file: RunFile,
    /// Where runs go [default: $TRAINYARD_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Start a new run even if there is an unfinished one
    #[arg(long)]
    fresh: bool,
    /// Print events as JSON, one a line
    #[arg(long)]
    json: bool,
    /// How many processes train, where that is to be fewer than one for each worker; with 0 only
    /// those that join. The result does not depend on it
    #[arg(long, value_name = "N")]
    processes: Option<u16>,
    /// Where processes of the run, on other machines too, reach the driver
    #[arg(long, value_name = "ADDRESS:PORT", default_value = driver::HERE)]
    listen: String,
    #[command(flatten)]
    place: Place,
    /// The image of every pod on the cluster
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    address::check(&args.listen)?;
    let spec = args.file.spec()?;
    if args.place.is_cluster() {
        return cluster::run(
            &args.place,
            (spec, args.image.as_deref()),
            (args.json, args.fresh),
            env,
        );
    }
    let (plan, _) = facts::plan(&spec, env)?;
    facts::check_memory(&plan, env)?;
    let runs = Runs::new(absolute(args.out.as_ref().unwrap_or(&env.runs))?);
    let run = driver::choose(&runs, &spec, args.fresh)?;
    let work = Work {
        spec: &spec,
        plan: &plan,
        run: &run,
        listen: &args.listen,
        processes: args.processes.map(usize::from),
        stop: &*driver::stop_on_signals()?,
    };
    let mut view = View::new(args.json, env);
    let ending = driver::drive(&work, env, &mut |event| view.show(event));
    view.close();
    match ending? {
        Ending::Done(report) => {
            if !args.json {
                output::print(&report_text::closing(&report, &shown(&run, env)));
            }
            Ok(())
        }
        Ending::Stopped => {
            output::talk(&format!("`trainyard run` with the same file continues {}", run.id()));
            Err(Failure::Interrupted)
        }
        Ending::Failed(reason) => Err(Failure::Failed(anyhow::anyhow!("{reason}"))),
    }
}

/// What the user calls the run: by its id where it lies where runs are looked for, else by its path.
pub(crate) fn shown(run: &RunDir, env: &Env) -> String {
    match absolute(&env.runs) {
        Ok(root) if root == *run.path.parent().unwrap_or(&run.path) => run.id(),
        _ => run.path.display().to_string(),
    }
}
