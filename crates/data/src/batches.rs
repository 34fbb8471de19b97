//! Batches for one logical worker, gathered ahead of time on another thread.
//!
//! A step number alone says which samples its batch holds: the epoch is `step / steps_per_epoch`,
//! the epoch's order is a pure function of (seed, rank, epoch), and the step's place in the epoch
//! gives its stretch of that order. So training can start or resume anywhere.
//!
//! Where faces are trained on, a batch is of **triplets**, which are drawn anew for each epoch, and a sample
//! is meant to be one of them.
//!
//! Workers count the same steps, and an epoch has as many as the largest shard needs. A worker with
//! fewer samples has **empty batches** at the end of each epoch.
//!
//! Small networks take 10,000 steps a second and more, so a message between the threads carries a
//! **block** of many batches (about 256 KiB), and blocks travel in a circle: filled ones forward,
//! used ones back. Nothing is allocated once the circle is full, apart from one order per epoch.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::error::{DataError, Result};
use crate::order::Order;
use crate::samples::{Samples, Values, View};

/// Bytes of values a block aims at.
const BLOCK: usize = 256 << 10;

/// Blocks on their way; one more is being filled and one being used.
const AHEAD: usize = 2;

/// The samples of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Which step.
    pub step: u64,
    /// The values, sample after sample.
    pub x: View<'a>,
    /// The labels; of a triplet, the anchor's.
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
    next: u64,
    batch: usize,
    /// Values of one sample.
    row: usize,
}

/// Consecutive batches of one epoch, samples gathered.
#[derive(Debug)]
struct Block {
    /// The first one's step.
    step: u64,
    /// How many there are. Those beyond the samples are empty.
    steps: u64,
    x: Values,
    y: Vec<u32>,
}

impl Block {
    /// In place of one that was given away.
    fn none() -> Block {
        Block { step: 0, steps: 0, x: Values::U8(Vec::new()), y: Vec::new() }
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
    /// When there are no samples, or none in a batch, or more batches than steps in an epoch.
    pub fn new(samples: Arc<Samples>, order: Order) -> Batches {
        assert!(!samples.is_empty() && order.batch > 0, "there is something to gather");
        let own = steps_per_epoch(order.count(&samples), order.batch);
        assert!(order.steps_per_epoch >= own, "an epoch has a step for every batch");
        let row = samples.row() * order.pictures();
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
        let (filled, batch) = (Some(filled), order.batch);
        Batches { filled, used, thread, trouble, block, next: 0, batch, row }
    }

    /// Bytes of memory the blocks take for `samples` samples of `row` bytes each.
    pub fn memory(samples: usize, row: usize, batch: usize) -> u64 {
        let rows = block_rows(samples, row, batch) as u64;
        rows * (row as u64 + 4) * (AHEAD as u64 + 2) + 4 * samples as u64
    }

    /// The next step's batch, empty when the epoch's samples have all been seen. Waits only when the gathering thread is behind.
    #[expect(clippy::should_implement_trait, reason = "a batch borrows its block until the next")]
    pub fn next(&mut self) -> Result<Batch<'_>> {
        if self.next >= self.block.steps {
            self.turn_over()?;
        }
        let (batch, row, samples) = (self.batch as u64, self.row, self.block.y.len() as u64);
        let first = self.next.saturating_mul(batch).min(samples);
        let rows = first as usize..(first + batch).min(samples) as usize;
        let step = self.block.step + self.next;
        self.next += 1;
        Ok(Batch {
            step,
            x: self.block.x.view().slice(rows.start * row..rows.end * row),
            y: &self.block.y[rows],
        })
    }

    /// Gives the used block back, first, so that the thread need not make another, and takes the next.
    fn turn_over(&mut self) -> Result<()> {
        let used = std::mem::replace(&mut self.block, Block::none());
        if used.steps > 0 {
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
    let steps = order.steps_per_epoch;
    let (count, pictures) = (order.count(samples), order.pictures());
    let row = samples.row() * samples.x.width() * pictures;
    let rows = block_rows(count, row, order.batch);
    let mut step = order.start;
    loop {
        let epoch = step / steps;
        let all = order.epoch(samples, epoch);
        let end = (epoch + 1) * steps;
        while step < end {
            let first = (step % steps).saturating_mul(order.batch as u64);
            let first = first.min(count as u64) as usize;
            let range = first..(first + rows).min(count);
            let is_last = range.end == count;
            let mut block =
                recycled.try_recv().unwrap_or_else(|_| empty_block(samples, rows * pictures));
            let chosen = &all[range.start * pictures..range.end * pictures];
            fill(&mut block, samples, chosen, pictures);
            block.step = step;
            block.steps = match is_last {
                true => end - step,
                false => steps_per_epoch(block.y.len(), order.batch),
            };
            step += block.steps;
            if send.send(block).is_err() {
                return;
            }
        }
    }
}

/// Copies samples into a block. Each has so many pictures, and the label of the first.
fn fill(block: &mut Block, samples: &Samples, chosen: &[u32], pictures: usize) {
    block.x.clear();
    block.y.clear();
    for (place, &index) in chosen.iter().enumerate() {
        let index = index as usize;
        block.x.extend(samples.rows(index..index + 1));
        if place.is_multiple_of(pictures) {
            block.y.push(samples.y[index]);
        }
    }
}

/// How many samples a block holds: whole batches, about [`BLOCK`] bytes, at least one batch.
fn block_rows(samples: usize, row: usize, batch: usize) -> usize {
    let batch = batch.min(samples).max(1);
    let batches = (BLOCK / (row * batch).max(1)).max(1);
    batch * batches.min(samples.div_ceil(batch))
}

fn empty_block(samples: &Samples, rows: usize) -> Block {
    let (x, y) = (samples.x.sibling(rows * samples.row()), Vec::with_capacity(rows));
    Block { step: 0, steps: 0, x, y }
}

#[cfg(test)]
mod tests {
    use random::{Key, Purpose};

    use super::*;
    use crate::triplets::{Draw, triplets};

    /// An order without empty batches, and with so many of them at the end of each epoch.
    fn order(samples: usize, batch: usize, start: u64, empty: u64) -> Order {
        let steps_per_epoch = steps_per_epoch(samples, batch) + empty;
        Order { seed: 5, rank: 2, batch, steps_per_epoch, start, draw: None }
    }

    /// Steps as anybody can compute them, without threads and blocks.
    fn expected(samples: &Samples, order: Order, step: u64) -> Samples {
        let steps = order.steps_per_epoch;
        let key = Key::new(order.seed, Purpose::Shuffle).with(order.rank);
        let permutation = key.with(step / steps).permutation(samples.len());
        let first = ((step % steps) as usize * order.batch).min(samples.len());
        let last = (first + order.batch).min(samples.len());
        samples.gather(&permutation[first..last])
    }

    fn check(samples: Samples, batch: usize, start: u64, steps: u64) {
        let order = order(samples.len(), batch, start, 0);
        check_order(samples, order, steps);
    }

    fn check_order(samples: Samples, order: Order, steps: u64) {
        let samples = Arc::new(samples);
        let mut batches = Batches::new(Arc::clone(&samples), order);
        for step in order.start..order.start + steps {
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
    fn a_worker_out_of_samples_has_empty_batches_until_the_epoch_ends() {
        for (len, batch) in [(1, 1), (7, 3), (7, 7), (7, 100), (1003, 16)] {
            for (start, empty) in [(0, 1), (1, 1), (2, 3), (62, 1), (63, 1), (1_000_003, 5)] {
                let samples = Samples::synthetic(&[28, 28, 1], 10, len, 1);
                check_order(samples, order(len, batch, start, empty), 200);
            }
        }
        let order = order(7, 3, 0, 2);
        let mut batches = Batches::new(Arc::new(Samples::synthetic(&[4], 2, 7, 1)), order);
        let sizes: Vec<usize> = (0..10).map(|_| batches.next().unwrap().y.len()).collect();
        assert_eq!(sizes, [3, 3, 1, 0, 0, 3, 3, 1, 0, 0]);
    }

    #[test]
    #[should_panic(expected = "a step for every batch")]
    fn an_epoch_is_not_cut_short() {
        let order = Order { steps_per_epoch: 2, ..order(7, 3, 0, 0) };
        Batches::new(Arc::new(Samples::synthetic(&[4], 2, 7, 1)), order);
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
        let mut batches = Batches::new(Arc::new(samples), order(103, 10, 0, 0));
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
        let mut batches = Batches::new(samples, order(16, 4, 0, 1));
        let mut rooms = std::collections::HashSet::new();
        for _ in 0..200 {
            let View::U8(x) = batches.next().unwrap().x else { panic!("bytes stay bytes") };
            // An empty batch points at the end of its block.
            if !x.is_empty() {
                rooms.insert(x.as_ptr());
            }
        }
        // The one that was empty at first may move once when it grows.
        assert!(rooms.len() <= AHEAD + 3, "{} buffers", rooms.len());
    }

    #[test]
    fn triplets_are_drawn_anew_in_each_epoch() {
        let mut samples = Samples::synthetic(&[5], 4, 20, 1);
        samples.y = (0..20).map(|sample| sample % 4).collect();
        let samples = Arc::new(samples);
        let draw = Draw { pairs: 3, negatives: 2 };
        let count = draw.count(&samples.per_class());
        assert_eq!(count, 24);
        for start in [0, 3, 1_000_000] {
            let order = Order { draw: Some(draw), ..order(count, 7, start, 1) };
            let mut batches = Batches::new(Arc::clone(&samples), order);
            for step in start..start + 12 {
                let got = batches.next().unwrap();
                let (epoch, place) = (step / 5, (step % 5) as usize * 7);
                let all = triplets(&samples.y, draw, order.seed, order.rank, epoch);
                let mine = &all[place.min(count)..(place + 7).min(count)];
                assert_eq!(got.x, samples.gather(mine.as_flattened()).x.view());
                let anchors: Vec<u32> = mine.iter().map(|t| samples.y[t[0] as usize]).collect();
                assert_eq!((got.step, got.y), (step, &anchors[..]));
            }
        }
    }

    #[test]
    fn a_worker_whose_people_have_one_picture_each_has_empty_batches() {
        let mut samples = Samples::synthetic(&[5], 2, 2, 1);
        samples.y = vec![0, 1];
        let order = Order { draw: Some(Draw::default()), ..order(10, 5, 0, 0) };
        let mut batches = Batches::new(Arc::new(samples), order);
        assert!((0..5).all(|_| batches.next().unwrap().y.is_empty()));
    }

    #[test]
    fn a_panic_of_the_thread_is_an_error() {
        let mut samples = Samples::synthetic(&[4], 2, 8, 1);
        // Fewer values than the labels say: gathering panics.
        samples.x = Values::U8(vec![0; 3]);
        let mut batches = Batches::new(Arc::new(samples), order(8, 4, 0, 0));
        let error = batches.next().unwrap_err().to_string();
        assert!(error.contains("out of range for slice of length 3"), "{error}");
        assert!(batches.next().is_err());
    }
}
