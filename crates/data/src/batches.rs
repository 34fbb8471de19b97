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
    /// Why there is no thread.
    trouble: Option<String>,
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

impl Block {
    /// In place of one that was given away.
    fn none() -> Block {
        Block { step: 0, x: Values::U8(Vec::new()), y: Vec::new() }
    }
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
        assert!(!samples.is_empty() && order.batch > 0, "there is something to gather");
        let (send, filled) = sync_channel(AHEAD);
        let (used, recycled) = sync_channel(AHEAD + 2);
        let block = empty_block(&samples, 0);
        let thread = thread::Builder::new()
            .name("batches".to_owned())
            .spawn(move || gather(&samples, order, &send, &recycled));
        // Without a thread the first call of `next` finds nobody at the other end, and says why.
        let (thread, trouble) = match thread {
            Ok(thread) => (Some(thread), None),
            Err(error) => (None, Some(format!("it could not be started: {error}"))),
        };
        Batches { filled: Some(filled), used, thread, trouble, block, next: 0, batch: order.batch }
    }

    /// Bytes of memory the blocks take for `samples` samples of `row` bytes each.
    pub fn memory(samples: usize, row: usize, batch: usize) -> u64 {
        let rows = block_rows(samples, row, batch) as u64;
        rows * (row as u64 + 4) * (AHEAD as u64 + 2) + 4 * samples as u64
    }

    /// The next step's batch. Waits only when the gathering thread is behind.
    #[expect(clippy::should_implement_trait, reason = "a batch borrows its block until the next")]
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

    /// Gives the used block back, first, so that the thread need not make another, and takes the next.
    fn turn_over(&mut self) -> Result<()> {
        let used = std::mem::replace(&mut self.block, Block::none());
        if !used.y.is_empty() {
            // The circle has room for every block, so this fails only when the thread has ended;
            // receiving then says so.
            let _ = self.used.try_send(used);
        }
        let received = self.filled.as_ref().and_then(|filled| filled.recv().ok());
        let Some(block) = received else {
            return Err(DataError::Stopped(self.last_words()));
        };
        self.block = block;
        self.next = 0;
        Ok(())
    }

    /// What the thread said when it ended.
    fn last_words(&mut self) -> String {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            self.trouble = Some(text.unwrap_or("it panicked").to_owned());
        }
        self.trouble.clone().unwrap_or_else(|| "it ended".to_owned())
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
    let row = samples.row() * samples.x.width();
    let rows = block_rows(samples.len(), row, order.batch);
    let key = Key::new(order.seed, Purpose::Shuffle).with(order.rank);
    let mut step = order.start;
    loop {
        let epoch = step / steps;
        let permutation = key.with(epoch).permutation(samples.len());
        let mut first = (step % steps) as usize * order.batch;
        while first < samples.len() {
            let range = first..(first + rows).min(samples.len());
            first = range.end;
            let mut block = recycled.try_recv().unwrap_or_else(|_| empty_block(samples, rows));
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
fn block_rows(samples: usize, row: usize, batch: usize) -> usize {
    let batch = batch.min(samples).max(1);
    let batches = (BLOCK / (row * batch).max(1)).max(1);
    batch * batches.min(samples.div_ceil(batch))
}

fn empty_block(samples: &Samples, rows: usize) -> Block {
    Block { step: 0, x: samples.x.sibling(rows * samples.row()), y: Vec::with_capacity(rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(batch: usize, start: u64) -> Order {
        Order { seed: 5, rank: 2, batch, start }
    }

    /// Steps as anybody can compute them, without threads and blocks.
    fn expected(samples: &Samples, order: Order, step: u64) -> Samples {
        let steps = steps_per_epoch(samples.len(), order.batch);
        let key = Key::new(order.seed, Purpose::Shuffle).with(order.rank);
        let permutation = key.with(step / steps).permutation(samples.len());
        let first = (step % steps) as usize * order.batch;
        let last = (first + order.batch).min(samples.len());
        samples.gather(&permutation[first..last])
    }

    fn check(samples: Samples, batch: usize, start: u64, steps: u64) {
        let samples = Arc::new(samples);
        let order = order(batch, start);
        let mut batches = Batches::new(Arc::clone(&samples), order);
        for step in start..start + steps {
            let got = batches.next().unwrap();
            let want = expected(&samples, order, step);
            assert_eq!(got.step, step);
            assert_eq!(got.y, want.y);
            assert_eq!(got.x, want.x.view());
        }
    }

    #[test]
    fn a_step_number_alone_decides_its_samples() {
        for (len, batch) in [(1, 1), (7, 3), (7, 7), (7, 100), (1000, 20), (1003, 16)] {
            for start in [0, 1, 5, 1_000_003] {
                check(Samples::synthetic(&[28, 28, 1], 10, len, 1), batch, start, 120);
            }
        }
    }

    #[test]
    fn a_batch_larger_than_a_block_is_a_block() {
        check(Samples::synthetic(&[1000], 3, 700, 1), 600, 0, 5);
    }

    #[test]
    fn floats_are_gathered_too() {
        let bytes = Samples::synthetic(&[3], 4, 50, 1);
        let Values::U8(x) = bytes.x else { panic!("synthetic samples are bytes") };
        let floats = Values::F32(x.into_iter().map(f32::from).collect());
        check(Samples::new(vec![3], floats, bytes.y, None).unwrap(), 8, 3, 40);
    }

    #[test]
    fn an_epoch_holds_every_sample_once_and_its_last_batch_is_short() {
        let mut samples = Samples::synthetic(&[1], 1, 103, 1);
        samples.y = (0..103).collect();
        samples.classes = 103;
        let mut batches = Batches::new(Arc::new(samples), order(10, 0));
        let (mut seen, mut sizes) = (Vec::new(), Vec::new());
        for _ in 0..11 {
            let batch = batches.next().unwrap();
            seen.extend_from_slice(batch.y);
            sizes.push(batch.y.len());
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..103));
        assert_eq!(sizes, [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 3]);
    }

    #[test]
    fn blocks_go_round() {
        let samples = Arc::new(Samples::synthetic(&[64 << 10], 2, 16, 1));
        let mut batches = Batches::new(samples, order(4, 0));
        let mut rooms = std::collections::HashSet::new();
        for _ in 0..200 {
            let View::U8(x) = batches.next().unwrap().x else { panic!("bytes stay bytes") };
            rooms.insert(x.as_ptr());
        }
        // The one that was empty at first may move once when it grows.
        assert!(rooms.len() <= AHEAD + 3, "{} buffers", rooms.len());
    }

    #[test]
    fn a_panic_of_the_thread_is_an_error() {
        let mut samples = Samples::synthetic(&[4], 2, 8, 1);
        // Fewer values than the labels say: gathering panics.
        samples.x = Values::U8(vec![0; 3]);
        let mut batches = Batches::new(Arc::new(samples), order(4, 0));
        let error = batches.next().unwrap_err().to_string();
        assert!(error.contains("out of range for slice of length 3"), "{error}");
        assert!(batches.next().is_err());
    }
}
