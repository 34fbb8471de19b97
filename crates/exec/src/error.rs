//! What can keep a driver from driving.

use std::path::PathBuf;

use thiserror::Error;

/// Why a run could not be driven. What goes wrong inside a task is not here: it is an event.
#[derive(Debug, Error)]
pub enum ExecError {
    /// The cluster does not do what it is asked.
    #[error(transparent)]
    Cluster(#[from] crate::kubernetes::ClusterError),
    /// The run's events cannot be written or read.
    #[error(transparent)]
    Train(#[from] train::Error),
    /// The run directory cannot be used.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// Processes could not call.
    #[error("cannot listen for the run's processes: {0}")]
    Door(std::io::Error),
    /// A process cannot be started.
    #[error("cannot start a process for task `{task}` with {program}: {error}")]
    Start {
        /// The task.
        task: String,
        /// What was to be started.
        program: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A task's log cannot be written.
    #[error("{path}: {error}")]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}
