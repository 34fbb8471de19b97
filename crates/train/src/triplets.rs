//! What triplets change: how many samples an epoch has, and what they are made of.

use data::{Draw, Manifest, Samples, picture_shape};
use spec::{Loss, LossName};

use crate::Error;

/// How triplets are drawn of samples of a shape; none where the loss takes samples as they are, or they
/// are triplets already.
pub(crate) fn draw(loss: &Loss, shape: &[usize]) -> Option<Draw> {
    let wanted = loss.name == LossName::Triplet && picture_shape(shape) == shape;
    wanted.then(|| amount(loss))
}

/// How many triplets a run file asks for.
pub(crate) fn amount(loss: &Loss) -> Draw {
    let Draw { pairs, negatives } = Draw::default();
    Draw { pairs: loss.pairs.unwrap_or(pairs), negatives: loss.negatives.unwrap_or(negatives) }
}

/// How many samples each rank has in an epoch.
pub(crate) fn shards(
    manifest: &Manifest,
    workers: usize,
    loss: &Loss,
) -> Result<Vec<usize>, Error> {
    if loss.name != LossName::Triplet {
        return Ok((0..workers).map(|rank| manifest.shard_samples(rank)).collect());
    }
    let of = |rank| manifest.shard_triplets(rank, amount(loss));
    let shards: Vec<usize> = (0..workers).map(of).collect();
    match shards.iter().any(|&count| count > 0) {
        true => Ok(shards),
        false => Err(none_drawn()),
    }
}

/// How many samples an epoch has for one worker that has all of them.
pub(crate) fn of_one(samples: &Samples, loss: &Loss) -> usize {
    draw(loss, &samples.shape).map_or(samples.len(), |draw| draw.count(&samples.per_class()))
}

/// Samples as they are measured on by a loss.
pub(crate) fn measured_on(samples: &Samples, loss: &Loss) -> Option<Samples> {
    let wanted = loss.name == LossName::Triplet && !samples.are_triplets();
    wanted.then(|| samples.to_triplets(amount(loss).pairs))
}

pub(crate) fn none_drawn() -> Error {
    Error::Orders(
        "no triplet can be drawn: of the people that each worker trains on, one must have two \
         pictures, and there must be another one; add pictures, or take fewer workers, or set \
         `assign: copy` in `data`"
            .into(),
    )
}
