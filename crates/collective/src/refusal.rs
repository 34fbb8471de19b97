//! Why a connection did not come to be, and how the log is told without being flooded.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;

/// Why two processes do not talk. `who` is the other one, as `the peer at 10.0.0.7:9000`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// There is no connection.
    #[error("{who} cannot be reached: {problem}")]
    Unreachable {
        /// The other one.
        who: String,
        /// What the system says.
        problem: String,
    },
    /// The connection broke before both had proved who they are.
    #[error("{who} broke off before the connection was made: {problem}")]
    Torn {
        /// The other one.
        who: String,
        /// What the system says.
        problem: String,
    },
    /// It has another certificate than the one that was told.
    #[error("{who} has another certificate than expected; is it an older process of this run?")]
    Certificate {
        /// The other one.
        who: String,
    },
    /// It does not speak our protocol at all.
    #[error("{who} does not speak trainyard's protocol; check who uses this address")]
    Foreign {
        /// The other one.
        who: String,
    },
    /// It speaks our protocol of another version.
    #[error(
        "{who} speaks protocol {theirs}, this program {ours}: use the same version of trainyard everywhere"
    )]
    Version {
        /// The other one.
        who: String,
        /// The version that it speaks.
        theirs: u16,
        /// The version that we speak.
        ours: u16,
    },
    /// It does not know the secret of this run.
    #[error("{who} did not prove the run's secret; does it belong to another run?")]
    Secret {
        /// The other one.
        who: String,
    },
    /// It does not accept our proof.
    #[error("{who} does not accept this process' secret; does it belong to another run?")]
    Unwanted {
        /// The other one.
        who: String,
    },
    /// It said nothing for too long.
    #[error("{who} did not prove the run's secret within {seconds} seconds")]
    Silent {
        /// The other one.
        who: String,
        /// How long it had.
        seconds: u64,
    },
    /// It waited longest when there was no room for more.
    #[error("{who} had to make room: more than {limit} connections were waiting to be proved")]
    Crowded {
        /// The other one.
        who: String,
        /// How many may wait.
        limit: usize,
    },
}

/// How the owner of a door is told of those it refused.
pub(crate) type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// How many lines are told in one window of time.
const LINES: u32 = 20;
const WINDOW: Duration = Duration::from_secs(10);

/// Tells of refusals, one line each, but never more than a few in a while: somebody who knocks a
/// thousand times must not fill a disk.
pub(crate) struct Complaints {
    tell: Tell,
    since: Option<Instant>,
    told: u32,
    untold: u64,
}

impl Complaints {
    pub(crate) fn new(tell: Tell) -> Complaints {
        Complaints { tell, since: None, told: 0, untold: 0 }
    }

    pub(crate) fn add(&mut self, problem: &str) {
        let now = Instant::now();
        if self.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            if self.untold > 0 {
                (self.tell)(&format!("{} more connections were refused", self.untold));
            }
            *self =
                Complaints { tell: Arc::clone(&self.tell), since: Some(now), told: 0, untold: 0 };
        }
        if self.told < LINES {
            self.told += 1;
            (self.tell)(problem);
        } else {
            self.untold += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_told_in_few_lines() {
        let lines = Arc::new(Mutex::new(vec![]));
        let kept = Arc::clone(&lines);
        let mut complaints =
            Complaints::new(Arc::new(move |line| kept.lock().unwrap().push(line.to_owned())));
        for number in 0..1_000 {
            complaints.add(&format!("refused {number}"));
        }
        assert_eq!(lines.lock().unwrap().len(), LINES as usize);
        tokio::time::advance(WINDOW).await;
        complaints.add("refused again");
        let lines = lines.lock().unwrap();
        assert_eq!(lines[lines.len() - 2], "980 more connections were refused");
        assert_eq!(lines[lines.len() - 1], "refused again");
    }
}
