//! Texts in folders of classes, here and in archives.

mod real;

use std::fs;
use std::path::{Path, PathBuf};

use data::{Dataset, Manifest, Places, Samples, ValueKind, Values, View, facts, load, prepare};
use preprocess::{Encoder, Form};
use real::real;
use spec::{Data, Holdout, Prepare, Split};
use tempfile::{TempDir, tempdir};

fn nowhere() -> Places {
    Places { cache: PathBuf::from("/nonexistent"), offline: true }
}

fn load_all(data: &Data) -> Dataset {
    load(data, 0, &nowhere(), &mut |_| {}).expect("it is there and whole")
}

fn data(path: &Path) -> Data {
    Data { vocabulary_size: Some(10), length: Some(4), ..Data::named(path.display().to_string()) }
}

/// Four reviews to train on, two to test on, and some that do not count.
fn reviews() -> TempDir {
    let dir = tempdir().expect("there is room");
    for (path, text) in [
        ("acl/train/pos/0_9.txt", "Good, good film"),
        ("acl/train/pos/1_9.txt", "good <br /> film"),
        ("acl/train/neg/0_1.txt", "a bad film"),
        ("acl/train/neg/1_1.txt", "bad"),
        ("acl/train/unsup/0_0.txt", "bad bad bad bad bad"),
        ("acl/test/pos/0_9.txt", "one two three four five good"),
        ("acl/test/neg/0_1.txt", "unheard"),
        ("acl/train/urls_pos.txt", "http"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
        fs::write(path, text).expect("there is room");
    }
    dir
}

fn rows(samples: &Samples) -> Vec<Vec<u16>> {
    let View::U16(ids) = samples.x.view() else { panic!("a small vocabulary takes two bytes") };
    ids.chunks(samples.row()).map(<[u16]>::to_vec).collect()
}

#[test]
fn texts_become_ids_by_the_words_of_the_training_texts() {
    let dir = reviews();
    let dataset = load_all(&data(dir.path()));
    assert_eq!(dataset.labels, ["neg", "pos"]);
    // film 3, good 3, bad 2, a 1, br 1: ties by the alphabet.
    let Form::Text(form) = &dataset.form else { panic!("they are texts") };
    assert_eq!(form.vocabulary, ["film", "good", "bad", "a", "br"]);
    assert_eq!(rows(&dataset.train), [[1, 7, 6, 4], [0, 0, 1, 6], [1, 5, 5, 4], [1, 5, 8, 4]]);
    assert_eq!(dataset.train.y, [0, 0, 1, 1]);
    let test = dataset.test.unwrap();
    assert_eq!(rows(&test), [[0, 0, 1, 2], [2, 2, 2, 5]]);
    // The card's own function does to a text what was done to the samples.
    assert_eq!(Encoder::new(form).sample("unheard"), [0, 0, 1, 2]);

    let facts = facts(&data(dir.path())).unwrap();
    assert_eq!((facts.train, facts.validation, facts.test), (4, 0, 2));
    assert_eq!((facts.shape, facts.width, facts.classes), (vec![4], 2, 2));
}

#[test]
fn ids_are_written_and_read_again() {
    let dir = reviews();
    for size in [10, 100_000] {
        let dest = tempdir().unwrap();
        let data =
            Data { vocabulary_size: Some(size), validation: Holdout::Count(1), ..data(dir.path()) };
        let wanted = Prepare { data: data.clone(), shards: 3 };
        let run = || prepare(&wanted, 0, &nowhere(), dest.path(), &mut |_| {}).unwrap();
        let manifest = run();
        assert_eq!(manifest.values, if size == 10 { ValueKind::U16 } else { ValueKind::U32 });
        assert_eq!(run(), manifest);
        let opened = Manifest::open(dest.path()).unwrap();
        assert_eq!(opened, manifest);
        let loaded = load_all(&data);
        assert_eq!(opened.form, loaded.form);
        assert_eq!(opened.split(Split::Test).unwrap(), loaded.test.unwrap());
        let train = opened.split(Split::Train).unwrap();
        assert_eq!((train.len(), train.x.kind()), (3, manifest.values));
        // A damaged id is found.
        let shard = manifest.shard_file(0).unwrap();
        let mut bytes = fs::read(&shard).unwrap();
        let array = bytes.windows(5).position(|name| name == b"NUMPY").unwrap();
        let first = array + bytes[array..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
        bytes[first] ^= 1;
        fs::write(&shard, bytes).unwrap();
        assert!(opened.shard(0).is_err());
    }
}

#[test]
fn a_vocabulary_can_be_given() {
    let dir = reviews();
    let path = dir.path().join("index.json");
    fs::write(&path, r#"{"bad": 1, "film": 3, "rare": 70}"#).unwrap();
    let given = Data { vocabulary: Some(path.display().to_string()), ..data(dir.path()) };
    let dataset = load_all(&given);
    assert_eq!(rows(&dataset.train)[0], [1, 2, 4, 6]);
    fs::write(&path, "{").unwrap();
    let error = load(&given, 0, &nowhere(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("index.json"), "{error}");
}

#[test]
fn a_folder_of_nothing_says_what_is_understood() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.doc"), "").unwrap();
    let error = facts(&data(dir.path())).unwrap_err().to_string();
    assert!(error.contains("holds 1 files") && error.contains("for each class"), "{error}");
}

/// Keras' `x_train[0]`, which is `train/pos/576_10.txt`.
const FIRST: [u16; 218] = [
    1, 14, 22, 16, 43, 530, 973, 1622, 1385, 65, 458, 4468, 66, 3941, 4, 173, 36, 256, 5, 25, 100,
    43, 838, 112, 50, 670, 2, 9, 35, 480, 284, 5, 150, 4, 172, 112, 167, 2, 336, 385, 39, 4, 172,
    4536, 1111, 17, 546, 38, 13, 447, 4, 192, 50, 16, 6, 147, 2025, 19, 14, 22, 4, 1920, 4613, 469,
    4, 22, 71, 87, 12, 16, 43, 530, 38, 76, 15, 13, 1247, 4, 22, 17, 515, 17, 12, 16, 626, 18, 2,
    5, 62, 386, 12, 8, 316, 8, 106, 5, 4, 2223, 5244, 16, 480, 66, 3785, 33, 4, 130, 12, 16, 38,
    619, 5, 25, 124, 51, 36, 135, 48, 25, 1415, 33, 6, 22, 12, 215, 28, 77, 52, 5, 14, 407, 16, 82,
    2, 8, 4, 107, 117, 5952, 15, 256, 4, 2, 7, 3766, 5, 723, 36, 71, 43, 530, 476, 26, 400, 317,
    46, 7, 4, 2, 1029, 13, 104, 88, 4, 381, 15, 297, 98, 32, 2071, 56, 26, 141, 6, 194, 7486, 18,
    4, 226, 22, 21, 134, 476, 26, 480, 5, 144, 30, 5535, 18, 51, 36, 28, 224, 92, 25, 104, 4, 226,
    65, 16, 38, 1334, 88, 12, 16, 283, 5, 16, 4472, 113, 103, 32, 15, 16, 5345, 19, 178, 32,
];

#[test]
fn imdb_is_encoded_as_keras_encodes_it() {
    let (Some(imdb), Some(index)) = (real("imdb.tar.xz"), real("imdb_word_index.json")) else {
        return;
    };
    let imdb = Data {
        vocabulary: Some(index.display().to_string()),
        ..Data::named(imdb.display().to_string())
    };
    let facts = facts(&imdb).unwrap();
    assert_eq!((facts.train, facts.test, facts.shape), (25_000, 25_000, vec![500]));
    let dataset = load_all(&imdb);
    assert_eq!(dataset.train.per_class(), [12_500, 12_500]);
    assert_eq!(dataset.labels, ["neg", "pos"]);
    let Values::U16(ids) = &dataset.train.x else { panic!("10,000 words take two bytes") };
    let mut padded = vec![0; 500 - FIRST.len()];
    padded.extend_from_slice(&FIRST);
    let places: Vec<usize> =
        ids.chunks(500).enumerate().filter(|(_, row)| *row == padded).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 1);
    assert_eq!(dataset.train.y[places[0]], 1);
    // By name it is the same, and checked.
    let known = Data {
        mirror: Some(imdb.from.clone()),
        vocabulary: imdb.vocabulary.clone(),
        ..Data::named("imdb")
    };
    assert_eq!(load_all(&known), dataset);
}

#[test]
fn imdb_is_checked_whatever_its_copy() {
    let dir = reviews();
    let known = Data { mirror: Some(dir.path().display().to_string()), ..Data::named("imdb") };
    let error = load(&known, 0, &nowhere(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("does not hold the 25000 training texts of imdb (it has 4"), "{error}");
    let absent = load(&Data::named("imdb"), 0, &nowhere(), &mut |_| {}).unwrap_err().to_string();
    assert!(
        absent.contains("fetching is switched off") && absent.contains("aclImdb_v1.tar.gz"),
        "{absent}"
    );
    let facts = facts(&Data { length: Some(80), ..Data::named("imdb") }).unwrap();
    assert_eq!((facts.train, facts.test, facts.shape), (25_000, 25_000, vec![80]));
}
