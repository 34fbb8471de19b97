//! Why a group cannot go on.

use thiserror::Error;

use crate::Refusal;

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

    /// What it means for a group that a process was not reached. One that breaks off at our proof most
    /// likely ended then: it was told to us as a process of this run.
    pub(crate) fn of_refusal(process: u32, refusal: &Refusal) -> Broken {
        match refusal {
            Refusal::Unreachable { .. } | Refusal::Torn { .. } | Refusal::Unwanted { .. } => {
                Broken::lost(process, refusal)
            }
            _ => Broken::refused(process, refusal),
        }
    }

    pub(crate) fn unable(problem: impl ToString) -> Broken {
        Broken::Unable { problem: problem.to_string() }
    }

    pub(crate) fn misused(problem: impl ToString) -> Broken {
        Broken::Misused { problem: problem.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_breaks_off_is_lost_and_who_is_another_is_refused() {
        let who = "the peer".to_owned();
        let unwanted = Broken::of_refusal(3, &Refusal::Unwanted { who: who.clone() });
        assert!(matches!(unwanted, Broken::Lost { process: 3, .. }), "{unwanted}");
        let foreign = Broken::of_refusal(3, &Refusal::Foreign { who });
        assert!(matches!(foreign, Broken::Refused { process: 3, .. }), "{foreign}");
    }
}
