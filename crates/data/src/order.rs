//! Which samples an epoch has, and in which order: a pure function of seed, rank and epoch.

use random::{Key, Purpose};

use crate::samples::Samples;
use crate::triplets::{Draw, triplets};

/// Which batches are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The run's seed.
    pub seed: u64,
    /// The logical worker.
    pub rank: u64,
    /// Samples in a batch; the last one of an epoch may be shorter.
    pub batch: usize,
    /// Steps in an epoch: at least as many as the samples make batches; the rest are empty.
    pub steps_per_epoch: u64,
    /// The first step.
    pub start: u64,
    /// Triplets are drawn of the samples, so many; without it, each sample is one by itself.
    pub draw: Option<Draw>,
}

impl Order {
    /// How many samples of a source make one of a batch.
    pub(crate) fn pictures(&self) -> usize {
        if self.draw.is_some() { 3 } else { 1 }
    }

    /// How many samples an epoch has.
    pub(crate) fn count(&self, samples: &Samples) -> usize {
        self.draw.map_or(samples.len(), |draw| draw.count(&samples.per_class()))
    }

    /// An epoch's samples, picture after picture.
    pub(crate) fn epoch(&self, samples: &Samples, epoch: u64) -> Vec<u32> {
        let &Order { seed, rank, .. } = self;
        match self.draw {
            Some(draw) => triplets(&samples.y, draw, seed, rank, epoch).into_flattened(),
            None => {
                let key = Key::new(seed, Purpose::Shuffle).with(rank);
                key.with(epoch).permutation(samples.len())
            }
        }
    }
}
