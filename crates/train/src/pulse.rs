//! The pulse of a process: what its heartbeats tell of its work, readable from another thread while
//! it computes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use collective::{Broken, Group, Meter, Note, Part, Sum};

use crate::Clock;
use crate::clock::Used;
use crate::message::Beat;
use crate::servers::Servers;

/// Written by the one that works, read by the line to the driver.
#[derive(Debug, Default)]
pub struct Pulse {
    moves: AtomicU64,
    step: AtomicU64,
    waits: AtomicBool,
    waited_ns: AtomicU64,
    /// What was used of a processor meanwhile, by this thread and by all.
    used_ns: [AtomicU64; 2],
    /// Counts what is exchanged with others.
    meter: Meter,
    /// Written when a group ends, never while a step is under way.
    trained: Mutex<Trained>,
}

/// How a process has spent its time in groups, and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trained {
    /// How long it trained.
    pub(crate) time: Duration,
    /// How much of that it waited for others, the exchange itself included.
    pub(crate) waited: Duration,
    /// How long it would have computed with its cores to itself.
    pub(crate) computed: Duration,
    /// How many samples it trained on.
    pub(crate) samples: u64,
    /// What its last group exchanged numbers through.
    pub(crate) link: &'static str,
}

impl Pulse {
    /// The pulse of a process whose exchanges are counted.
    pub(crate) fn new(meter: Meter) -> Self {
        Pulse { meter, ..Pulse::default() }
    }

    /// Takes note that work went on, up to a step.
    pub(crate) fn moved(&self, step: u64) {
        self.step.store(step, Ordering::Relaxed);
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// How many steps are done.
    pub fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// How work stands.
    pub(crate) fn beat(&self) -> Beat {
        Beat {
            moves: self.moves.load(Ordering::Relaxed),
            step: self.step.load(Ordering::Relaxed),
            waits: self.waits.load(Ordering::Relaxed),
            exchanged: self.meter.read(),
            waited_seconds: self.waited().as_secs_f64(),
        }
    }

    /// How long others were waited for, the exchange itself included.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited_ns.load(Ordering::Relaxed))
    }

    /// How much of a processor was used while others were waited for: to exchange, or in vain.
    pub(crate) fn used_waiting(&self) -> Used {
        let [thread, process] = &self.used_ns;
        let read = |nanos: &AtomicU64| Duration::from_nanos(nanos.load(Ordering::Relaxed));
        Used { thread: read(thread), process: read(process) }
    }

    /// Takes note of what was done in a group.
    pub(crate) fn spent(&self, spent: Trained) {
        let mut all = self.trained.lock().unwrap_or_else(PoisonError::into_inner);
        all.time += spent.time;
        all.waited += spent.waited;
        all.computed += spent.computed;
        all.samples += spent.samples;
        all.link = spent.link;
    }

    /// What was done in all groups.
    pub(crate) fn trained(&self) -> Trained {
        *self.trained.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group, and the pulse that tells while it is waited for.
pub(crate) struct Exchange<'a> {
    pub(crate) group: &'a mut Group,
    pub(crate) pulse: &'a Pulse,
    pub(crate) clock: &'a Clock,
    /// The servers that hold the weights, if any do.
    pub(crate) servers: Option<Servers>,
    /// Where lines for people go.
    pub(crate) log: &'a (dyn Fn(&str) + Send + Sync),
}

impl<'a> Exchange<'a> {
    /// The lines to the servers; the time until the second is dropped counts as waiting.
    pub(crate) fn wait_for_servers(&mut self) -> Result<(&mut Servers, Waiting<'a>), Broken> {
        let waiting = self.wait();
        let problem = || Broken::Misused { problem: "there are no servers in this group".into() };
        Ok((self.servers.as_mut().ok_or_else(problem)?, waiting))
    }

    /// The time until this is dropped counts as waiting. One at a time: the first that is dropped ends
    /// it for all.
    pub(crate) fn wait(&self) -> Waiting<'a> {
        Waiting::begin(self.pulse, self.clock)
    }

    pub(crate) async fn all_reduce(&mut self, parts: &[Part<'_>]) -> Result<Sum<'_>, Broken> {
        let _waiting = self.wait();
        self.group.all_reduce(parts).await
    }

    pub(crate) async fn gather(&mut self, notes: &[Note]) -> Result<&[Note], Broken> {
        let _waiting = self.wait();
        self.group.gather(notes).await
    }

    pub(crate) async fn broadcast(
        &mut self,
        from: usize,
        values: &mut [f32],
    ) -> Result<(), Broken> {
        let _waiting = self.wait();
        self.group.broadcast(from, values).await
    }

    pub(crate) async fn pass(
        &mut self,
        from: usize,
        to: usize,
        values: &mut [f32],
    ) -> Result<(), Broken> {
        let _waiting = self.wait();
        self.group.pass(from, to, values).await
    }
}

/// Counts the time until it is dropped.
pub(crate) struct Waiting<'a> {
    pulse: &'a Pulse,
    clock: &'a Clock,
    since: (Duration, Used),
}

impl<'a> Waiting<'a> {
    fn begin(pulse: &'a Pulse, clock: &'a Clock) -> Self {
        pulse.waits.store(true, Ordering::Relaxed);
        Waiting { pulse, clock, since: (clock.elapsed(), clock.used()) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let add = |to: &AtomicU64, time: Duration| {
            to.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        };
        let (since, used) = self.since;
        add(&self.pulse.waited_ns, self.clock.elapsed().saturating_sub(since));
        let used = self.clock.used().since(used);
        add(&self.pulse.used_ns[0], used.thread);
        add(&self.pulse.used_ns[1], used.process);
        // Through memory, what is exchanged is counted when it is whole.
        self.pulse.meter.count(1);
        self.pulse.waits.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_while_others_are_waited_for_is_told_apart() {
        let (pulse, clock) = (Pulse::default(), Clock::manual());
        clock.advance(Duration::from_secs(5));
        for seconds in [1, 2] {
            let waiting = Waiting::begin(&pulse, &clock);
            clock.advance(Duration::from_secs(seconds));
            drop(waiting);
            clock.advance(Duration::from_secs(7));
        }
        let three = Duration::from_secs(3);
        assert_eq!(pulse.waited(), three);
        assert_eq!(pulse.used_waiting(), Used { thread: three, process: three });
    }
}
