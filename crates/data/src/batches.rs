//! Batches for one logical worker, gathered ahead of time on another thread.
//!
//! A step number alone says which samples its batch holds: the epoch is `step / steps_per_epoch`,
//! the epoch's order is a pure function of (seed, rank, epoch), and the step's place in the epoch
//! gives its stretch of that order. So training can start or resume anywhere.
//!
//! Small networks take 10,000 steps a second and more, so a message between the threads carries a
//! **block** of many batches (about 256 KiB), and blocks travel in a circle: filled ones forward,
//! used ones back. Nothing is allocated once the circle is full, apart from one order per epoch.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use random::{Key, Purpose};

use crate::error::{DataError, Result};
use crate::samples::{Samples, Values, View};

/// Bytes of values a block aims at.
const BLOCK: usize = 256 << 10;

/// Blocks on their way; one more is being filled and one being used.
const AHEAD: usize = 2;

/// Which batches are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The run's seed.
    pub seed: u64,
    /// The logical worker.
    pub rank: u64,
    /// Samples in a batch; the last one of an epoch may be shorter.
    pub batch: usize,
    /// The first step.
    pub start: u64,
}

/// The samples of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Which step.
    pub step: u64,
    /// The values, sample after sample.
    pub x: View<'a>,
    /// The labels.
    pub y: &'a [u32],
}

/// Batches from some step on, without end.
#[derive(Debug)]
pub struct Batches {
    /// `None` only while being dropped, so that the thread sees it and ends.
    filled: Option<Receiver<Block>>,
    used: SyncSender<Block>,
    thread: Option<JoinHandle<()>>,
    block: Block,
    /// The next batch's place in the block.
    next: usize,
    batch: usize,
}

/// Consecutive batches of one epoch, samples gathered.
#[derive(Debug)]
struct Block {
    /// The first one's step.
    step: u64,
    x: Values,
    y: Vec<u32>,
}

/// How many batches an epoch of `samples` has; the last may be short.
pub fn steps_per_epoch(samples: usize, batch: usize) -> u64 {
    samples.div_ceil(batch) as u64
}

impl Batches {
    /// Starts gathering.
    ///
    /// # Panics
    /// When there are no samples, or none in a batch.
    pub fn new(samples: Arc<Samples>, order: Order) -> Batches {
        assert!(
            !samples.is_empty() && order.batch > 0,
            "there is something to gather"
        );
        let (send, filled) = sync_channel(AHEAD);
        let (used, recycled) = sync_channel(AHEAD + 2);
        let block = empty_block(&samples, 0);
        let thread = thread::Builder::new()
            .name("batches".to_owned())
            .spawn(move || gather(&samples, order, &send, &recycled))
            .expect("the system lets us start a thread");
        Batches {
            filled: Some(filled),
            used,
            thread: Some(thread),
            block,
            next: 0,
            batch: order.batch,
        }
    }

    /// Bytes of memory the blocks take.
    pub fn memory(samples: &Samples, batch: usize) -> u64 {
        let rows = block_rows(samples, batch) as u64;
        let row = (samples.row() * samples.x.width() + 4) as u64;
        rows * row * (AHEAD as u64 + 2) + 4 * samples.len() as u64
    }

    /// The next step's batch. Waits only when the gathering thread is behind.
    #[expect(
        clippy::should_implement_trait,
        reason = "a batch borrows its block until the next"
    )]
    pub fn next(&mut self) -> Result<Batch<'_>> {
        if self.next * self.batch >= self.block.y.len() {
            self.turn_over()?;
        }
        let first = self.next * self.batch;
        let rows = first..(first + self.batch).min(self.block.y.len());
        let step = self.block.step + self.next as u64;
        self.next += 1;
        let row = self.block.x.len() / self.block.y.len();
        Ok(Batch {
            step,
            x: self.block.x.view().slice(rows.start * row..rows.end * row),
            y: &self.block.y[rows],
        })
    }

    /// Takes the next block and gives the used one back.
    fn turn_over(&mut self) -> Result<()> {
        let received = self.filled.as_ref().and_then(|filled| filled.recv().ok());
        let Some(block) = received else {
            return Err(DataError::Stopped(self.last_words()));
        };
        let used = std::mem::replace(&mut self.block, block);
        self.next = 0;
        // The circle has room for every block, so this fails only when the thread has ended; then
        // the next call says so.
        let _ = self.used.try_send(used);
        Ok(())
    }

    /// What the thread said when it ended.
    fn last_words(&mut self) -> String {
        let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) else {
            return "it ended".to_owned();
        };
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("it panicked").to_owned()
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        // With the receiver gone the thread's next send fails, and it ends.
        self.filled = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Fills blocks until nobody takes them any more.
fn gather(samples: &Samples, order: Order, send: &SyncSender<Block>, recycled: &Receiver<Block>) {
    let steps = steps_per_epoch(samples.len(), order.batch);
    let rows = block_rows(samples, order.batch);
    let key = Key::new(order.seed, Purpose::Shuffle).with(order.rank);
    let mut step = order.start;
    loop {
        let epoch = step / steps;
        let permutation = key.with(epoch).permutation(samples.len());
        let mut first = (step % steps) as usize * order.batch;
        while first < samples.len() {
            let range = first..(first + rows).min(samples.len());
            first = range.end;
            let mut block = recycled
                .try_recv()
                .unwrap_or_else(|_| empty_block(samples, rows));
            fill(&mut block, samples, &permutation, range);
            block.step = step;
            step += steps_per_epoch(block.y.len(), order.batch);
            if send.send(block).is_err() {
                return;
            }
        }
    }
}

/// Copies the samples at some places of the order into a block.
fn fill(block: &mut Block, samples: &Samples, order: &[u32], places: Range<usize>) {
    block.x.clear();
    block.y.clear();
    for &index in &order[places] {
        let index = index as usize;
        block.x.extend(samples.rows(index..index + 1));
        block.y.push(samples.y[index]);
    }
}

/// How many samples a block holds: whole batches, about [`BLOCK`] bytes, at least one batch.
fn block_rows(samples: &Samples, batch: usize) -> usize {
    let batch = batch.min(samples.len());
    let bytes = samples.row() * samples.x.width() * batch;
    let batches = (BLOCK / bytes).max(1);
    batch * batches.min(samples.len().div_ceil(batch))
}

fn empty_block(samples: &Samples, rows: usize) -> Block {
    Block {
        step: 0,
        x: samples.x.sibling(rows * samples.row()),
        y: Vec::with_capacity(rows),
    }
}
