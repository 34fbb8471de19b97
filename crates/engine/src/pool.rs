//! A small pool of threads that share out the numbered parts of a piece of work.
//!
//! A training step asks for several parallel runs, each of tens of microseconds, so a run must cost
//! about one. Threads that have nothing to do spin for a short while, then sleep until they are woken.
//! The caller works too. Nothing is allocated.
//!
//! Each thread begins with parts of its own, the same ones in every run of as many parts, so that the
//! memory they touch stays in its caches; then it takes what is left of the others'.
//!
//! The gate. One atomic word holds a generation, whether the run is open, and how many threads are
//! inside. A thread enters by adding one while the gate is open. When no part is left the caller
//! closes the gate and waits until the threads inside have left; one that still sleeps is not waited
//! for. Only threads inside look at the run, so after that the caller may drop it.
#![expect(unsafe_code, reason = "a run borrows its closure for threads that outlive it")]

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::share::portion;

/// Spins before a thread without work sleeps: about 30 µs.
const SPINS_BEFORE_SLEEP: u32 = 2_000;

/// Spins before a caller that waits for others gives up its time slice.
const SPINS_BEFORE_YIELD: u32 = 2_000;

const OPEN: u64 = 1 << 31;
const INSIDE: u64 = OPEN - 1;
const GENERATION: u64 = 1 << 32;

/// Threads that share out parts of work. Dropping it ends them.
pub(crate) struct Pool {
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
    /// One run at a time.
    turn: Mutex<()>,
}

struct State {
    gate: AtomicU64,
    /// For each thread, the next of its parts that nobody has taken; the caller's come first.
    next: Vec<Next>,
    /// Written by the caller while the gate is closed, read by threads inside.
    work: UnsafeCell<Work>,
    /// One for each thread: whether it sleeps or is about to.
    asleep: Vec<AtomicBool>,
    /// Threads that have started.
    started: AtomicUsize,
    stop: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// On a cache line of its own: each is mostly counted up by one thread.
#[repr(align(64))]
struct Next(AtomicUsize);

#[derive(Clone, Copy)]
struct Work {
    /// Calls the closure that `closure` points at.
    call: unsafe fn(*const (), usize),
    closure: *const (),
    parts: usize,
}

// SAFETY: `work` is guarded by the gate, as told above; everything else is atomic or locked.
unsafe impl Sync for State {}
// SAFETY: as above; the closures behind `work` are `Sync`.
unsafe impl Send for State {}

impl Pool {
    /// A pool of `threads` threads, the caller among them.
    pub(crate) fn new(threads: usize) -> Self {
        let others = threads.saturating_sub(1);
        let state = Arc::new(State {
            gate: AtomicU64::new(0),
            next: (0..=others).map(|_| Next(AtomicUsize::new(0))).collect(),
            work: UnsafeCell::new(Work { call: |_, _| (), closure: std::ptr::null(), parts: 0 }),
            asleep: (0..others).map(|_| AtomicBool::new(false)).collect(),
            started: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        // Where the system gives fewer threads, those that are there do all the work: the results are
        // the same.
        let threads: Vec<_> = (0..others)
            .map_while(|number| {
                let state = Arc::clone(&state);
                let thread = std::thread::Builder::new().name(format!("engine-{}", number + 1));
                thread.spawn(move || state.serve(number)).ok()
            })
            .collect();
        // A thread allocates as it starts. Afterwards nothing does.
        while state.started.load(Acquire) < threads.len() {
            std::thread::yield_now();
        }
        Pool { state, threads, turn: Mutex::new(()) }
    }

    /// How many threads work, the caller among them.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len() + 1
    }

    /// Calls `each` once with every number below `parts`, on several threads at a time. A panic in
    /// one of the calls comes out here.
    pub(crate) fn run<F: Fn(usize) + Sync>(&self, parts: usize, each: F) {
        if self.threads.is_empty() || parts <= 1 {
            (0..parts).for_each(each);
            return;
        }
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &*self.state;
        // SAFETY: the gate is closed and nobody is inside: the last run waited for that.
        unsafe {
            *state.work.get() = Work { call: call::<F>, closure: (&raw const each).cast(), parts };
        }
        for (thread, next) in state.next.iter().enumerate() {
            next.0.store(portion(parts, state.next.len(), thread).start, Relaxed);
        }
        let generation = state.gate.load(Relaxed) & !(OPEN | INSIDE);
        state.gate.store(generation.wrapping_add(GENERATION) | OPEN, SeqCst);
        self.wake(parts - 1);
        state.take_parts(0);
        state.gate.fetch_and(!OPEN, AcqRel);
        let mut spins = 0;
        while state.gate.load(Acquire) & INSIDE != 0 {
            pause(&mut spins);
        }
        // Before the turn ends: the next caller must not find a panic that is not its own.
        let panic = state.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(turn);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    fn wake(&self, wanted: usize) {
        for (thread, asleep) in self.threads.iter().zip(&self.state.asleep).take(wanted) {
            if asleep.load(SeqCst) && asleep.swap(false, SeqCst) {
                thread.thread().unpark();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.state.stop.store(true, SeqCst);
        self.wake(usize::MAX);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A thread catches every panic of the work, so it ends well.
            drop(thread.join());
        }
    }
}

/// # Safety
/// `closure` points at a living `F`.
unsafe fn call<F: Fn(usize) + Sync>(closure: *const (), part: usize) {
    // SAFETY: by the contract.
    unsafe { (*closure.cast::<F>())(part) }
}

fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < SPINS_BEFORE_YIELD {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

impl State {
    /// A thread's life: wait for an open gate, enter, take parts, leave.
    fn serve(&self, number: usize) {
        self.started.fetch_add(1, Release);
        let mut served = 0;
        while let Some(open) = self.await_run(number, served) {
            if self.gate.compare_exchange(open, open + 1, Acquire, Relaxed).is_ok() {
                served = open & !(OPEN | INSIDE);
                self.take_parts(number + 1);
                self.gate.fetch_sub(1, Release);
            }
        }
    }

    /// The gate of a run after generation `served`, or `None` when the pool ends.
    fn await_run(&self, number: usize, served: u64) -> Option<u64> {
        let is_new = |gate: u64| gate & OPEN != 0 && gate & !(OPEN | INSIDE) != served;
        loop {
            for _ in 0..SPINS_BEFORE_SLEEP {
                let gate = self.gate.load(SeqCst);
                if is_new(gate) {
                    return Some(gate);
                }
                if self.stop.load(Relaxed) {
                    return None;
                }
                std::hint::spin_loop();
            }
            // Announce the sleep, then look once more: a run opened in between either sees the
            // announcement and wakes this thread, or is seen here.
            self.asleep[number].store(true, SeqCst);
            while self.asleep[number].load(SeqCst)
                && !is_new(self.gate.load(SeqCst))
                && !self.stop.load(SeqCst)
            {
                std::thread::park();
            }
            self.asleep[number].store(false, SeqCst);
        }
    }

    /// Takes the parts of `thread`, then what is left of the others'.
    fn take_parts(&self, thread: usize) {
        // SAFETY: the caller has written it before it opened the gate, and is inside or waits.
        let work = unsafe { *self.work.get() };
        let threads = self.next.len();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for owner in (thread..threads).chain(0..thread) {
                let end = portion(work.parts, threads, owner).end;
                loop {
                    let part = self.next[owner].0.fetch_add(1, Relaxed);
                    if part >= end {
                        break;
                    }
                    // SAFETY: the closure lives until everyone inside has left.
                    unsafe { (work.call)(work.closure, part) };
                }
            }
        }));
        if let Err(panic) = outcome {
            for next in &self.next {
                next.0.store(work.parts, Relaxed);
            }
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_runs_once() {
        for threads in [1, 2, 5] {
            let pool = Pool::new(threads);
            for parts in [0, 1, 2, 3, 100] {
                let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                for _ in 0..200 {
                    pool.run(parts, |part| {
                        counts[part].fetch_add(1, Relaxed);
                    });
                }
                assert!(counts.iter().all(|count| count.load(Relaxed) == 200));
            }
        }
    }

    #[test]
    fn a_panic_comes_out_and_the_pool_lives_on() {
        let pool = Pool::new(3);
        for _ in 0..20 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.run(50, |part| assert!(part != 17, "part seventeen"));
            }));
            assert!(outcome.is_err());
            let sum = AtomicUsize::new(0);
            pool.run(10, |part| {
                sum.fetch_add(part, Relaxed);
            });
            assert_eq!(sum.load(Relaxed), 45);
        }
    }

    #[test]
    fn callers_on_several_threads_take_turns() {
        let pool = Pool::new(2);
        let total = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        pool.run(4, |_| {
                            total.fetch_add(1, Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(total.load(Relaxed), 3 * 300 * 4);
    }
}
