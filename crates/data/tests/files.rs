//! Folders, npz files, prepared datasets and S2's shards, on disk.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use data::{
    Manifest, Places, Samples, Values, View, facts, idx, inputs, load, npz, prepare, write_shards,
};
use spec::{Assign, Data, Holdout, Prepare, Split};
use tempfile::{TempDir, tempdir};

fn data(path: &Path) -> Data {
    Data::named(path.display().to_string())
}

fn offline() -> Places {
    Places { cache: PathBuf::from("/nonexistent"), offline: true }
}

fn error_of(data: &Data) -> String {
    let loaded = load(data, 0, &offline(), &mut |_| {});
    let loaded = loaded.expect_err("it is refused").to_string();
    let found = facts(data).expect_err("it is refused").to_string();
    assert_eq!(loaded, found, "facts and load refuse alike");
    loaded
}

/// A folder of idx files under the given names: five 2×3 pictures to train, two to test.
fn folder(names: [&str; 4]) -> TempDir {
    let dir = tempdir().expect("a folder for the test");
    let pictures: Vec<u8> = (0..30).collect();
    let files = [
        idx::write(&[5, 2, 3], &pictures),
        idx::write(&[5], &[0, 1, 2, 3, 1]),
        idx::write(&[2, 2, 3], &pictures[..12]),
        idx::write(&[2], &[4, 0]),
    ];
    for (name, bytes) in names.iter().zip(files) {
        if !name.is_empty() {
            fs::write(dir.path().join(name), bytes).expect("the folder takes it");
        }
    }
    dir
}

const USUAL: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

#[test]
fn folders_are_read_under_all_usual_names() {
    let dotted = [
        "train-images.idx3-ubyte",
        "train-labels.idx1-ubyte",
        "t10k-images.idx3-ubyte",
        "t10k-labels.idx1-ubyte",
    ];
    let prefixed = [
        "emnist-digits-train-images-idx3-ubyte",
        "emnist-digits-train-labels-idx1-ubyte",
        "emnist-digits-test-images-idx3-ubyte",
        "emnist-digits-test-labels-idx1-ubyte",
    ];
    for names in [USUAL, dotted, prefixed] {
        let dir = folder(names);
        let dataset = load(&data(dir.path()), 0, &offline(), &mut |_| {}).unwrap();
        let facts = facts(&data(dir.path())).unwrap();
        assert_eq!((facts.train, facts.test, facts.classes), (5, 2, 5));
        assert_eq!(facts.shape, [2, 3, 1]);
        assert_eq!(dataset.train.shape, [2, 3, 1]);
        assert_eq!(dataset.train.classes, 5, "a class that only the test set has counts");
        assert_eq!(dataset.labels, ["0", "1", "2", "3", "4"]);
        assert_eq!(dataset.test.unwrap().y, [4, 0]);
    }
    let untested = folder([USUAL[0], USUAL[1], "", ""]);
    assert_eq!(facts(&data(untested.path())).unwrap().test, 0);
}

#[test]
fn folders_that_lack_or_confuse_are_refused() {
    let empty = tempdir().unwrap();
    assert!(error_of(&data(empty.path())).contains("nothing that is understood"));
    let half = folder([USUAL[0], USUAL[1], USUAL[2], ""]);
    assert!(error_of(&data(half.path())).contains("has no t10k-labels-idx1-ubyte"));
    let exchanged = folder([USUAL[1], USUAL[0], "", ""]);
    let error = error_of(&data(exchanged.path()));
    assert!(error.contains("are images and labels exchanged?"), "{error}");
    let two = folder(USUAL);
    fs::write(two.path().join("other-train-images-idx3-ubyte"), b"").unwrap();
    assert!(error_of(&data(two.path())).contains("keep one dataset in a folder"));
    let unequal = folder(USUAL);
    fs::write(unequal.path().join(USUAL[1]), idx::write(&[2], &[0, 1])).unwrap();
    let error = error_of(&data(unequal.path()));
    assert!(error.contains("5 images") && error.contains("2 labels"), "{error}");
    let shapes = folder(USUAL);
    let other = idx::write(&[2, 3, 3], &[0; 18]);
    fs::write(shapes.path().join(USUAL[2]), other).unwrap();
    assert!(error_of(&data(shapes.path())).contains("but test samples of shape [3, 3, 1]"));
    let none = folder(USUAL);
    fs::write(none.path().join(USUAL[0]), idx::write(&[0, 2, 3], &[])).unwrap();
    fs::write(none.path().join(USUAL[1]), idx::write(&[0], &[])).unwrap();
    assert!(error_of(&data(none.path())).contains("holds no samples"));
}

#[test]
fn what_is_no_source_says_what_is() {
    for from in ["mnits", "/nonexistent/file.npz", env!("CARGO_MANIFEST_DIR").to_owned().as_str()] {
        let error = error_of(&data(Path::new(from)));
        assert!(
            error.contains("neither a built-in dataset (mnist-sample, mnist, fashion-mnist, imdb)")
                || error.contains("four idx files"),
            "{error}"
        );
    }
    let mirrored = Data { mirror: Some("x".to_owned()), ..data(Path::new("my.npz")) };
    assert!(error_of(&mirrored).contains("`data.mirror` is another home of a built-in dataset"));
    let missing = load(&data(Path::new("mnist")), 0, &offline(), &mut |_| {}).unwrap_err();
    assert!(missing.to_string().contains("set `data.mirror`"), "{missing}");
}

#[test]
fn labels_may_be_named() {
    let dir = folder(USUAL);
    let names = |count: usize| Data {
        labels: Some((0..count).map(|class| format!("class {class}")).collect()),
        ..data(dir.path())
    };
    assert!(error_of(&names(4)).contains("`data.labels` names 4 classes"));
    assert_eq!(facts(&names(7)).unwrap().classes, 7);
    let dataset = load(&names(7), 0, &offline(), &mut |_| {}).unwrap();
    assert_eq!((dataset.train.classes, &dataset.labels[6][..]), (7, "class 6"));
}

#[test]
fn validation_leaves_something_to_train_on() {
    let dir = folder(USUAL);
    let held = |validation| Data { validation, ..data(dir.path()) };
    assert!(error_of(&held(Holdout::Count(5))).contains("leave none to train on"));
    assert!(error_of(&held(Holdout::Count(u64::MAX))).contains("leave none to train on"));
    let facts = facts(&held(Holdout::Share(0.4))).unwrap();
    assert_eq!((facts.train, facts.validation), (3, 2));
}

fn wanted(dir: &TempDir, shards: usize) -> Prepare {
    Prepare { data: Data { validation: Holdout::Count(1), ..data(dir.path()) }, shards }
}

/// The training files in a folder, sorted.
fn shard_files(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).expect("the folder is there");
    let names = names.map(|file| file.expect("a file").file_name().display().to_string());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("train-")).collect();
    names.sort();
    names
}

#[test]
fn copies_for_many_workers_are_one_file() {
    let (source, dest) = (folder(USUAL), tempdir().unwrap());
    let mut wanted = wanted(&source, 2);
    let run = |wanted: &Prepare| prepare(wanted, 0, &offline(), dest.path(), &mut |_| {}).unwrap();
    let split = run(&wanted);
    assert_eq!((split.world(), split.largest_shard(), split.train_samples()), (2, 2, 4));
    assert_eq!([0, 1, 2].map(|rank| split.shard_samples(rank)), [2, 2, 0]);
    // More workers than samples: each sees all of them.
    wanted.data.assign = Assign::Copy;
    wanted.shards = 7;
    let copy = run(&wanted);
    assert_eq!(shard_files(dest.path()), ["train-00000-of-00001.npz"]);
    assert_eq!((copy.world(), copy.largest_shard(), copy.train_samples()), (7, 4, 4));
    assert_eq!([0, 6, 7].map(|rank| copy.shard_samples(rank)), [4, 4, 0]);
    assert_eq!(copy.shard(0).unwrap(), copy.shard(6).unwrap());
    assert_eq!(copy.shard(0).unwrap(), copy.split(Split::Train).unwrap());
    let error = copy.shard(7).unwrap_err().to_string();
    assert!(error.contains("has 7 shards, numbered from 0"), "{error}");
    assert_eq!(run(&wanted), copy);
    assert_eq!(Manifest::open(dest.path()).unwrap(), copy);
}

#[test]
fn whatever_a_killed_process_left_is_replaced() {
    let (source, dest) = (folder(USUAL), tempdir().unwrap());
    let run = |shards, seed| {
        let mut written = 0;
        let wanted = wanted(&source, shards);
        let manifest = prepare(&wanted, seed, &offline(), dest.path(), &mut |_| written += 1);
        (manifest.unwrap(), written)
    };
    fs::write(dest.path().join("train-00000-of-00002.npz"), b"torn").unwrap();
    fs::write(dest.path().join("test.npz.part"), b"torn").unwrap();
    let (manifest, written) = run(2, 0);
    assert_eq!(written, 4);
    assert_eq!(run(2, 0), (manifest.clone(), 0), "nothing to do");
    // A torn manifest, a damaged shard, another seed, other shards: written again.
    fs::write(dest.path().join("manifest.json"), b"{").unwrap();
    assert_eq!(run(2, 0), (manifest.clone(), 4));
    fs::write(dest.path().join("train-00001-of-00002.npz"), b"torn").unwrap();
    assert!(manifest.shard(1).is_err());
    assert_eq!(run(2, 0), (manifest.clone(), 4));
    assert_eq!(run(2, 1).1, 4);
    assert_eq!(run(4, 1).1, 6);
    // None of the earlier shards is left beside the new ones.
    assert_eq!(
        shard_files(dest.path()),
        (0..4).map(|i| format!("train-{i:05}-of-00004.npz")).collect::<Vec<_>>()
    );
    let wanted = wanted(&source, 5);
    let error = prepare(&wanted, 0, &offline(), dest.path(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("4 samples cannot be split into 5 shards"), "{error}");
}

#[test]
fn samples_that_were_exchanged_are_found_out() {
    let (source, dest) = (folder(USUAL), tempdir().unwrap());
    let wanted = wanted(&source, 2);
    let manifest = prepare(&wanted, 0, &offline(), dest.path(), &mut |_| {}).unwrap();
    let (first, second) = (&manifest.train[0].file, &manifest.train[1].file);
    fs::copy(dest.path().join(first), dest.path().join(second)).unwrap();
    let error = manifest.shard(1).unwrap_err().to_string();
    assert!(error.contains("another hash than the manifest says"), "{error}");
    manifest.shard(0).unwrap();
}

#[test]
fn manifests_nobody_should_believe_are_refused() {
    let (source, dest) = (folder(USUAL), tempdir().unwrap());
    let open = || Manifest::open(dest.path()).unwrap_err().to_string();
    assert!(open().contains("cannot read"));
    prepare(&wanted(&source, 1), 0, &offline(), dest.path(), &mut |_| {}).unwrap();
    let path = dest.path().join("manifest.json");
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, reason) in [
        ("\"version\": 3", "\"version\": 4", "is of version 4"),
        ("\"shards\": 1", "\"shards\": 2", "names not every shard"),
        ("\"assign\": \"split\"", "\"assign\": \"deal\"", "unknown variant `deal`"),
        ("test.npz", "../test.npz", "which is not one in this folder"),
        ("test.npz", "/etc/passwd", "which is not one in this folder"),
        ("\"seed\": 0", "\"sede\": 0", "unknown field `sede`"),
    ] {
        assert!(good.contains(from));
        fs::write(&path, good.replace(from, to)).unwrap();
        assert!(open().contains(reason), "{}", open());
    }
    for (from, to) in [
        ("\"samples\": 1,", "\"samples\": 2,"),
        ("\"scale\": 0.003921569", "\"scale\": 1.0"),
        ("\"shape\": [\n    2,", "\"shape\": [\n    9223372036854775807,"),
    ] {
        assert!(good.contains(from));
        fs::write(&path, good.replace(from, to)).unwrap();
        let manifest = Manifest::open(dest.path()).unwrap();
        assert!(manifest.split(Split::Validation).is_err(), "{from}");
    }
}

#[test]
fn a_split_that_is_not_there_says_what_to_do() {
    let (source, dest) = (folder([USUAL[0], USUAL[1], "", ""]), tempdir().unwrap());
    let mut wanted = wanted(&source, 1);
    wanted.data.validation = Holdout::None;
    let manifest = prepare(&wanted, 0, &offline(), dest.path(), &mut |_| {}).unwrap();
    let error = manifest.split(Split::Test).unwrap_err().to_string();
    assert!(error.contains("has no test samples; evaluate on"), "{error}");
    let error = manifest.split(Split::Validation).unwrap_err().to_string();
    assert!(error.contains("set `data.validation`"), "{error}");
}

#[test]
fn shards_are_what_s2_wrote() {
    let dir = tempdir().unwrap();
    let samples = Samples::synthetic(&[4, 4, 1], 10, 10, 1);
    let paths = write_shards(&samples, 3, dir.path(), Assign::Split, 0).unwrap();
    assert_eq!(paths.len(), 3);
    let sizes: Vec<usize> = paths
        .iter()
        .map(|path| {
            let header = npz::Archive::open(path).unwrap().header("x").unwrap();
            assert_eq!(header.shape[1..], [4, 4]);
            load(&data(path), 0, &offline(), &mut |_| {}).unwrap().train.len()
        })
        .collect();
    assert_eq!(sizes, [4, 3, 3]);
    let error = write_shards(&samples, 2, dir.path(), Assign::Copy, 0).unwrap_err().to_string();
    assert!(error.contains("2.npz of an earlier split"), "{error}");
    assert!(write_shards(&samples, 11, dir.path(), Assign::Split, 0).is_err());
    let copies = write_shards(&samples, 12, dir.path(), Assign::Copy, 0).unwrap();
    for path in copies {
        let copy = load(&data(&path), 0, &offline(), &mut |_| {}).unwrap().train;
        assert_eq!((copy.x, copy.y), (samples.x.clone(), samples.y.clone()));
    }
}

#[test]
fn inputs_are_read_as_the_model_takes_them() {
    let dir = tempdir().unwrap();
    let write = |name: &str, arrays: &[(&str, &[usize], View<'_>)]| {
        let path = dir.path().join(name);
        let file = npz::write(Cursor::new(Vec::new()), arrays).unwrap();
        fs::write(&path, file.into_inner()).unwrap();
        path
    };
    let bytes = [7; 24];
    let pixels = View::U8(&bytes);
    let shapes: [&[usize]; 3] = [&[6, 2, 2], &[6, 2, 2, 1], &[6, 4]];
    for shape in shapes {
        let path = write("x.npz", &[("arr_0", shape, pixels)]);
        let samples = inputs(&path, &[2, 2, 1]).unwrap();
        assert_eq!((samples.len(), samples.row()), (6, 4));
    }
    let one =
        write("one.npz", &[("x", &[2, 2], View::F32(&[0.5; 4])), ("y", &[1], View::U8(&[1]))]);
    let samples = inputs(&one, &[2, 2, 1]).unwrap();
    assert_eq!((samples.len(), samples.x, 1.0), (1, Values::F32(vec![0.5; 4]), 1.0));
    let error = inputs(&one, &[28, 28, 1]).unwrap_err().to_string();
    assert!(error.contains("has shape [2, 2], but the model takes samples of shape [28, 28, 1]"));
    let unclear = write("unclear.npz", &[("a", &[24], pixels), ("b", &[24], pixels)]);
    assert!(inputs(&unclear, &[2, 2, 1]).unwrap_err().to_string().contains("name the samples x"));
    let images = folder(USUAL);
    let samples = inputs(&images.path().join(USUAL[0]), &[2, 3, 1]).unwrap();
    assert_eq!(samples.len(), 5);
}
