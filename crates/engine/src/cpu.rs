//! The processor as a program sees it: some threads and an instruction set.
#![expect(unsafe_code, reason = "hands each part of a run its own piece of memory")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::kernels::exercise::exercise;
use crate::pool::Pool;
use crate::share::Share;
use crate::simd::{Isa, Kernel};

/// Threads and an instruction set. A clone is another handle of the same threads.
#[derive(Clone)]
pub struct Cpu {
    pool: Arc<Pool>,
    isa: Isa,
}

impl Cpu {
    /// Starts `threads - 1` threads; the caller of each run is one more. Neither number nor
    /// instruction set changes any result.
    ///
    /// # Panics
    /// When this machine does not have the instruction set; see [`Isa::available`].
    pub fn new(threads: usize, isa: Isa) -> Self {
        assert!(isa.is_available(), "this machine does not have {isa:?}");
        Cpu { pool: Arc::new(Pool::new(threads)), isa }
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// How many parts to cut a piece of work into, at most `most`: a few for each thread, so that one
    /// that is held up can be helped; and small work stays whole. Only for work whose results do not
    /// depend on the cut.
    pub(crate) fn parts(&self, operations: usize, most: usize) -> usize {
        const WORTH_SHARING: usize = 40_000;
        let worth = (operations / WORTH_SHARING).min(4 * self.threads());
        worth.min(most).max(1)
    }

    /// Keeps all threads busy with nothing but fused multiply-adds for a few milliseconds, and says how
    /// many: the most this processor can do, against which the rest is measured.
    pub fn exercise(&self) -> usize {
        const ROUNDS: usize = 100_000;
        let done = AtomicUsize::new(0);
        self.pool.run(4 * self.threads(), |_| {
            done.fetch_add(exercise(self.isa, ROUNDS), Ordering::Relaxed);
        });
        done.into_inner()
    }

    /// Runs a kernel on the calling thread.
    #[inline]
    pub(crate) fn run<K: Kernel>(&self, kernel: K) -> K::Output {
        self.isa.run(kernel)
    }

    /// Calls `work` once for each part, on several threads, with that part's piece of `memory`.
    pub(crate) fn each<M, F>(&self, parts: usize, memory: M, work: F)
    where
        M: Share + Sync,
        F: Fn(usize, M::Piece) + Sync,
    {
        self.pool.run(parts, |part| {
            // SAFETY: the pool names each part once, and `memory` lives for this run alone.
            let piece = unsafe { memory.piece(part) };
            work(part, piece);
        });
    }
}

impl std::fmt::Debug for Cpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cpu({} threads, {:?})", self.threads(), self.isa)
    }
}
