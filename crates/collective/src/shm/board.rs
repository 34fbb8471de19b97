//! How processes wait for each other in shared memory.
//!
//! A **signal** is a number that one seat counts up and others wait for. Who waits looks at it for a
//! while, since the other one is often as good as there; then it sleeps, and the one who counts wakes
//! it. It never sleeps long at a time: it looks whether a newer generation has begun and whether
//! everyone is still there, and lets the thread's other tasks run. Looking keeps a core busy, so it
//! would hold up another seat that is on the same one: every seat says which core it is on, and where
//! two share one, they sleep at once.
//!
//! **Leaving.** A seat that leaves says so, and is missed by those who wait for it. When it leaves in
//! the middle of an operation its values may change from then on, so whatever others work out in this
//! operation is void. Hence it also says which barrier it was through with last, and everyone looks
//! for that after every barrier. So a process that wakes up late, in a generation that is over, finds
//! the others' signals all there, and yet learns that the sum is void.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, fence};

use rustix::thread::futex::{self, Timespec};
use rustix::thread::sched_getcpu;

use super::areas::{Areas, SignalPlace};
use super::segment::Segment;
use crate::fence::Fence;
use crate::group::Note;
use crate::{Broken, Layout};

/// Looks before a wait sleeps: about a millisecond. Two that compute as much are seldom further apart, and
/// waking a sleeper costs a tenth of that on some machines.
const LOOKS: u32 = 40_000;
/// Looks before it is asked who else is on this core.
const FIRST_LOOKS: u32 = 40;
/// The longest sleep.
const SLEEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// What a seat says of itself.
const PRESENT: u32 = 0;
const LEFT: u32 = 1;

/// What all seats look at.
pub(super) struct Board {
    pub(super) segment: Arc<Segment>,
    pub(super) areas: Areas,
    pub(super) me: usize,
    /// The seats that host ranks: they wait for each other, each adds up a portion.
    pub(super) owners: Vec<usize>,
    processes: Vec<u32>,
}

/// A number that others wait for.
struct Signal<'a> {
    word: &'a AtomicU32,
    sleepers: &'a AtomicU32,
}

impl Signal<'_> {
    fn raise(&self, number: u32) {
        self.word.store(number, SeqCst);
        if self.sleepers.load(SeqCst) > 0 {
            // There is nobody to tell if it fails; the others look again soon.
            let _ = futex::wake(self.word, futex::Flags::empty(), i32::MAX as u32);
        }
    }

    fn has_reached(&self, number: u32) -> bool {
        is_at_least(self.word.load(Acquire), number)
    }

    /// Sleeps until the number is counted up, or a while.
    fn sleep(&self, number: u32) {
        self.sleepers.fetch_add(1, SeqCst);
        // Whoever counts now either sees this sleeper or is seen here.
        let now = self.word.load(SeqCst);
        if !is_at_least(now, number) {
            // However it ends, the caller looks again.
            let _ = futex::wait(self.word, futex::Flags::empty(), now, Some(&SLEEP));
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }
}

/// Numbers go round, and are never far apart.
fn is_at_least(now: u32, number: u32) -> bool {
    now.wrapping_sub(number).cast_signed() >= 0
}

impl Board {
    pub(super) fn new(segment: Segment, areas: Areas, layout: &Layout) -> Board {
        Board {
            segment: Arc::new(segment),
            areas,
            me: layout.me,
            owners: layout.owners(),
            processes: layout.seats.iter().map(|seat| seat.process).collect(),
        }
    }

    pub(super) fn seats(&self) -> usize {
        self.processes.len()
    }

    pub(super) fn process(&self, seat: usize) -> u32 {
        self.processes[seat]
    }

    fn signal(&self, place: SignalPlace) -> Signal<'_> {
        let segment = &self.segment;
        Signal { word: segment.word(place.word), sleepers: segment.word(place.sleepers) }
    }

    pub(super) fn raise(&self, place: SignalPlace, number: u32) {
        self.signal(place).raise(number);
    }

    /// Waits until a seat has counted its signal up to a number.
    pub(super) async fn wait(
        &self,
        seat: usize,
        place: SignalPlace,
        number: u32,
        fence: &Fence,
    ) -> Result<(), Broken> {
        let signal = self.signal(place);
        if self.looks_reached(&signal, number) {
            return Ok(());
        }
        loop {
            fence.check()?;
            let has_left = self.has_left(seat);
            if signal.has_reached(number) {
                return Ok(());
            }
            if has_left {
                return Err(self.lost(seat));
            }
            signal.sleep(number);
            if !signal.has_reached(number) {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits until every seat with ranks has reached this barrier. None of them has left without having done its part.
    pub(super) async fn barrier(&self, number: u32, fence: &Fence) -> Result<(), Broken> {
        self.raise(self.areas.arrived(self.me), number);
        for &seat in self.owners.iter().filter(|seat| **seat != self.me) {
            let signal = self.signal(self.areas.arrived(seat));
            while !self.looks_reached(&signal, number) {
                fence.check()?;
                self.check_all(number)?;
                signal.sleep(number);
                if !signal.has_reached(number) {
                    tokio::task::yield_now().await;
                }
            }
        }
        self.check_all(number)
    }

    /// Looks at a signal for a while.
    fn looks_reached(&self, signal: &Signal<'_>, number: u32) -> bool {
        for look in 0..LOOKS {
            if signal.has_reached(number) {
                return true;
            }
            if look == FIRST_LOOKS && self.shares_core() {
                return false;
            }
            std::hint::spin_loop();
        }
        signal.has_reached(number)
    }

    /// Says which core this seat is on. Whether another one was seen there.
    fn shares_core(&self) -> bool {
        let core = |seat: usize| self.segment.word(self.areas.core(seat));
        // Nought stands for those who have not said anything.
        let mine = u32::try_from(sched_getcpu()).map_or(0, |core| core.wrapping_add(1));
        core(self.me).store(mine, Relaxed);
        let mut others = self.owners.iter().filter(|seat| **seat != self.me);
        others.any(|&seat| core(seat).load(Relaxed) == mine)
    }

    /// Whether what was read before this barrier may be used, and all can still come to it.
    fn check_all(&self, number: u32) -> Result<(), Broken> {
        // What was read before is older than what is looked at now.
        fence(SeqCst);
        for &seat in &self.owners {
            let through = self.segment.word(self.areas.through(seat));
            if self.has_left(seat) && !is_at_least(through.load(SeqCst), number) {
                return Err(self.lost(seat));
            }
        }
        Ok(())
    }

    fn has_left(&self, seat: usize) -> bool {
        self.segment.word(self.areas.presence(seat)).load(SeqCst) != PRESENT
    }

    fn lost(&self, seat: usize) -> Broken {
        Broken::lost(self.process(seat), "it has left the group")
    }

    /// Begins an operation. Dropping what it returns before its end is leaving in the middle.
    pub(super) fn enter(self: &Arc<Board>) -> Inside {
        Inside { board: Arc::clone(self), is_over: false }
    }

    fn leave(&self) {
        self.segment.word(self.areas.presence(self.me)).store(LEFT, SeqCst);
        // What is written to this seat's slots from now on is newer than this.
        fence(SeqCst);
    }

    /// Says how many values this seat calls for.
    pub(super) fn call(&self, face: usize, len: usize) {
        self.segment.long(self.areas.call(self.me, face)).store(len as u64, Relaxed);
    }

    /// How many values a seat called for, before the last barrier.
    pub(super) fn called(&self, seat: usize, face: usize) -> u64 {
        self.segment.long(self.areas.call(seat, face)).load(Relaxed)
    }

    pub(super) fn write_note(&self, rank: usize, face: usize, note: &Note) {
        let at = self.areas.note(rank, face);
        for (number, bytes) in note.chunks_exact(8).enumerate() {
            let mut long = [0; 8];
            long.copy_from_slice(bytes);
            self.segment.long(at + 8 * number).store(u64::from_ne_bytes(long), Relaxed);
        }
    }

    pub(super) fn read_note(&self, rank: usize, face: usize) -> Note {
        let at = self.areas.note(rank, face);
        let mut note = [0; 64];
        for (number, bytes) in note.chunks_exact_mut(8).enumerate() {
            let long = self.segment.long(at + 8 * number).load(Relaxed);
            bytes.copy_from_slice(&long.to_ne_bytes());
        }
        note
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.leave();
    }
}

/// An operation under way.
pub(super) struct Inside {
    board: Arc<Board>,
    is_over: bool,
}

impl Inside {
    /// The operation ended well, and so did all before this barrier: nobody looks any more at what
    /// this seat brought to them.
    pub(super) fn end(mut self, barrier: u32) {
        let Board { segment, areas, me, .. } = &*self.board;
        segment.word(areas.through(*me)).store(barrier, SeqCst);
        self.is_over = true;
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if !self.is_over {
            self.board.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::shm::segment;

    /// The boards of two seats.
    fn boards() -> [Arc<Board>; 2] {
        let mut layout = Layout::alone(2, 100);
        layout.seats = vec![layout.seats[0].clone(), layout.seats[0].clone()];
        layout.seats[1].process = 1;
        let areas = Areas::new(&layout).unwrap();
        let file = segment::create(areas.size).unwrap();
        [0, 1].map(|me| {
            let segment = Segment::map(&file, areas.size).unwrap();
            let layout = Layout { me, ..layout.clone() };
            Arc::new(Board::new(segment, areas.clone(), &layout))
        })
    }

    #[test]
    fn numbers_go_round() {
        assert!(is_at_least(5, 5) && is_at_least(6, 5) && !is_at_least(4, 5));
        assert!(is_at_least(2, u32::MAX) && !is_at_least(u32::MAX, 2));
    }

    #[tokio::test]
    async fn who_wakes_up_late_learns_that_the_sum_is_void() {
        let [late, other] = boards();
        let fence = Fence::none();
        // Both are past the first barrier. The other one has done its portion and waits at the
        // second; then it hears of a newer generation and goes.
        let inside = other.enter();
        other.raise(other.areas.arrived(1), 2);
        drop(inside);
        // The late one finds the other's arrival, as if all were well.
        let broken = late.barrier(2, &fence).await.unwrap_err();
        assert!(matches!(broken, Broken::Lost { process: 1, .. }), "{broken}");
    }

    #[tokio::test]
    async fn who_left_between_operations_has_done_its_part() {
        let [stays, leaves] = boards();
        let fence = Fence::none();
        let inside = leaves.enter();
        leaves.raise(leaves.areas.arrived(1), 1);
        inside.end(1);
        drop(leaves);
        assert_eq!(stays.barrier(1, &fence).await, Ok(()));
        let broken = stays.barrier(2, &fence).await.unwrap_err();
        assert!(matches!(broken, Broken::Lost { process: 1, .. }), "{broken}");
    }

    #[tokio::test]
    async fn a_wait_ends_with_its_generation() {
        let [waits, _silent] = boards();
        let (newest, seen) = watch::channel(0);
        let fence = Fence::new(0, seen);
        let announce = async { newest.send_replace(1) };
        let (outcome, _) = tokio::join!(waits.barrier(1, &fence), announce);
        assert_eq!(outcome, Err(Broken::Superseded));
    }

    #[test]
    fn a_sleeper_is_woken() {
        let [sleeper, other] = boards();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=1_000 {
                    let signal = sleeper.signal(sleeper.areas.arrived(1));
                    while !signal.has_reached(number) {
                        signal.sleep(number);
                    }
                    sleeper.raise(sleeper.areas.arrived(0), number);
                }
            });
            for number in 1..=1_000 {
                other.raise(other.areas.arrived(1), number);
                let signal = other.signal(other.areas.arrived(0));
                while !signal.has_reached(number) {
                    signal.sleep(number);
                }
            }
        });
    }
}
