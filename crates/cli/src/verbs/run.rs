//! `trainyard run`: the driver of a run, on this machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exec::{Driver, Ending, Launcher, Limits};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use spec::RunSpec;
use store::{Lock, Owner, RunDir, Runs};
use train::{Clock, Standing, State, read_events};

use crate::env::{Env, absolute};
use crate::failure::Failure;
use crate::run_file::RunFile;
use crate::view::View;
use crate::{facts, output, report_text};

/// How long processes that a killed driver left behind are waited for.
const ORPHANS: Duration = Duration::from_secs(30);

/// Carry out a run file: prepare data, train, evaluate, report
///
/// Continues the newest run of the same name if it is unfinished and the file asks for the same;
/// otherwise starts a new one. Ctrl-C saves and stops; running the same command again goes on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard run mnist-sample.yaml
  trainyard run mnist-sample.yaml --set train.epochs=5 --name longer
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
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let spec = args.file.spec()?;
    let (plan, _) = facts::plan(&spec, env)?;
    facts::check_memory(&plan, env)?;
    let runs = Runs::new(absolute(args.out.as_ref().unwrap_or(&env.runs))?);
    let run = choose(&runs, &spec, args.fresh)?;

    let clock = Clock::system();
    let owner = Owner::this_process(clock.unix_ms());
    let mut told = false;
    let lock = Lock::acquire(&run, &owner, ORPHANS, |pause| {
        if !std::mem::replace(&mut told, true) {
            output::talk("waiting for processes of the last driver to save and leave");
        }
        std::thread::sleep(pause);
    })?;
    store::publish(&run.spec(), |out| out.write_all(spec.to_yaml().as_bytes()))?;
    let text = serde_json::to_vec_pretty(&plan)?;
    store::publish(&run.plan(), |out| out.write_all(&text))?;

    let stop = stop_on_signals()?;
    let mut view = View::new(args.json, env);
    let ending = exec::drive(Driver {
        plan: &plan,
        run: &run,
        launcher: Launcher {
            // This very program, even if its file is replaced while the run goes on.
            program: "/proc/self/exe".into(),
            arguments: vec!["task".into()],
        },
        limits: Limits { memory: env.memory, threads: env.threads },
        clock,
        stop: &stop,
        surroundings: env.surroundings.clone(),
        show: &mut |event| view.show(event),
    });
    view.close();
    // Where driving itself failed, workers may still be saving: the lock stays with them.
    match &ending {
        Ok(_) => lock.release()?,
        Err(_) => drop(lock),
    }
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

/// The newest run of this name where it can go on, else a new one.
fn choose(runs: &Runs, spec: &RunSpec, fresh: bool) -> Result<RunDir, Failure> {
    if let Some(newest) = runs.newest(&spec.name)?.filter(|_| !fresh) {
        let state = Standing::of(&read_events(&newest.events())?).state;
        // A driver killed before it could write down its spec has done nothing else either.
        let text = std::fs::read_to_string(newest.spec()).ok();
        let same = text.is_none_or(|text| text == spec.to_yaml());
        match (state, same) {
            (State::Done, _) => {}
            (_, true) => return Ok(newest),
            (_, false) => output::talk(&format!(
                "{} is unfinished, but of another run file; starting a new run beside it",
                newest.id()
            )),
        }
    }
    Ok(runs.create(&spec.name)?)
}

/// What the user calls the run: by its id where it lies where runs are looked for, else by its path.
fn shown(run: &RunDir, env: &Env) -> String {
    match absolute(&env.runs) {
        Ok(root) if root == *run.path.parent().unwrap_or(&run.path) => run.id(),
        _ => run.path.display().to_string(),
    }
}

/// Counts how often the user asked to stop. Ctrl-C counts each time; a request of the system or of
/// `trainyard stop` is the same request however often it is made.
fn stop_on_signals() -> Result<Arc<AtomicUsize>, Failure> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGTERM => {
                    counter.fetch_max(1, Ordering::SeqCst);
                }
                _ if counter.fetch_add(1, Ordering::SeqCst) < 2 => {}
                // A third time: the driver itself is stuck. Its tasks notice, save and leave.
                _ => std::process::exit(130),
            }
        }
    });
    Ok(count)
}
