//! The built-in sample, from its name to a shard.

use std::path::PathBuf;

use data::{Manifest, Places, facts, load, prepare};
use spec::{Data, Holdout, Prepare, Split};
use tempfile::tempdir;

fn sample() -> Data {
    Data { validation: Holdout::Count(1000), stratify: true, ..Data::named("mnist-sample") }
}

/// Nowhere: the sample needs neither cache nor network.
fn nowhere() -> Places {
    Places { cache: PathBuf::from("/nonexistent"), offline: true }
}

#[test]
fn facts_are_what_loading_finds() {
    let facts = facts(&sample()).unwrap();
    let dataset = load(&sample(), 0, &nowhere(), &mut |_| {}).unwrap();
    assert_eq!(facts.train, dataset.train.len());
    assert_eq!(facts.validation, dataset.validation.as_ref().unwrap().len());
    assert_eq!(facts.test, dataset.test.as_ref().unwrap().len());
    assert_eq!(facts.shape, dataset.train.shape);
    assert_eq!((facts.train, facts.validation, facts.test), (9000, 1000, 2000));
    assert_eq!((facts.classes, facts.shape), (10, vec![28, 28, 1]));
    assert_eq!(dataset.train.per_class(), [900; 10]);
    assert_eq!(dataset.validation.unwrap().per_class(), [100; 10]);
    assert_eq!(dataset.test.unwrap().per_class(), [200; 10]);
}

#[test]
fn it_is_prepared_once_and_checked_when_read() {
    let dir = tempdir().unwrap();
    let wanted = Prepare { data: sample(), shards: 7 };
    let mut written = 0;
    let mut run = |seed| prepare(&wanted, seed, &nowhere(), dir.path(), &mut |_| written += 1);
    let manifest = run(3).unwrap();
    assert_eq!(run(3).unwrap(), manifest);
    assert_eq!(Manifest::open(dir.path()).unwrap(), manifest);
    assert_eq!(written, 9);
    assert_eq!(manifest.train_samples(), 9000);
    for rank in 0..7 {
        let shard = manifest.shard(rank).unwrap();
        assert!((1285..=1286).contains(&shard.len()));
        assert!(shard.per_class().iter().all(|&n| (128..=129).contains(&n)));
    }
    assert!(manifest.shard(7).is_err());
    assert_eq!(manifest.split(Split::Train).unwrap().len(), 9000);
    assert_eq!(manifest.split(Split::Validation).unwrap().len(), 1000);
    assert_eq!(manifest.split(Split::Test).unwrap().len(), 2000);
}

#[test]
fn a_prepared_dataset_is_the_same_everywhere() {
    // Written down once: a run that is resumed by a newer version must find the same samples.
    let dir = tempdir().unwrap();
    let wanted = Prepare { data: sample(), shards: 2 };
    let manifest = prepare(&wanted, 0, &nowhere(), dir.path(), &mut |_| {}).unwrap();
    let hashes: Vec<&str> = manifest.train.iter().map(|part| &part.sha256[..8]).collect();
    assert_eq!(hashes, ["f71ac096", "5bbf95a1"]);
    assert_eq!(&manifest.validation.unwrap().sha256[..8], "451975eb");
}
