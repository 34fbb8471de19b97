//! The one place that reads a clock. Everything else is handed a [`Clock`], so that tests and
//! simulations can bring their own time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from. Clones share it.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System(Instant),
    /// The time of the asynchronous runtime, which a simulation makes itself, and how much of it a
    /// move of work takes there.
    Runtime(tokio::time::Instant, Duration),
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's clock; `elapsed` counts from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub fn system() -> Self {
        Clock(Source::System(Instant::now()))
    }

    /// The time of the asynchronous runtime that this is called in, which may be a simulation's;
    /// `elapsed` counts from now.
    pub fn of_runtime() -> Self {
        Clock::simulated(Duration::ZERO)
    }

    /// The same for a process of a simulation. Computing takes none of a simulation's time, so each
    /// move of work is made to take this long.
    pub fn simulated(a_move: Duration) -> Self {
        Clock(Source::Runtime(tokio::time::Instant::now(), a_move))
    }

    /// Whether time is a simulation's, in which other threads have no place.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.0, Source::Runtime(..))
    }

    /// Takes the time of a move of work where that has to be made.
    pub(crate) async fn work(&self) {
        if let Source::Runtime(_, a_move) = self.0
            && !a_move.is_zero()
        {
            tokio::time::sleep(a_move).await;
        }
    }

    /// A clock that stands still until it is told to [`advance`](Clock::advance).
    pub fn manual() -> Self {
        Clock(Source::Manual(Arc::default()))
    }

    /// Time since the clock was made. It never goes back.
    pub fn elapsed(&self) -> Duration {
        match &self.0 {
            Source::System(start) => start.elapsed(),
            Source::Runtime(start, _) => start.elapsed(),
            Source::Manual(nanos) => Duration::from_nanos(nanos.load(Ordering::SeqCst)),
        }
    }

    /// Milliseconds since 1970, for people and for the event log.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub fn unix_ms(&self) -> u64 {
        let since_1970 = match &self.0 {
            Source::System(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Source::Runtime(..) | Source::Manual(_) => self.elapsed(),
        };
        u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
    }

    /// Moves a manual clock on.
    ///
    /// # Panics
    /// On the machine's clock.
    pub fn advance(&self, by: Duration) {
        let Source::Manual(nanos) = &self.0 else { panic!("only a manual clock can be advanced") };
        nanos.fetch_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}
