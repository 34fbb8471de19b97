//! How processes are started and ended. Locally they are processes of this machine; on a cluster they
//! will be pods, and in tests they are whatever speaks their language.

use plan::Task;

use crate::ExecError;

/// Starts processes and knows which of them have ended.
pub trait Launcher {
    /// Starts a process for a task, maybe as a server there. It will call the driver and give this
    /// number, or the place where it was started.
    fn start(&mut self, task: &Task, process: u32, serves: bool) -> Result<Started, ExecError>;

    /// Takes charge of a process of a task that an earlier driver started. Whether it lives.
    fn adopt(&mut self, task: &Task, process: u32, started: &Started) -> bool;

    /// Ends a process at once.
    fn kill(&mut self, process: u32);

    /// The processes that have ended since the last call, and how, as part of a sentence.
    fn ended(&mut self) -> Vec<(u32, String)>;

    /// The process that was started in a place and has not ended.
    fn at(&self, _place: &str) -> Option<u32> {
        None
    }

    /// The processes of which it is known since the last call that they cannot start yet, and what
    /// each waits for.
    fn delayed(&mut self) -> Vec<(u32, String)> {
        vec![]
    }

    /// Whether a process is on the driver's own machine.
    fn is_near(&self, _process: u32) -> bool {
        false
    }

    /// A task has ended: whatever was made for it is no longer needed.
    fn close(&mut self, _task: &str) {}
}

/// What the system calls a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its process id.
    pub pid: u32,
    /// When it started as the system counts, which tells it from a later one of the same id.
    pub ticks: Option<u64>,
    /// Where it was started, if not on this machine.
    pub place: Option<String>,
}
