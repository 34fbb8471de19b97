//! What can go wrong while training, and what to do about it.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a task could not go on.
#[derive(Debug, Error)]
pub enum Error {
    /// The data does not fit or cannot be read.
    #[error(transparent)]
    Data(#[from] data::DataError),
    /// The network does not fit or its file cannot be read.
    #[error(transparent)]
    Model(#[from] model::Error),
    /// The engine cannot compute the network.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
    /// A folder of the run cannot be used.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// A file of the run cannot be used.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file of the run is not what we wrote.
    #[error("{path}: {problem}")]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The loss left the numbers.
    #[error(
        "the loss is {loss} at step {step}: training diverged; lower `learning_rate` or set `clip`"
    )]
    Diverged {
        /// Steps done before.
        step: u64,
        /// Infinity or not a number.
        loss: f64,
    },
    /// A model answers with something that is not a number.
    #[error(
        "the model's loss is not a number: training diverged; train again with a lower \
         `learning_rate`, or set `clip`"
    )]
    NotANumber,
    /// The group cannot go on. The driver will form another.
    #[error(transparent)]
    Broken(#[from] collective::Broken),
    /// What servers hold could not be had when it was to be saved.
    #[error("what the servers hold is not saved, the last checkpoint stands: {problem}")]
    Unsaved {
        /// Why not.
        problem: String,
    },
    /// The orders cannot be carried out as they are.
    #[error("{0}")]
    Orders(String),
}

impl Error {
    pub(crate) fn io(path: &Path, error: std::io::Error) -> Self {
        Error::Io { path: path.into(), error }
    }
}
