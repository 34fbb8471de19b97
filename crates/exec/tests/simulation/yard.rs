//! What the simulated machines, and the one who plays fate with them, know together.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use exec::Ending;
use tokio::sync::watch;
use train::{Event, Kind};

/// Clones are the same yard.
#[derive(Clone, Default)]
pub(crate) struct Yard(Arc<Mutex<Books>>);

/// What is written down.
#[derive(Default)]
pub(crate) struct Books {
    /// Machines of processes, by process id; each has one.
    pub(crate) machines: BTreeMap<u32, Machine>,
    /// What the driver asked for and was not done yet.
    pub(crate) wishes: Vec<Wish>,
    /// What the driver wrote down since it was last looked at.
    pub(crate) news: Vec<Kind>,
    /// How the driver ended, once it has.
    pub(crate) outcome: Option<Result<Ending, String>>,
    /// What time it is.
    pub(crate) now: Duration,
    /// Whether to tell what happens.
    pub(crate) aloud: bool,
}

/// A machine with one process.
pub(crate) struct Machine {
    pub(crate) state: State,
    /// The process's number, where it has one from the start.
    pub(crate) process: Option<u32>,
    pub(crate) address: Option<IpAddr>,
    /// Asks the process to leave.
    pub(crate) stop: watch::Sender<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It will start.
    Planned,
    Runs,
    /// Its process has come to its end.
    Over,
    /// Its process is gone, and connections to it are refused.
    Gone,
    /// The machine itself is gone, and nobody refuses anything.
    Vanished,
}

/// What a driver asks for.
pub(crate) enum Wish {
    Start(u32),
    Kill(u32),
}

impl Yard {
    pub(crate) fn new(aloud: bool) -> Self {
        let yard = Yard::default();
        yard.books().aloud = aloud;
        yard
    }

    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }

    /// A machine for a process: its process id.
    pub(crate) fn plan(&self, process: Option<u32>) -> u32 {
        let mut books = self.books();
        let pid = 100 + books.machines.len() as u32;
        let (stop, _) = watch::channel(false);
        let state = State::Planned;
        books.machines.insert(pid, Machine { state, process, address: None, stop });
        pid
    }

    /// Takes note that a process has come to its end.
    pub(crate) fn is_over(&self, pid: u32) {
        if let Some(machine) = self.books().machines.get_mut(&pid)
            && machine.state == State::Runs
        {
            machine.state = State::Over;
        }
    }

    /// Whether a process lives, or will.
    pub(crate) fn lives(&self, pid: u32) -> bool {
        self.books().machines.get(&pid).is_some_and(Machine::lives)
    }

    /// Whether whoever connects there is refused.
    pub(crate) fn refuses(&self, address: IpAddr) -> bool {
        let books = self.books();
        let mut machines = books.machines.values();
        machines.any(|machine| machine.address == Some(address) && machine.state == State::Gone)
    }

    /// Takes note of an event.
    pub(crate) fn show(&self, event: &Event) {
        self.books().news.push(event.kind.clone());
        let task = event.task.as_deref().unwrap_or("run");
        if let Some(text) = train::describe_kind(&event.kind) {
            self.tell(&format!("    {task}: {text}"));
        }
    }

    /// Tells what happens, where somebody wants to hear it.
    pub(crate) fn tell(&self, text: &str) {
        let books = self.books();
        if books.aloud {
            println!("{:8.3} {text}", books.now.as_secs_f64());
        }
    }
}

impl Machine {
    pub(crate) fn lives(&self) -> bool {
        matches!(self.state, State::Planned | State::Runs | State::Over)
    }
}
