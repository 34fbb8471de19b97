//! Drives a run on this machine: what `run`, `compare` and `bench` have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use collective::Sockets;
use exec::{Driver, Ending, Limits, Local};
use plan::Plan;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use spec::RunSpec;
use store::{Lock, Owner, RunDir, Runs};
use train::{Clock, Event, Standing, State, read_events};

use crate::env::Env;
use crate::failure::Failure;
use crate::output;

/// How long a driver that was killed just now may take to be gone.
pub(crate) const DYING: Duration = Duration::from_secs(5);

/// Where processes reach a driver unless the user says.
pub(crate) const HERE: &str = "127.0.0.1:0";

/// A run to be driven.
pub(crate) struct Work<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) plan: &'a Plan,
    pub(crate) run: &'a RunDir,
    /// Where its processes reach the driver.
    pub(crate) listen: &'a str,
    /// How many processes train, where that is not one for each worker.
    pub(crate) processes: Option<usize>,
    /// How often the user asked to stop.
    pub(crate) stop: &'a AtomicUsize,
}

/// Drives a run to its end, or until the user asks to stop. `show` sees every event.
pub(crate) fn drive(
    work: &Work<'_>,
    env: &Env,
    show: &mut dyn FnMut(&Event),
) -> Result<Ending, Failure> {
    let Work { spec, plan, run, listen, processes, stop } = *work;
    let clock = Clock::system();
    let owner = Owner::this_process(clock.unix_ms());
    let lock = Lock::acquire(run, &owner, DYING, std::thread::sleep)?;
    write_down(run, spec, plan)?;
    // This very program, even if its file is replaced while the run goes on.
    let mut launcher = Local::new("/proc/self/exe".into(), vec!["worker".into()], run.clone());
    let driving = exec::drive(Driver {
        plan,
        run,
        launcher: &mut launcher,
        net: Arc::new(Sockets),
        encrypt: true,
        listen,
        limits: Limits { memory: env.memory, threads: env.threads },
        patience: train::membership::Limits::default(),
        processes,
        clock,
        stop,
        copied: false,
        surroundings: env.surroundings.clone(),
        show,
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = runtime.block_on(driving);
    lock.release()?;
    Ok(ending?)
}

/// Writes down what was asked for, and what is to be done.
pub(crate) fn write_down(run: &RunDir, spec: &RunSpec, plan: &Plan) -> Result<(), Failure> {
    store::publish(&run.spec(), |out| out.write_all(spec.to_yaml().as_bytes()))?;
    let text = serde_json::to_vec_pretty(plan)?;
    Ok(store::publish(&run.plan(), |out| out.write_all(&text))?)
}

/// The newest run of this name where it can go on, else a new one.
pub(crate) fn choose(runs: &Runs, spec: &RunSpec, fresh: bool) -> Result<RunDir, Failure> {
    if let Some(newest) = runs.newest(&spec.name)?.filter(|_| !fresh) {
        let state = Standing::of(&read_events(&newest.events())?).state;
        match (state, is_of(&newest, spec)) {
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

/// Whether a run is what a file asks for.
pub(crate) fn is_of(run: &RunDir, spec: &RunSpec) -> bool {
    // A driver killed before it could write down its spec has done nothing else either.
    std::fs::read_to_string(run.spec()).ok().is_none_or(|text| text == spec.to_yaml())
}

/// Counts how often the user asked to stop. Ctrl-C counts each time; a request of the system or of
/// `trainyard stop` is the same request however often it is made.
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicUsize>, Failure> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGTERM | SIGUSR1 => {
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
