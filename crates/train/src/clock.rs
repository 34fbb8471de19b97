//! The one place that reads a clock. Everything else is handed a [`Clock`], so that tests and
//! simulations can bring their own time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// How much of a processor has been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// By the thread that asks.
    pub(crate) thread: Duration,
    /// By all threads of its process together.
    pub(crate) process: Duration,
}

impl Used {
    pub(crate) fn since(self, earlier: Used) -> Used {
        Used {
            thread: self.thread.saturating_sub(earlier.thread),
            process: self.process.saturating_sub(earlier.process),
        }
    }
}

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

    /// How much of a processor was used up to now: what passes while others use it does not count. Where
    /// time is not the machine's, whoever works has a processor to itself.
    pub(crate) fn used(&self) -> Used {
        let read = |id| Duration::try_from(clock_gettime(id)).unwrap_or_default();
        match &self.0 {
            Source::System(_) => Used {
                thread: read(ClockId::ThreadCPUTime),
                process: read(ClockId::ProcessCPUTime),
            },
            Source::Runtime(..) | Source::Manual(_) => {
                Used { thread: self.elapsed(), process: self.elapsed() }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sleeps_uses_no_processor() {
        let clock = Clock::system();
        let before = clock.used();
        std::thread::sleep(Duration::from_millis(40));
        let used = clock.used().since(before);
        assert!(used.thread < Duration::from_millis(30), "{used:?}");
        assert!(clock.used().process >= before.thread, "all of them is no less than one");
    }

    #[test]
    fn where_time_is_made_work_takes_all_of_it() {
        let clock = Clock::manual();
        let before = clock.used();
        clock.advance(Duration::from_secs(3));
        assert_eq!(clock.used().since(before).thread, Duration::from_secs(3));
    }
}
