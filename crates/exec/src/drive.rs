//! The driver's loop: start what can start, take note of what is said, keep every task's processes
//! together, stop in order when asked to, and end with a report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use collective::Net;
use plan::{Plan, Task};
use store::RunDir;
use tokio::sync::mpsc::{Receiver, UnboundedSender};
use tokio::time::timeout;
use train::membership::{Limits as Patience, Phase};
use train::message::{Hello, ToProcess};
use train::{Clock, Event, EventLog, Kind, Living, Report, Standing, State};

use crate::files::Files;
use crate::launch::{Launcher, Started};
use crate::reception::{self, Heard};
use crate::schedule::startable;
use crate::troop::Troop;
use crate::{ExecError, Limits, door};

/// How long processes may take to save and leave.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How often the driver looks up from its messages.
const LOOK_UP: Duration = Duration::from_millis(50);
/// How late it may be with that before it counts as away: stopped, or waiting for a disk.
const AWAY: Duration = Duration::from_millis(250);

/// What a driver drives, and with what.
pub struct Driver<'a> {
    /// The tasks.
    pub plan: &'a Plan,
    /// Where everything goes.
    pub run: &'a RunDir,
    /// How processes are started.
    pub launcher: &'a mut dyn Launcher,
    /// How they are reached.
    pub net: Arc<dyn Net>,
    /// Whether what is said is encrypted: everywhere but in simulations.
    pub encrypt: bool,
    /// Where processes call: an address to listen at.
    pub listen: &'a str,
    /// What the machine can give.
    pub limits: Limits,
    /// How long processes may be silent.
    pub patience: Patience,
    /// How many processes train, where that is not one for each worker. With 0 none is started, and
    /// those train that join.
    pub processes: Option<usize>,
    /// The time.
    pub clock: Clock,
    /// How often the user asked to stop: once means in order, twice means now.
    pub stop: &'a AtomicUsize,
    /// Whether one of the processes is to keep a copy of the run's folder, which is lost with the
    /// driver's machine.
    pub copied: bool,
    /// What every process of the run is told beside its task.
    pub surroundings: train::Surroundings,
    /// Who watches. Called for every event.
    pub show: &'a mut dyn FnMut(&Event),
}

/// How a driver ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// All tasks are done and the report is written.
    Done(Box<Report>),
    /// The user asked to stop; running again continues.
    Stopped,
    /// A task failed; the sentence says which and why.
    Failed(String),
}

/// Drives a run from where it stands to its end. The caller holds the run's lock.
pub async fn drive(driver: Driver<'_>) -> Result<Ending, ExecError> {
    let (log, events) = EventLog::open(&driver.run.events(), driver.clock.clone())?;
    let standing = Standing::of(&events);
    let door = door::open(driver.run, driver.listen, &driver.net, driver.encrypt).await?;
    let address = door.address().to_owned();
    let files = Files::of(driver.run, driver.plan)?;
    let mut inbox = reception::open(door, files);
    let resumed = !events.is_empty();
    let before = standing.tasks.clone();
    // The driver before may have died between starting a process and writing that down: one number is left
    // to that process, so that no two ever have the same.
    let next_process = standing.processes + u32::from(resumed);
    let looked_up = driver.clock.elapsed();
    let mut drive = Drive {
        driver,
        address,
        log,
        standing,
        troops: BTreeMap::new(),
        volunteers: vec![],
        next_process,
        stopping: false,
        looked_up,
        copyist: None,
    };
    let started = Kind::RunStarted {
        run: drive.driver.run.id(),
        trainyard: env!("CARGO_PKG_VERSION").into(),
        resumed,
    };
    drive.note(None, started)?;
    drive.adopt(&before)?;
    let elsewhere = |task: &train::TaskStanding| task.living.values().any(|l| l.ticks.is_none());
    if drive.troops.is_empty() && !before.values().any(elsewhere) {
        // Nobody else writes here, so what is unfinished was left by the dead.
        drive.driver.run.sweep()?;
    }
    let ended = drive.until_nothing_runs(&mut inbox).await;
    if let Err(error) = &ended {
        // Processes notice that their driver is gone, save and leave. If the log cannot be written,
        // the error itself is all there is.
        let _ = drive.note(None, Kind::RunFailed { reason: error.to_string() });
    }
    ended?;
    door::close(drive.driver.run);
    drive.end()
}

pub(crate) struct Drive<'a> {
    pub(crate) driver: Driver<'a>,
    /// Where processes call.
    pub(crate) address: String,
    log: EventLog,
    pub(crate) standing: Standing,
    /// The tasks under way.
    pub(crate) troops: BTreeMap<String, Troop>,
    /// Processes that came by themselves, before there was anything to train.
    pub(crate) volunteers: Vec<(u64, Box<Hello>, UnboundedSender<ToProcess>)>,
    pub(crate) next_process: u32,
    stopping: bool,
    /// When the driver last looked up from its messages.
    looked_up: Duration,
    /// Who keeps a copy of the run's folder.
    pub(crate) copyist: Option<u32>,
}

impl Drive<'_> {
    /// Takes over what an earlier driver started and what still lives.
    fn adopt(&mut self, before: &BTreeMap<String, train::TaskStanding>) -> Result<(), ExecError> {
        let (plan, patience) = (self.driver.plan, self.driver.patience.reunion);
        for task in plan.tasks.iter() {
            let Some(standing) = before.get(&task.id) else { continue };
            for (&process, living) in &standing.living {
                let Living { pid, ticks, place, serves, .. } = living.clone();
                let started = Started { pid, ticks, place: place.clone() };
                if self.driver.launcher.adopt(task, process, &started) {
                    let now = self.driver.clock.elapsed();
                    let troop = self.troop(task);
                    // It lives, and looks for its driver.
                    let due = now + patience;
                    troop.add(process, due, serves);
                    let adopted = true;
                    let kind = Kind::TaskStarted { process, pid, ticks, place, serves, adopted };
                    self.note(Some(&task.id), kind)?;
                }
            }
        }
        Ok(())
    }

    async fn until_nothing_runs(&mut self, inbox: &mut Receiver<Heard>) -> Result<(), ExecError> {
        loop {
            self.mind_itself();
            self.mind_the_user()?;
            for task in self.troops.keys().cloned().collect::<Vec<_>>() {
                self.lead(&task)?;
            }
            // A task may just have ended, so that others can start.
            if !self.stopping {
                self.start_what_can()?;
            }
            if self.troops.is_empty() {
                return Ok(());
            }
            self.have_copy_kept();
            if let Ok(Some(heard)) = timeout(LOOK_UP, inbox.recv()).await {
                self.hear(heard)?;
            }
            while let Ok(heard) = inbox.try_recv() {
                self.hear(heard)?;
            }
            for (process, how) in self.driver.launcher.ended() {
                self.conclude(process, how)?;
            }
            for (process, reason) in self.driver.launcher.delayed() {
                self.delay(process, reason)?;
            }
        }
    }

    /// While the driver was away, nobody could be heard.
    fn mind_itself(&mut self) {
        let now = self.driver.clock.elapsed();
        let away = now.saturating_sub(std::mem::replace(&mut self.looked_up, now));
        if away > AWAY {
            self.troops.values_mut().for_each(|troop| troop.crew.excuse(away));
        }
    }

    fn start_what_can(&mut self) -> Result<(), ExecError> {
        let plan = self.driver.plan;
        let tasks = &self.standing.tasks;
        let state = |id: &str| tasks.get(id).map_or(State::Waiting, |task| task.state);
        for task in startable(plan, state, self.driver.limits) {
            self.troop(task);
            // Who is here already need not be started.
            for (line, hello, out) in std::mem::take(&mut self.volunteers) {
                self.greet(line, hello, out)?;
            }
            self.lead(&task.id)?;
        }
        Ok(())
    }

    /// The processes of a task, which is under way from now on.
    fn troop(&mut self, task: &Task) -> &mut Troop {
        let processes = self.driver.processes.unwrap_or(task.processes).min(task.processes);
        let generation = self.standing.tasks.get(&task.id).map_or(0, |task| task.generation);
        let now = self.driver.clock.elapsed();
        self.troops.entry(task.id.clone()).or_insert_with(|| {
            let mut troop = Troop::new(task, processes, now);
            // Whoever is left of the last group is to halt, and so is whoever comes.
            if generation > 0 {
                troop.crew.generation = generation + 1;
                troop.reason = "another driver has taken over".into();
            }
            troop
        })
    }

    /// Stops tasks when the user asks: first in order, then, asked again or out of patience, at
    /// once.
    fn mind_the_user(&mut self) -> Result<(), ExecError> {
        let asked = self.driver.stop.load(Ordering::SeqCst);
        let now = self.driver.clock.elapsed();
        if asked > 0 && !self.stopping {
            self.stopping = true;
            for troop in self.troops.values_mut().filter(|t| t.crew.phase != Phase::Over) {
                troop.crew.stopping = true;
                troop.killing_at = Some(now + PATIENCE);
            }
            self.note(None, Kind::RunStopping {})?;
        }
        let is_due =
            |troop: &Troop| troop.killing_at.is_some_and(|deadline| asked > 1 || now > deadline);
        let due = self.troops.iter().filter(|(_, troop)| is_due(troop));
        let due = due.flat_map(|(task, t)| t.crew.members.keys().map(|p| (task.clone(), *p)));
        for (task, process) in due.collect::<Vec<_>>() {
            self.let_go(&task, process)?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<Ending, ExecError> {
        let plan = self.driver.plan;
        let stands = |task: &Task| self.standing.tasks.get(&task.id);
        let is = |task: &Task, state| stands(task).is_some_and(|task| task.state == state);
        if plan.tasks.iter().all(|task| is(task, State::Done)) {
            let report = self.write_report()?;
            self.note(None, Kind::RunDone {})?;
            return Ok(Ending::Done(Box::new(report)));
        }
        if let Some(failed) = plan.tasks.iter().find(|task| is(task, State::Failed)) {
            let why = stands(failed).and_then(|task| task.reason.clone()).unwrap_or_default();
            let (task, run) = (&failed.id, self.driver.run.id());
            let reason = format!("task `{task}` failed: {why}; see `trainyard logs {run} {task}`");
            self.note(None, Kind::RunFailed { reason: reason.clone() })?;
            return Ok(Ending::Failed(reason));
        }
        self.note(None, Kind::RunStopped { reason: "asked to stop".into() })?;
        Ok(Ending::Stopped)
    }

    fn write_report(&self) -> Result<Report, ExecError> {
        let run = self.driver.run;
        let mut report = Report::of(&run.id(), &run.path, &self.standing, self.driver.plan);
        report.state = State::Done;
        let text = serde_json::to_vec_pretty(&report).expect("a report is plain data");
        store::publish(&run.report(), |out| out.write_all(&text))?;
        Ok(report)
    }

    pub(crate) fn note(&mut self, task: Option<&str>, kind: Kind) -> Result<(), ExecError> {
        let event = self.log.append(task, kind)?;
        self.standing.take(&event);
        (self.driver.show)(&event);
        Ok(())
    }
}
