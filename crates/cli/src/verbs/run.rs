//! `trainyard run`: the driver of a run, on this machine, and then the page that the file asks for.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use exec::Ending;
use plan::Serving;
use spec::Action;
use store::{RunDir, Runs};

use crate::address;
use crate::cluster::{self, Place};
use crate::driver::{self, Work};
use crate::env::{Env, absolute};
use crate::failure::Failure;
use crate::run_file::RunFile;
use crate::serving::Page;
use crate::view::View;
use crate::{facts, output, report_text};

/// Carry out a run file: prepare data, train, evaluate, report, serve
///
/// Continues the newest run of the same name if it is unfinished and the file asks for the same;
/// otherwise starts a new one. Ctrl-C saves and stops; running the same command again goes on. Where the
/// file says `serve`, a run that is done is followed by the model's page, until Ctrl-C.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard run mnist-sample.yaml
  trainyard run mnist-sample.yaml --set train.epochs=5 --name longer --no-serve
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
    /// End when the run is done, even if the file says `serve`
    #[arg(long)]
    no_serve: bool,
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
    let mut spec = args.file.spec()?;
    if args.place.is_cluster() {
        if args.no_serve {
            spec.steps.retain(|step| !matches!(step.action, Action::Serve(_)));
        }
        return cluster::run(
            &args.place,
            (spec, args.image.as_deref()),
            (args.json, args.fresh),
            env,
        );
    }
    let (plan, _) = facts::plan(&spec, env)?;
    facts::check_memory(&plan, env)?;
    let serving = plan.serving.as_ref().filter(|_| !args.no_serve);
    serving.map_or(Ok(()), |serving| Page::asked(&serving.serve).check())?;
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
            serving.map_or(Ok(()), |serving| serve(serving, &work, env))
        }
        Ending::Stopped => {
            output::talk(&format!("`trainyard run` with the same file continues {}", run.id()));
            Err(Failure::Interrupted)
        }
        Ending::Failed(reason) => Err(Failure::Failed(anyhow::anyhow!("{reason}"))),
    }
}

/// Serves what a run that is done has made. Somebody who has asked to stop by now wants no page.
fn serve(serving: &Serving, work: &Work<'_>, env: &Env) -> Result<(), Failure> {
    let page = Page::asked(&serving.serve).of(&work.run.model(&serving.model)).of_run(work.run);
    page.show(env, &|_| work.stop.load(Ordering::SeqCst) == 0)
}

/// What the user calls the run: by its id where it lies where runs are looked for, else by its path.
pub(crate) fn shown(run: &RunDir, env: &Env) -> String {
    match absolute(&env.runs) {
        Ok(root) if root == *run.path.parent().unwrap_or(&run.path) => run.id(),
        _ => run.path.display().to_string(),
    }
}
