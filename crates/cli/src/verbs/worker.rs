//! `trainyard worker`: a process of a run, wherever it is. Drivers start these, and so can people.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use collective::{Reach, Sockets};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::runtime::Builder;
use tokio::sync::watch;
use train::{Clock, Join, RunFolder, Station};

use crate::address;
use crate::env::Env;
use crate::failure::Failure;
use crate::machine::{host_name, peak_rss_bytes};
use crate::output;

/// How long a process waits for its driver, unless it is told.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Work for a run, on this machine
///
/// It finds the run by the `join.json` of its folder, copied here if need be, and takes a share of the
/// work from the process that has most; where all have one rank it stands by. On another machine the
/// run's files come and go through the driver. Ctrl-C hands the work back.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard run mnist.yaml --listen 10.0.0.1:7070
  trainyard worker --join runs/mnist-1/join.json      # on the same or on another machine")]
pub(crate) struct Args {
    /// The `join.json` of the run
    #[arg(long, value_name = "FILE")]
    join: PathBuf,
    /// Where others of the run reach this process [default: as the driver is reached, any port]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Where workers reach it if it is a server [default: any other port]
    #[arg(long, hide = true)]
    door: Option<String>,
    /// Take the run's files from the driver, and keep copies here [default: only where the run's
    /// folder is not on this machine, in a temporary folder]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Exchange numbers over the network even with processes of this machine
    #[arg(long)]
    no_shared_memory: bool,
    /// How many seconds it waits for a driver
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u64,
    /// Where it was started, by which the driver knows it
    #[arg(long, hide = true)]
    place: Option<String>,
    /// The number that the driver gave it
    #[arg(long, hide = true)]
    process: Option<u32>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    serve(Worker {
        join: &args.join,
        listen: args.listen.clone(),
        door: args.door.clone(),
        reach: if args.no_shared_memory { Reach::Network } else { Reach::Anywhere },
        process: args.process,
        place: args.place.as_deref(),
        patience: Duration::from_secs(args.patience),
        scratch: args.scratch.as_deref(),
        log_dir: env.log_dir.as_deref(),
    })
}

/// A process to be.
pub(crate) struct Worker<'a> {
    pub(crate) join: &'a Path,
    pub(crate) listen: Option<String>,
    /// Where workers reach it if it is a server.
    pub(crate) door: Option<String>,
    pub(crate) reach: Reach,
    pub(crate) process: Option<u32>,
    /// Where a driver had it started that does not know its number.
    pub(crate) place: Option<&'a str>,
    /// How long it waits for a driver.
    pub(crate) patience: Duration,
    /// A folder for files of a run whose own folder is not here.
    pub(crate) scratch: Option<&'a Path>,
    /// A folder where its log is written too.
    pub(crate) log_dir: Option<&'a Path>,
}

/// Works until the driver says that it is enough.
pub(crate) fn serve(worker: Worker<'_>) -> Result<(), Failure> {
    let clock = Clock::system();
    let path = worker.join.to_owned();
    let join = Join::read(&path)?;
    let listen = match worker.listen {
        Some(listen) => address::check(&listen).map(|()| listen)?,
        None => address::reached_from(&join.address)?,
    };
    // The line to the driver has a thread of its own, so that it is kept while this one computes.
    let beside = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("line")
        .enable_all()
        .build()
        .context("cannot start a thread")?;
    // Removed with all that is in it when this process ends.
    let mut made = None;
    let folder = match (worker.scratch, worker.process) {
        (Some(scratch), _) => RunFolder::Elsewhere(scratch.to_owned()),
        (None, Some(_)) => RunFolder::Here,
        (None, None) => {
            let folder = tempfile::tempdir().context("cannot make a folder for files")?;
            RunFolder::HereOr(made.insert(folder).path().to_owned())
        }
    };
    // In a pod every process has the same number; when it began tells it from the one before it.
    let pid = match worker.place {
        Some(_) => clock.unix_ms() as u32,
        None => std::process::id(),
    };
    let time = clock.clone();
    let copy = worker.log_dir.and_then(open_copy);
    let station = Station {
        net: Arc::new(Sockets),
        encrypt: true,
        join: Arc::new(move || Join::read(&path)),
        process: worker.process,
        place: worker.place.map(str::to_owned),
        pid,
        folder,
        listen,
        door: worker.door,
        reach: worker.reach,
        clock,
        stop: stop_on_signals()?,
        patience: worker.patience,
        beside: beside.handle().clone(),
        log: Arc::new(move |text| {
            let line = format!("{} {text}", crate::view::time(time.unix_ms()));
            output::talk(&line);
            // What cannot be written there is on standard error.
            let _ = copy.as_ref().map(|mut file| writeln!(file, "{line}"));
        }),
        host: host_name(),
        peak_rss_bytes,
        exit: Arc::new(|| std::process::exit(0)),
    };
    let here = Builder::new_current_thread().enable_all().build().context("cannot start")?;
    let served = here.block_on(train::serve(station));
    beside.shutdown_background();
    served?;
    Ok(())
}

/// Where a copy of the log goes. Several processes of a machine may share it.
fn open_copy(folder: &Path) -> Option<File> {
    let path = folder.join("deploy.log");
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    let warn = |error: &std::io::Error| {
        output::talk(&format!("no copy of the log goes to {}: {error}", path.display()));
    };
    opened.inspect_err(warn).ok()
}

fn stop_on_signals() -> Result<watch::Receiver<bool>, Failure> {
    let (asked, stop) = watch::channel(false);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            asked.send_replace(true);
        }
    });
    Ok(stop)
}
