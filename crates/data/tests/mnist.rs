//! The published datasets, where they are at hand.

mod real;

use std::path::{Path, PathBuf};

use data::{Dataset, Places, Samples, facts, load, prepare};
use real::real;
use spec::{Data, Holdout, Prepare};
use tempfile::tempdir;

fn nowhere() -> Places {
    Places { cache: PathBuf::from("/nonexistent"), offline: true }
}

fn data(name: &str, mirror: Option<&Path>) -> Data {
    Data { mirror: mirror.map(|path| path.display().to_string()), ..Data::named(name) }
}

fn load_all(data: &Data) -> Dataset {
    load(data, 0, &nowhere(), &mut |_| {}).expect("it is there and whole")
}

#[test]
fn mnist_is_split_as_s1_did() {
    let Some(path) = real("mnist") else { return };
    let wanted = Data { validation: Holdout::Count(5_000), ..data("mnist", Some(&path)) };
    let dataset = load_all(&wanted);
    let facts = facts(&wanted).unwrap();
    assert_eq!((facts.train, facts.validation, facts.test), (55_000, 5_000, 10_000));
    assert_eq!(dataset.train.len(), 55_000);
    assert_eq!(dataset.validation.unwrap().len(), 5_000);
    assert_eq!(dataset.test.unwrap().len(), 10_000);
    // As a folder like any other it is the same.
    let plain = load_all(&data(&path.display().to_string(), None));
    assert_eq!(plain.train, load_all(&data("mnist", Some(&path))).train);
}

#[test]
fn what_was_prepared_needs_its_source_no_more() {
    let Some(path) = real("mnist") else { return };
    let dest = tempdir().unwrap();
    let wanted = |mirror| Prepare { data: data("mnist", mirror), shards: 3 };
    let run = |mirror| prepare(&wanted(mirror), 0, &nowhere(), dest.path(), &mut |_| {});
    let manifest = run(Some(&path)).unwrap();
    assert_eq!(run(None).unwrap(), manifest);
}

#[test]
fn the_built_in_sample_is_what_the_committed_rule_cuts() {
    let Some(path) = real("mnist") else { return };
    let whole = load_all(&data("mnist", Some(&path)));
    let cut = load_all(&data("mnist-sample", None));
    for (whole, cut, each) in
        [(&whole.train, &cut.train, 1000), (&whole.test.unwrap(), &cut.test.unwrap(), 200)]
    {
        assert_eq!(whole.gather(&evenly(whole, each)), *cut);
    }
}

/// As `examples/cut_mnist_sample.rs` chooses.
fn evenly(samples: &Samples, each: usize) -> Vec<u32> {
    let mut chosen = Vec::new();
    for class in 0..10 {
        let of_class: Vec<u32> =
            (0..samples.len() as u32).filter(|&index| samples.y[index as usize] == class).collect();
        chosen.extend((0..each).map(|i| of_class[i * of_class.len() / each]));
    }
    chosen.sort_unstable();
    chosen
}

#[test]
fn fashion_mnist_is_known() {
    // Where Debian's package dataset-fashion-mnist puts it.
    let path = Path::new("/usr/share/datasets/fashion-mnist");
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return;
    }
    let dataset = load_all(&data("fashion-mnist", Some(path)));
    assert_eq!(dataset.train.per_class(), [6_000; 10]);
    assert_eq!(dataset.labels[9], "Ankle boot");
}
