//! A stage for a driver: a run in a folder of its own, a network of pipes, and processes that are tasks
//! of this very runtime and say what a test has them say.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use collective::Memory;
use exec::{Driver, Ending, ExecError, Launcher, Limits, Started};
use plan::{Facts, Plan, Task};
use store::{RunDir, Runs};
use tokio::task::JoinHandle;
use train::{Clock, Event, Kind, Surroundings, read_events};

use crate::actor::Actor;

/// No run of these tests takes longer.
const BOUND: Duration = Duration::from_secs(1000);

/// What a process does from its first words to its end.
pub(crate) type Script =
    Arc<dyn Fn(Actor) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Makes a script of a function.
pub(crate) fn script<F>(play: impl Fn(Actor) -> F + Send + Sync + 'static) -> Script
where
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |actor| Box::pin(play(actor)))
}

/// Where a run takes place. Clones are the same stage.
#[derive(Clone)]
pub(crate) struct Stage {
    folder: Arc<tempfile::TempDir>,
    pub(crate) run: RunDir,
    pub(crate) net: Memory,
    /// How often the user asked to stop.
    pub(crate) stop: Arc<AtomicUsize>,
    /// Those that were started by their process ids. They outlive their driver.
    processes: Arc<Mutex<BTreeMap<u32, JoinHandle<()>>>>,
    pids: Arc<AtomicU32>,
    plan: Arc<Plan>,
}

/// Starts processes for one driver.
struct Cast {
    stage: Stage,
    script: Script,
    /// The process ids of those that this driver has charge of.
    ours: BTreeMap<u32, u32>,
}

impl Stage {
    /// A run of one worker: `prepare`, `train`, `evaluate`.
    pub(crate) fn new() -> Self {
        Stage::of("name: test\ndata: mnist-sample\nmodel: mnist-mlp\n")
    }

    /// The run that a file asks for.
    pub(crate) fn of(file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = Runs::new(folder.path()).create("test").unwrap();
        let spec = spec::parse(file, "test.yaml", &[]).unwrap();
        let plan = plan::plan(&spec, &Facts::default()).unwrap();
        Stage {
            folder: Arc::new(folder),
            run,
            net: Memory::new(),
            stop: Arc::default(),
            processes: Arc::default(),
            pids: Arc::new(AtomicU32::new(100)),
            plan: Arc::new(plan),
        }
    }

    /// Drives the run to its end with processes that follow a script.
    pub(crate) async fn drive(&self, script: Script) -> (Ending, Vec<Event>) {
        self.drive_and(script, |_| {}).await
    }

    /// The same; `show` sees every event.
    pub(crate) async fn drive_and(
        &self,
        script: Script,
        mut show: impl FnMut(&Event),
    ) -> (Ending, Vec<Event>) {
        let mut cast = Cast { stage: self.clone(), script, ours: BTreeMap::new() };
        let ending = exec::drive(Driver {
            plan: &self.plan,
            run: &self.run,
            launcher: &mut cast,
            net: Arc::new(self.net.clone()),
            encrypt: false,
            listen: "anywhere",
            limits: Limits { memory: u64::MAX, threads: 2 },
            patience: train::membership::Limits::default(),
            processes: None,
            clock: Clock::of_runtime(),
            stop: &self.stop,
            copied: false,
            surroundings: Surroundings {
                isa: None,
                cache: self.folder.path().into(),
                offline: true,
            },
            show: &mut show,
        });
        let ending = tokio::time::timeout(BOUND, ending).await;
        let Ok(ending) = ending else { panic!("the run does not end: {:#?}", self.events()) };
        (ending.unwrap(), self.events())
    }

    /// What was written down so far.
    pub(crate) fn events(&self) -> Vec<Event> {
        read_events(&self.run.events()).unwrap()
    }

    /// Somebody who was not started by a driver and has, or claims, a number.
    pub(crate) fn stranger(&self, process: Option<u32>) -> Actor {
        let pid = self.pids.fetch_add(1, Ordering::SeqCst);
        Actor::new(self.clone(), process, pid)
    }
}

impl Launcher for Cast {
    fn start(&mut self, _: &Task, process: u32, _: bool) -> Result<Started, ExecError> {
        let actor = self.stage.stranger(Some(process));
        let pid = actor.pid;
        let handle = tokio::spawn((self.script)(actor));
        self.stage.processes.lock().unwrap().insert(pid, handle);
        self.ours.insert(process, pid);
        Ok(Started { pid, ticks: Some(1), place: None })
    }

    fn adopt(&mut self, _: &Task, process: u32, started: &Started) -> bool {
        let processes = self.stage.processes.lock().unwrap();
        let lives = processes.get(&started.pid).is_some_and(|handle| !handle.is_finished());
        if lives {
            self.ours.insert(process, started.pid);
        }
        lives
    }

    fn kill(&mut self, process: u32) {
        let processes = self.stage.processes.lock().unwrap();
        if let Some(handle) = self.ours.get(&process).and_then(|pid| processes.get(pid)) {
            handle.abort();
        }
    }

    fn ended(&mut self) -> Vec<(u32, String)> {
        let processes = self.stage.processes.lock().unwrap();
        let has_ended = |pid: &u32| processes.get(pid).is_none_or(JoinHandle::is_finished);
        let ended: Vec<u32> = self
            .ours
            .iter()
            .filter(|(_, pid)| has_ended(pid))
            .map(|(&process, _)| process)
            .collect();
        self.ours.retain(|process, _| !ended.contains(process));
        ended.into_iter().map(|process| (process, "ended".to_owned())).collect()
    }
}

/// How many events are of a kind.
pub(crate) fn count(events: &[Event], wanted: impl Fn(&Kind) -> bool) -> usize {
    events.iter().filter(|event| wanted(&event.kind)).count()
}
