//! Makes a dataset ready: fetched, checked, split into shards.

use data::Progress;
use spec::Prepare;

use crate::Error;
use crate::event::Kind;
use crate::perform::{Orders, Performed, World};

pub(crate) fn prepare(
    orders: &Orders,
    prepare: &Prepare,
    world: World<'_>,
) -> Result<Performed, Error> {
    let folder = orders.run_dir().data(&orders.task.id);
    let places = data::Places {
        cache: orders.surroundings.cache.clone(),
        offline: orders.surroundings.offline,
    };
    let mut tell = |progress: Progress<'_>| {
        if let Progress::Fetching { file, done, total } = progress {
            (world.emit)(Kind::Fetching {
                file: file.to_owned(),
                bytes: done,
                total,
            });
        }
    };
    let manifest = data::prepare(prepare, orders.task.seed, &places, &folder, &mut tell)?;
    (world.emit)(Kind::Prepared {
        train: manifest.train.iter().map(|part| part.samples as u64).sum(),
        validation: manifest.validation.map_or(0, |part| part.samples as u64),
        test: manifest.test.map_or(0, |part| part.samples as u64),
        sha256: manifest.origin.train_sha256,
    });
    Ok(Performed::Done)
}
