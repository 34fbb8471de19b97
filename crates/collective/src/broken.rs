//! Why a group cannot go on.

use thiserror::Error;

/// Why a group, or the forming of one, came to an end. After it, a group can only be dropped.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Broken {
    /// A newer generation was announced.
    #[error("a newer generation has begun; form its group")]
    Superseded,
    /// A process is gone.
    #[error("process {process} was lost: {problem}")]
    Lost {
        /// Its number in the layout.
        process: u32,
        /// How it was noticed.
        problem: String,
    },
    /// A process is there and cannot take part.
    #[error("process {process} cannot take part: {problem}")]
    Refused {
        /// Its number in the layout.
        process: u32,
        /// What does not fit.
        problem: String,
    },
    /// This process has not what it needs: memory, files.
    #[error("this process cannot take part: {problem}")]
    Unable {
        /// What the system says.
        problem: String,
    },
    /// The caller asked for something that makes no sense, or gave an operation up half way.
    #[error("a group was used wrongly: {problem}")]
    Misused {
        /// What.
        problem: String,
    },
}

impl Broken {
    pub(crate) fn lost(process: u32, problem: impl ToString) -> Broken {
        Broken::Lost { process, problem: problem.to_string() }
    }

    pub(crate) fn refused(process: u32, problem: impl ToString) -> Broken {
        Broken::Refused { process, problem: problem.to_string() }
    }

    pub(crate) fn unable(problem: impl ToString) -> Broken {
        Broken::Unable { problem: problem.to_string() }
    }

    pub(crate) fn misused(problem: impl ToString) -> Broken {
        Broken::Misused { problem: problem.to_string() }
    }
}
