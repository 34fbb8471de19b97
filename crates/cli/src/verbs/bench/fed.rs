//! What a network is fed with while it is measured: random samples, as many as its seed trains on, so
//! that an epoch and what its end costs are of a real size.

use data::Samples;
use spec::{Builtin, Model, Pair, Train};

/// Random samples for a network: every worker has at least one whole batch.
pub(super) fn samples(train: &Train) -> Samples {
    let pictures_each = if train.embeds() { 3 } else { 1 };
    let at_least = pictures_each * train.batch * train.workers;
    match &train.model {
        Model::Builtin(Builtin::ImdbBigru { vocabulary_size }) => {
            let words = u16::try_from(*vocabulary_size).unwrap_or(u16::MAX);
            Samples::synthetic_texts(500, words, 2, at_least.max(25_000), 0)
        }
        Model::Builtin(Builtin::SmallXception { image_size, .. }) => {
            pictures(image_size.unwrap_or(Pair::square(30)), (3, 2), (at_least, 18_728))
        }
        // The pictures of S3's people, and of those that come with the example of faces.
        Model::Builtin(Builtin::Facenet { image_size, .. }) => {
            pictures(image_size.unwrap_or(Pair::square(160)), (3, 40), (at_least, 400))
        }
        Model::Builtin(Builtin::FacenetSmall { image_size, .. }) => {
            let size = image_size.unwrap_or(Pair { height: 56, width: 46 });
            pictures(size, (1, 40), (at_least, 400))
        }
        _ => Samples::synthetic(&[28, 28, 1], 10, at_least.max(60_000), 0),
    }
}

/// Random pictures: as many as asked for, but few enough to fit into memory.
fn pictures(
    Pair { height, width }: Pair,
    (channels, classes): (usize, usize),
    (at_least, usual): (usize, usize),
) -> Samples {
    let most = (1 << 28) / (height * width * channels).max(1);
    Samples::synthetic(&[height, width, channels], classes, at_least.max(most.min(usual)), 0)
}

/// How many steps tell: a few seconds of them.
pub(super) fn steps(model: &Model) -> u64 {
    match model {
        Model::Builtin(Builtin::ImdbBigru { .. }) => 10,
        Model::Builtin(Builtin::SmallXception { .. }) => 30,
        Model::Builtin(Builtin::Facenet { .. }) => 3,
        Model::Builtin(Builtin::FacenetSmall { .. }) => 100,
        _ => 600,
    }
}
