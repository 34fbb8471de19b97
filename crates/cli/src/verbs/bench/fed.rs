//! What a network is fed with while it is measured: random samples, as many as its seed trains on, so
//! that an epoch and what its end costs are of a real size.

use data::Samples;
use spec::{Builtin, Model, Pair, Train};

/// Random samples for a network: every worker has at least one whole batch.
pub(super) fn samples(train: &Train) -> Samples {
    let at_least = train.batch * train.workers;
    match &train.model {
        Model::Builtin(Builtin::ImdbBigru { vocabulary_size }) => {
            let words = u16::try_from(*vocabulary_size).unwrap_or(u16::MAX);
            Samples::synthetic_texts(500, words, 2, at_least.max(25_000), 0)
        }
        Model::Builtin(Builtin::SmallXception { image_size, .. }) => {
            let Pair { height, width } = image_size.unwrap_or(Pair::square(30));
            // Large pictures are fewer, so that they fit into memory.
            let most = (1 << 28) / (height * width * 3).max(1);
            let len = at_least.max(most.min(18_728));
            Samples::synthetic(&[height, width, 3], 2, len, 0)
        }
        _ => Samples::synthetic(&[28, 28, 1], 10, at_least.max(60_000), 0),
    }
}

/// How many steps tell: a few seconds of them.
pub(super) fn steps(model: &Model) -> u64 {
    match model {
        Model::Builtin(Builtin::ImdbBigru { .. }) => 10,
        Model::Builtin(Builtin::SmallXception { .. }) => 30,
        _ => 600,
    }
}
