//! `trainyard drive`: the driver of a run in a cluster. Its Job starts it; people do not.

mod page;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};
use collective::Sockets;
use exec::kubernetes::{Api, Cluster, Herald, Site, give_up, in_cluster};
use exec::{Driver, Ending, Limits, Local};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use spec::RunSpec;
use store::{Lock, Owner, RunDir};
use train::{Clock, Event, Join, read_events};

use crate::cluster::planned::{await_inputs, planned};
use crate::env::{Env, Post};
use crate::failure::{Failure, OrUsage};
use crate::{driver, find, output, run_file};

/// How long pods may take to come: the cluster says what they wait for, and that is told.
const ARRIVAL: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long workers may take to find the next driver.
const REUNION: Duration = Duration::from_secs(30);

/// Drive a run in a cluster
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What the run is called there, number included
    run: String,
    /// The run file
    #[arg(long)]
    file: PathBuf,
    /// What the run's processes know each other by
    #[arg(long)]
    join: PathBuf,
    /// Where they reach the driver
    #[arg(long)]
    listen: String,
    /// How many seconds to stay after the end, so that somebody can fetch what was made
    #[arg(long, default_value_t = 0)]
    linger: u64,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let signals = heed_signals()?;
    let post = env.post.as_ref().context("not in a pod of a run: its variables are missing");
    let post = post.or_usage()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let api = in_cluster(&post.namespace)?;
        let ending = drive(args, env, (&api, post), &signals).await;
        // Whatever ends a run for good ends its Job; all else is tried again by another driver.
        let for_good = match &ending {
            Ok(Ending::Done(_)) => args.linger > 0,
            Ok(_) | Err(Failure::Usage(_)) => true,
            Err(_) => false,
        };
        if for_good {
            give_up(&api, &args.run).await?;
        }
        match ending? {
            Ending::Done(_) => {
                signals.store(LINGERS, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(args.linger)).await;
                Ok(())
            }
            Ending::Stopped => Err(Failure::Interrupted),
            Ending::Failed(reason) => Err(Failure::Failed(anyhow!("{reason}"))),
        }
    })
}

async fn drive(
    args: &Args,
    env: &Env,
    (api, post): (&Api, &Post),
    stop: &AtomicUsize,
) -> Result<Ending, Failure> {
    let run = RunDir::at(&crate::env::absolute(&env.runs)?.join(&args.run));
    std::fs::create_dir_all(&run.path)
        .with_context(|| format!("cannot make {}", run.path.display()))?;
    let mut spec = run_file::carried(&args.file)?;
    if !driver::is_of(&run, &spec) {
        let shown = run.path.display();
        return Err(anyhow!("{shown} is there already, and of another run file; remove it"))
            .or_usage();
    }
    let owner = Owner::this_process(Clock::system().unix_ms());
    let lock = Lock::acquire(&run, &owner, driver::DYING, std::thread::sleep)?;
    share_secret(&args.join, &run)?;
    let site = site(&args.run, &spec, post)?;
    let herald = Herald::new(api, &site);
    let place = site.clone();
    let local = Local::new("/proc/self/exe".into(), vec!["worker".into()], run.clone());
    let mut launcher = Cluster::open(api.clone(), site, local, run.clone()).await?;
    let lost = !run.events().exists() && launcher.found_pods();
    let plan = match lost && get_back(&run, &args.listen).await? {
        true => find::plan(&run)?,
        false => {
            await_inputs(&mut spec).await.or_usage()?;
            planned(&spec, env)?
        }
    };
    driver::write_down(&run, &spec, &plan)?;
    let print = |event: &Event| {
        output::print(&serde_json::to_string(event).expect("an event is plain data"));
    };
    let mut show = |event: &Event| {
        print(event);
        herald.tell(event);
    };
    read_events(&run.events())?.iter().for_each(print);
    let patience = train::membership::Limits {
        arrival: ARRIVAL,
        reunion: REUNION,
        ..train::membership::Limits::default()
    };
    let ending = exec::drive(Driver {
        plan: &plan,
        run: &run,
        launcher: &mut launcher,
        net: Arc::new(Sockets),
        encrypt: true,
        listen: &args.listen,
        // Pods have what the cluster gives them; beside the driver there is little to do.
        limits: Limits { memory: u64::MAX, threads: usize::MAX },
        patience,
        processes: None,
        clock: Clock::system(),
        stop,
        // It stays after the end because its folder goes with it.
        copied: args.linger > 0,
        surroundings: env.surroundings.clone(),
        show: &mut show,
    })
    .await;
    if let Ok(Ending::Done(report)) = &ending {
        if let Some(serving) = &plan.serving {
            page::show(api, &place, (&run, serving), args.linger > 0).await;
        }
        output::print(&json!({ "report": report }).to_string());
    }
    launcher.settle().await;
    lock.release()?;
    Ok(ending?)
}

/// Where the run is, and what it is given there.
fn site(run: &str, spec: &RunSpec, post: &Post) -> Result<Site, Failure> {
    let given = spec.on.kubernetes.clone().unwrap_or_default();
    Ok(Site {
        run: run.to_owned(),
        namespace: post.namespace.clone(),
        image: given.image.clone().context("the run file names no image").or_usage()?,
        given,
        owner: post.job_uid.clone(),
    })
}

/// Gets back the folder that an earlier driver had, from the process that kept a copy of it.
async fn get_back(run: &RunDir, listen: &str) -> Result<bool, Failure> {
    output::talk("an earlier driver's folder is gone; waiting for the process that has a copy");
    let back = exec::restore(run, listen, Arc::new(Sockets), REUNION).await?;
    output::talk(match back {
        true => "the folder is back; the run goes on",
        false => "no process has a copy; the run begins anew",
    });
    Ok(back)
}

/// Has the driver listen with the secret that the run's pods have.
fn share_secret(from: &Path, run: &RunDir) -> Result<(), Failure> {
    Ok(Join::read(from)?.write(&run.join())?)
}

/// Set when the run is over and the driver only stays.
const LINGERS: usize = usize::MAX;

/// A pod that is asked to leave makes room at once: the run goes on, and the next driver takes it up.
/// Only the user's own request stops it.
fn heed_signals() -> Result<Arc<AtomicUsize>, Failure> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match (signal, counter.load(Ordering::SeqCst)) {
                (_, LINGERS) => std::process::exit(0),
                (SIGTERM, _) => std::process::exit(143),
                _ => drop(counter.fetch_max(1, Ordering::SeqCst)),
            }
        }
    });
    Ok(count)
}
