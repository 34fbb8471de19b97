//! What every meeting of two processes has to keep to while a group is formed.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::arrivals::Introduction;
use crate::layout::{Digest, Seat};
use crate::{Broken, Layout};

/// How long the others may take to come.
const TIME: Duration = Duration::from_secs(10);

pub(crate) struct Forming {
    /// How this process introduces itself.
    pub(crate) me: Introduction,
    deadline: Instant,
}

impl Forming {
    /// Begins now.
    pub(crate) fn new(layout: &Layout) -> Forming {
        let me = Introduction {
            generation: layout.generation,
            process: layout.seats[layout.me].process,
            layout: layout.digest(),
        };
        Forming { me, deadline: Instant::now() + TIME }
    }

    /// Meets a process in time.
    pub(crate) async fn meet<T>(
        &self,
        seat: &Seat,
        meeting: impl Future<Output = Result<T, Broken>>,
    ) -> Result<T, Broken> {
        let late = || format!("it did not come within {} seconds", TIME.as_secs());
        let met = timeout_at(self.deadline, meeting).await;
        met.unwrap_or_else(|_| Err(Broken::lost(seat.process, late())))
    }

    /// Both must mean the same group.
    pub(crate) fn check(&self, seat: &Seat, theirs: &Digest) -> Result<(), Broken> {
        if *theirs == self.me.layout {
            return Ok(());
        }
        Err(Broken::refused(seat.process, "it was given another layout of the same generation"))
    }
}
