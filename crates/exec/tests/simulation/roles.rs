//! What runs on the machines: a driver, or a process.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use collective::Reach;
use exec::{Driver, Limits};
use plan::Plan;
use store::RunDir;
use tokio::runtime::Handle;
use tokio::sync::watch;
use train::{Clock, Join, Station, Surroundings};

use crate::launcher::Machines;
use crate::net::Wires;
use crate::yard::{State, Yard};

/// How long a process waits for its driver, as `trainyard worker` does.
const PATIENCE: Duration = Duration::from_secs(10);
/// Any address of the machine, any port.
const ANYWHERE: &str = "0.0.0.0:0";

/// A driver to be.
#[derive(Clone)]
pub(crate) struct DriverRole {
    pub(crate) name: String,
    pub(crate) yard: Yard,
    pub(crate) plan: Arc<Plan>,
    pub(crate) run: RunDir,
    pub(crate) processes: Option<usize>,
    pub(crate) stop: Arc<AtomicUsize>,
}

/// A process to be.
#[derive(Clone)]
pub(crate) struct ProcessRole {
    pub(crate) name: String,
    pub(crate) yard: Yard,
    pub(crate) run: RunDir,
    pub(crate) process: Option<u32>,
    pub(crate) pid: u32,
    /// How long a move of work takes.
    pub(crate) a_move: Duration,
    pub(crate) stop: watch::Receiver<bool>,
}

impl DriverRole {
    /// Drives, tells how it ended, and waits for the machine to be switched off.
    pub(crate) async fn act(self) -> turmoil::Result {
        let mut launcher = Machines::new(self.yard.clone());
        let yard = self.yard.clone();
        let mut show = move |event: &_| yard.show(event);
        let ended = exec::drive(Driver {
            plan: &self.plan,
            run: &self.run,
            launcher: &mut launcher,
            net: Arc::new(Wires { name: self.name, yard: self.yard.clone() }),
            encrypt: false,
            listen: ANYWHERE,
            limits: Limits { memory: u64::MAX, threads: 16 },
            patience: train::membership::Limits::default(),
            processes: self.processes,
            clock: Clock::of_runtime(),
            stop: &self.stop,
            copied: false,
            surroundings: Surroundings { isa: None, cache: PathBuf::new(), offline: true },
            show: &mut show,
        });
        let outcome = ended.await.map_err(|error| error.to_string());
        self.yard.books().outcome = Some(outcome);
        std::future::pending().await
    }
}

impl ProcessRole {
    /// Serves, and waits for the machine to be switched off.
    pub(crate) async fn act(self) -> turmoil::Result {
        let ProcessRole { name, yard, run, process, pid, a_move, stop } = self;
        let path = run.join();
        let (aside, at_exit, speaker) = (yard.clone(), yard.clone(), name.clone());
        let station = Station {
            net: Arc::new(Wires { name: name.clone(), yard: yard.clone() }),
            encrypt: false,
            join: Arc::new(move || Join::read(&path)),
            process,
            place: None,
            pid,
            folder: train::RunFolder::Here,
            listen: ANYWHERE.to_owned(),
            door: None,
            reach: Reach::Network,
            clock: Clock::simulated(a_move),
            stop,
            patience: PATIENCE,
            beside: Handle::current(),
            log: Arc::new(move |text| aside.tell(&format!("{speaker}: {text}"))),
            host: name.clone(),
            peak_rss_bytes: || 0,
            exit: Arc::new(move || at_exit.is_over(pid)),
        };
        let served = train::serve(station).await;
        yard.tell(&format!("{name} has ended: {served:?}"));
        yard.is_over(pid);
        debug_assert!(yard.books().machines[&pid].state != State::Planned);
        std::future::pending().await
    }
}
