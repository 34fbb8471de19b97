//! What a process is told.

use std::path::PathBuf;

use engine::{Cpu, Isa};
use plan::Task;
use serde::{Deserialize, Serialize};
use store::RunDir;

/// Everything a process is told. It learns what it is from here alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// What to do.
    pub task: Task,
    /// The run directory.
    pub run: PathBuf,
    /// Which process of the run it is, counted from 0.
    pub process: u32,
    /// Whether it is a server of parameters rather than a worker.
    #[serde(default)]
    pub serves: bool,
    /// What it may use of the machine.
    pub surroundings: Surroundings,
}

/// What processes may use of the machine they run on. None of it changes a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The name of the instruction set to compute with: the best there is unless given.
    pub isa: Option<String>,
    /// Where downloads are kept.
    pub cache: PathBuf,
    /// Whether nothing may be fetched.
    pub offline: bool,
}

/// Whether a task came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Performed {
    /// It did.
    Done,
    /// It was asked to leave before; everything so far is saved.
    Stopped,
}

impl Surroundings {
    /// The instruction set to compute with. A name that this machine does not have, as after a move
    /// to another, means the best it has: the results are the same.
    pub fn isa(&self) -> Isa {
        let named = |isa: &Isa| self.isa.as_deref() == Some(isa.name());
        Isa::available().into_iter().find(named).unwrap_or_else(Isa::detect)
    }
}

impl Orders {
    /// The run directory with its layout.
    pub(crate) fn run_dir(&self) -> RunDir {
        RunDir::at(&self.run)
    }

    /// The processor this task computes on.
    pub(crate) fn cpu(&self) -> Cpu {
        Cpu::new(self.task.resources.threads, self.surroundings.isa())
    }

    /// A name that no other process of this run has.
    pub(crate) fn process_name(&self, pid: u32) -> String {
        format!("{}-{pid}", self.process)
    }
}
