//! Who trains on how many samples at which step: a pure function of the shards' sizes and the batch.
//!
//! An epoch has as many steps as the largest shard has batches. A rank that is out of samples counts
//! nothing until the epoch ends. What a rank's gradient counts among all is its share of the step's
//! samples.

use std::ops::Range;

/// The shards of all ranks, cut into batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Samples by rank.
    sizes: Vec<usize>,
    batch: usize,
}

impl Shares {
    /// `sizes` has the samples of each rank.
    ///
    /// # Panics
    /// When there are no ranks, no samples, or none in a batch.
    pub fn new(sizes: Vec<usize>, batch: usize) -> Self {
        assert!(sizes.iter().any(|&size| size > 0) && batch > 0, "there is something to train on");
        Shares { sizes, batch }
    }

    /// How many ranks there are.
    pub fn world(&self) -> usize {
        self.sizes.len()
    }

    /// How many steps an epoch has: the last batch may be short.
    pub fn steps_per_epoch(&self) -> u64 {
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        data::steps_per_epoch(largest, self.batch)
    }

    /// How many samples a rank has at a step.
    pub(crate) fn count(&self, rank: usize, step: u64) -> usize {
        let before = (step % self.steps_per_epoch()) as usize * self.batch;
        self.sizes[rank].saturating_sub(before).min(self.batch)
    }

    /// What a rank's gradient counts at a step; all ranks' shares together are 1.
    pub(crate) fn of_step(&self, rank: usize, step: u64) -> f32 {
        let all: usize = (0..self.world()).map(|rank| self.count(rank, step)).sum();
        (self.count(rank, step) as f64 / all as f64) as f32
    }

    /// What a rank's weights count after some steps of its own; all shares together are 1.
    pub(crate) fn of_round(&self, rank: usize, steps: Range<u64>) -> f32 {
        let trained = |rank| self.trained(rank, steps.end) - self.trained(rank, steps.start);
        let all: u64 = (0..self.world()).map(trained).sum();
        (trained(rank) as f64 / all as f64) as f32
    }

    /// How many samples the first `steps` steps train on, all ranks together.
    pub fn samples_in(&self, steps: u64) -> u64 {
        (0..self.world()).map(|rank| self.trained(rank, steps)).sum()
    }

    fn trained(&self, rank: usize, steps: u64) -> u64 {
        let (per_epoch, size) = (self.steps_per_epoch(), self.sizes[rank] as u64);
        steps / per_epoch * size + (steps % per_epoch * self.batch as u64).min(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_out_of_samples_counts_nothing() {
        let shares = Shares::new(vec![5, 4, 4], 2);
        assert_eq!(shares.steps_per_epoch(), 3);
        let counts = |step| [0, 1, 2].map(|rank| shares.count(rank, step));
        assert_eq!([0, 1, 2, 3].map(counts), [[2, 2, 2], [2, 2, 2], [1, 0, 0], [2, 2, 2]]);
        assert_eq!([0, 1, 2].map(|rank| shares.of_step(rank, 2)), [1.0, 0.0, 0.0]);
        assert_eq!([0, 2, 3, 4].map(|steps| shares.samples_in(steps)), [0, 12, 13, 19]);
        assert_eq!(shares.of_round(0, 0..3), (5.0 / 13.0) as f32);
        assert_eq!(shares.of_round(1, 2..3), 0.0);
    }
}
