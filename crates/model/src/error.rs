//! What can be wrong with a network or its file.

use thiserror::Error;

/// Why a model cannot be made, read, written or combined with others.
#[derive(Debug, Error)]
pub enum Error {
    /// The layers do not make a network.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The network is one, but not for this data.
    #[error("{0}")]
    Unfit(String),
    /// The file does not hold a model that can be used.
    #[error("{file}: {problem}")]
    File {
        /// Which file.
        file: String,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// Models that are not alike cannot be combined.
    #[error("{from} cannot {doing} with {first}: {difference}")]
    Different {
        /// The first model.
        first: String,
        /// The one that differs from it.
        from: String,
        /// What they were to do together.
        doing: &'static str,
        /// The first difference.
        difference: String,
    },
    /// There is nothing to average.
    #[error("{0}")]
    NothingToAverage(&'static str),
    /// No ensemble is that large, or so small.
    #[error("an ensemble has 1 to {most} members, not {world}")]
    Members {
        /// How many there were to be.
        world: usize,
        /// How many there can be.
        most: usize,
    },
}

/// Why layers do not make a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("layer {number} ({name}): {problem}")]
pub struct GraphError {
    /// The layer's place, counted from 1 as a reader counts.
    pub number: usize,
    /// The layer's name.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Why a file is no model to us.
#[derive(Debug, Error)]
pub enum FileProblem {
    /// The system does not give it out.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is another kind of file.
    #[error("it is not a Trainyard model: {0}")]
    NotAModel(String),
    /// It is a model, with something in it that we do not have.
    #[error("{0}")]
    Unsupported(String),
    /// A newer version wrote it.
    #[error(
        "it has version {found}, and this Trainyard knows versions up to {known}; use a newer Trainyard"
    )]
    Newer {
        /// The file's version.
        found: u64,
        /// The newest we know.
        known: u32,
    },
    /// It began as a model, but something happened to it.
    #[error("it is damaged: {0}; fetch or write it again")]
    Damaged(String),
    /// It is not there, and something else counts on it.
    #[error("there is no such file; {0}")]
    Missing(String),
    /// It is there, and is not what was to be published.
    #[error("another model is there; choose another folder")]
    Taken,
    /// It belongs to an ensemble that was published with other weights.
    #[error(
        "it is of an ensemble with other weights, and what is published stays; choose another folder"
    )]
    Sealed,
    /// Its layers do not make a network.
    #[error(transparent)]
    Graph(#[from] GraphError),
}
