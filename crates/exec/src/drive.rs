//! The driver's loop: start what can start, take note of what is said, restart what died, stop in
//! order when asked to, and end with a report.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use plan::{Plan, Task};
use store::RunDir;
use train::{Clock, Event, EventLog, Kind, Orders, Report, Standing, State};

use crate::process::{Message, Process};
use crate::schedule::startable;
use crate::{ExecError, Launcher, Limits};

/// How often in a row a task's process may die without getting anywhere before the task has failed.
const MOST_DEATHS: u32 = 5;
/// How long a process may take to save and leave.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many messages of tasks may wait; then the tasks do.
const QUEUE: usize = 1024;
/// How often the driver looks up from its messages.
const LOOK_UP: Duration = Duration::from_millis(100);

/// What a driver drives, and with what.
pub struct Driver<'a> {
    /// The tasks.
    pub plan: &'a Plan,
    /// Where everything goes.
    pub run: &'a RunDir,
    /// How processes are started.
    pub launcher: Launcher,
    /// What the machine can give.
    pub limits: Limits,
    /// The time.
    pub clock: Clock,
    /// How often the user asked to stop: once means in order, twice means now.
    pub stop: &'a AtomicUsize,
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
pub fn drive(driver: Driver<'_>) -> Result<Ending, ExecError> {
    let (log, events) = EventLog::open(&driver.run.events(), driver.clock.clone())?;
    let standing = Standing::of(&events);
    let (sender, inbox) = sync_channel(QUEUE);
    let resumed = !events.is_empty();
    let mut drive = Drive {
        driver,
        log,
        standing,
        processes: BTreeMap::new(),
        deaths: BTreeMap::new(),
        sender,
        killing_at: None,
    };
    drive.note(
        None,
        Kind::RunStarted {
            run: drive.driver.run.id(),
            trainyard: env!("CARGO_PKG_VERSION").into(),
            resumed,
        },
    )?;
    let ended = drive.until_nothing_runs(&inbox);
    if let Err(error) = &ended {
        // Processes notice that their driver is gone, save and leave. If the log cannot be written,
        // the error itself is all there is.
        let _ = drive.note(None, Kind::RunFailed { reason: error.to_string() });
    }
    ended?;
    drive.end()
}

struct Drive<'a> {
    driver: Driver<'a>,
    log: EventLog,
    standing: Standing,
    processes: BTreeMap<String, Process>,
    /// How often each task's processes died since one of them last saved something.
    deaths: BTreeMap<String, u32>,
    sender: SyncSender<Message>,
    /// When processes that were asked to stop are killed.
    killing_at: Option<Duration>,
}

impl Drive<'_> {
    fn until_nothing_runs(&mut self, inbox: &Receiver<Message>) -> Result<(), ExecError> {
        loop {
            self.mind_the_user()?;
            if self.driver.stop.load(Ordering::SeqCst) == 0 {
                self.start_what_can()?;
            }
            if self.processes.is_empty() {
                return Ok(());
            }
            match inbox.recv_timeout(LOOK_UP) {
                Ok(Message::Said(task, kind)) => self.hear(&task, kind)?,
                Ok(Message::Garbled(task, line)) => self.dismiss(&task, &line),
                Ok(Message::Silent(task)) => self.bury(&task)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
            }
        }
    }

    fn start_what_can(&mut self) -> Result<(), ExecError> {
        let plan = self.driver.plan;
        let tasks = &self.standing.tasks;
        let state = |id: &str| tasks.get(id).map_or(State::Waiting, |task| task.state);
        for task in startable(plan, state, self.driver.limits) {
            self.start(task)?;
        }
        Ok(())
    }

    fn start(&mut self, task: &Task) -> Result<(), ExecError> {
        let process = self.standing.tasks.get(&task.id).map_or(0, |task| task.processes);
        let orders = Orders {
            task: task.clone(),
            run: self.driver.run.path.clone(),
            process,
            surroundings: self.driver.surroundings.clone(),
        };
        let started = self.driver.launcher.start(&orders, self.driver.run, self.sender.clone())?;
        let pid = started.pid();
        self.processes.insert(task.id.clone(), started);
        self.note(Some(&task.id), Kind::TaskStarted { process, pid })
    }

    fn hear(&mut self, task: &str, kind: Kind) -> Result<(), ExecError> {
        let is_farewell = matches!(
            kind,
            Kind::TaskDone { .. } | Kind::TaskFailed { .. } | Kind::TaskStopped { .. }
        );
        if matches!(kind, Kind::Checkpoint { .. }) {
            self.deaths.remove(task);
        }
        match self.processes.get_mut(task) {
            // Held back until the process has ended: its successor must not start before.
            Some(process) if is_farewell => process.farewell = Some(kind),
            Some(_) => self.note(Some(task), kind)?,
            None => {}
        }
        Ok(())
    }

    /// Ends a process that does not speak our language.
    fn dismiss(&mut self, task: &str, line: &str) {
        if let Some(process) = self.processes.get_mut(task) {
            let start: String = line.chars().take(80).collect();
            let reason = format!("its process said something that is not an event: {start}");
            process.farewell = Some(Kind::TaskFailed { reason });
            process.kill();
        }
    }

    fn bury(&mut self, task: &str) -> Result<(), ExecError> {
        let Some(mut process) = self.processes.remove(task) else {
            return Ok(());
        };
        let farewell = process.farewell.take();
        let ending = process.wait();
        let kind = match farewell {
            // Somebody else asked it to leave, as a cluster does that wants its machine back.
            Some(Kind::TaskStopped { .. }) if self.killing_at.is_none() => {
                return self.restart(task, "its process was asked to leave, and saved".into());
            }
            Some(kind) => kind,
            None if self.killing_at.is_some() => Kind::TaskStopped { saved: false },
            None if self.count_death(task) < MOST_DEATHS => return self.restart(task, ending),
            None => Kind::TaskFailed { reason: format!("{ending}, {MOST_DEATHS} times in a row") },
        };
        self.note(Some(task), kind)
    }

    fn count_death(&mut self, task: &str) -> u32 {
        let deaths = self.deaths.entry(task.to_owned()).or_default();
        *deaths += 1;
        *deaths
    }

    fn restart(&mut self, task: &str, reason: String) -> Result<(), ExecError> {
        self.note(Some(task), Kind::TaskRestarted { reason })?;
        let task = self.driver.plan.tasks.iter().find(|other| other.id == task);
        self.start(task.expect("only tasks of the plan are started"))
    }

    /// Stops processes when the user asks: first in order, then, asked again or out of patience,
    /// at once.
    fn mind_the_user(&mut self) -> Result<(), ExecError> {
        let asked = self.driver.stop.load(Ordering::SeqCst);
        let now = self.driver.clock.elapsed();
        match self.killing_at {
            None if asked > 0 => {
                self.killing_at = Some(now + PATIENCE);
                self.processes.values().for_each(Process::ask_to_stop);
                self.note(None, Kind::RunStopping {})?;
            }
            Some(deadline) if asked > 1 || now > deadline => {
                self.processes.values().for_each(Process::kill);
            }
            _ => {}
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
        let mut report =
            Report::of(&run.id(), &run.path, &self.standing, self.driver.plan.workers());
        report.state = State::Done;
        let text = serde_json::to_vec_pretty(&report).expect("a report is plain data");
        store::publish(&run.report(), |out| out.write_all(&text))?;
        Ok(report)
    }

    fn note(&mut self, task: Option<&str>, kind: Kind) -> Result<(), ExecError> {
        let event = self.log.append(task, kind)?;
        self.standing.take(&event);
        (self.driver.show)(&event);
        Ok(())
    }
}
