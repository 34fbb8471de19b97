//! Makes a dataset ready: fetched, checked, split into shards.

use std::time::Duration;

use data::Progress;
use spec::Prepare;

use crate::Error;
use crate::context::Context;
use crate::event::Kind;
use crate::orders::{Orders, Performed};

/// How often a download is told of.
const TELL_EVERY: Duration = Duration::from_secs(1);

pub(crate) fn prepare(
    orders: &Orders,
    prepare: &Prepare,
    context: &mut Context<'_>,
) -> Result<Performed, Error> {
    let folder = orders.run_dir().data(&orders.task.id);
    let places = data::Places {
        cache: orders.surroundings.cache.clone(),
        offline: orders.surroundings.offline,
    };
    let mut told_at = None;
    let mut tell = |progress: Progress<'_>| {
        let Progress::Fetching { file, done, total } = progress else {
            return;
        };
        let now = context.clock.elapsed();
        if total == Some(done) || told_at.is_none_or(|at| now >= at + TELL_EVERY) {
            told_at = Some(now);
            context.emit(Kind::Fetching { file: file.to_owned(), bytes: done, total });
        }
    };
    let manifest = data::prepare(prepare, orders.task.seed, &places, &folder, &mut tell)?;
    context.emit(Kind::Prepared {
        train: manifest.train_samples() as u64,
        validation: manifest.validation.map_or(0, |part| part.samples as u64),
        test: manifest.test.map_or(0, |part| part.samples as u64),
        sha256: manifest.origin.train_sha256,
        skipped: manifest.skipped,
    });
    Ok(Performed::Done)
}
