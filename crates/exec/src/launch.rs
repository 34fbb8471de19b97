//! How processes are started and ended. Locally they are processes of this machine; on a cluster they
//! will be pods, and in tests they are whatever speaks their language.

use plan::Task;

use crate::ExecError;

/// Starts processes and knows which of them have ended.
pub trait Launcher {
    /// Starts a process for a task. It will call the driver and give this number.
    fn start(&mut self, task: &Task, process: u32) -> Result<Started, ExecError>;

    /// Takes charge of a process that an earlier driver started. Whether it lives.
    fn adopt(&mut self, process: u32, started: Started) -> bool;

    /// Ends a process at once.
    fn kill(&mut self, process: u32);

    /// The processes that have ended since the last call, and how, as part of a sentence.
    fn ended(&mut self) -> Vec<(u32, String)>;
}

/// What the system calls a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its process id.
    pub pid: u32,
    /// When it started as the system counts, which tells it from a later one of the same id.
    pub ticks: Option<u64>,
}
