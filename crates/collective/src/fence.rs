//! The newest generation that was announced, which ends all older ones.

use tokio::sync::watch;

use crate::Broken;

/// What a group of one generation looks at while it waits.
#[derive(Clone)]
pub(crate) struct Fence {
    generation: u64,
    newest: watch::Receiver<u64>,
}

impl Fence {
    pub(crate) fn new(generation: u64, newest: watch::Receiver<u64>) -> Fence {
        Fence { generation, newest }
    }

    /// A fence that nobody ever moves.
    pub(crate) fn none() -> Fence {
        Fence::new(0, watch::channel(0).1)
    }

    /// Whether a newer generation was announced.
    pub(crate) fn check(&self) -> Result<(), Broken> {
        if *self.newest.borrow() > self.generation { Err(Broken::Superseded) } else { Ok(()) }
    }

    /// The reason for an error: those who leave for a newer generation seem lost to the others, who
    /// may hear of the loss first.
    pub(crate) fn explain(&self, broken: Broken) -> Broken {
        match broken {
            Broken::Lost { .. } => self.check().err().unwrap_or(broken),
            _ => broken,
        }
    }

    /// Does the work, until a newer generation is announced.
    pub(crate) async fn guard<T>(
        &self,
        work: impl Future<Output = Result<T, Broken>>,
    ) -> Result<T, Broken> {
        let mut newest = self.newest.clone();
        let superseded = async {
            // Where nobody can announce any more, the work has all the time it needs.
            if newest.wait_for(|newest| *newest > self.generation).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = superseded => Err(Broken::Superseded),
            outcome = work => outcome.map_err(|broken| self.explain(broken)),
        }
    }
}
