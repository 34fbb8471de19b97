//! Pictures in folders of classes, here and in archives.

mod real;

use std::fs;
use std::path::{Path, PathBuf};

use data::{Dataset, Places, Values, facts, load, prepare};
use preprocess::{Form, Pixels};
use real::real;
use spec::{Color, Data, Pair, Prepare, Split};
use tempfile::{TempDir, tempdir};

fn nowhere() -> Places {
    Places { cache: PathBuf::from("/nonexistent"), offline: true }
}

fn load_all(data: &Data) -> Dataset {
    load(data, 0, &nowhere(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn error_of(data: &Data) -> String {
    load(data, 0, &nowhere(), &mut |_| {}).expect_err("it is wrong").to_string()
}

fn data(path: &Path) -> Data {
    Data { color: Some(Color::Grey), ..Data::named(path.display().to_string()) }
}

/// A grey picture of 2 rows and 3 columns, all of one brightness.
fn grey(value: u8) -> Vec<u8> {
    [b"P5 3 2 255\n".to_vec(), vec![value; 6]].concat()
}

fn put(dir: &Path, path: &str, bytes: &[u8]) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
    fs::write(path, bytes).expect("there is room");
}

/// Twenty pictures of each of two classes, and a few to validate on.
fn pets() -> TempDir {
    let dir = tempdir().expect("there is room");
    for number in 0..20 {
        put(dir.path(), &format!("pets/train/cat/{number:02}.pgm"), &grey(number));
        put(dir.path(), &format!("pets/train/dog/{number:02}.pgm"), &grey(100 + number));
    }
    put(dir.path(), "pets/validation/dog/0.pgm", &grey(200));
    put(dir.path(), "pets/readme.md", b"pets");
    dir
}

#[test]
fn pictures_keep_the_order_of_their_paths() {
    let dir = pets();
    let dataset = load_all(&data(dir.path()));
    assert_eq!((dataset.train.len(), dataset.train.shape.clone()), (40, vec![2, 3, 1]));
    let Values::U8(bytes) = &dataset.train.x else { panic!("pixels are bytes") };
    let firsts: Vec<u8> = bytes.chunks(6).map(|picture| picture[0]).collect();
    let expected: Vec<u8> = (0..20).chain(100..120).collect();
    assert_eq!(firsts, expected);
    assert_eq!(dataset.train.y[..20], [0; 20]);
    assert_eq!(dataset.validation.as_ref().unwrap().y, [1]);
    assert_eq!(dataset.labels, ["cat", "dog"]);
    let form = Pixels { height: 2, width: 3, color: Color::Grey };
    assert_eq!(dataset.form, Form::Pixels(form));
    assert_eq!(form.sample(&grey(7)).unwrap(), bytes[7 * 6..8 * 6]);

    let facts = facts(&data(dir.path())).unwrap();
    assert_eq!((facts.train, facts.validation, facts.test), (40, 1, 0));
    assert_eq!((facts.shape, facts.labels), (vec![2, 3, 1], dataset.labels));

    let sized =
        Data { image_size: Some(Pair { height: 4, width: 5 }), color: None, ..data(dir.path()) };
    assert_eq!(load_all(&sized).train.shape, [4, 5, 3]);
}

#[test]
fn a_source_with_validation_needs_no_other() {
    let dir = pets();
    let dest = tempdir().unwrap();
    let wanted = Prepare { data: data(dir.path()), shards: 3 };
    let manifest = prepare(&wanted, 0, &nowhere(), dest.path(), &mut |_| {}).unwrap();
    assert_eq!(manifest.validation.as_ref().unwrap().samples, 1);
    assert_eq!(manifest.split(Split::Train).unwrap().per_class(), [20, 20]);
    let twice = Data { validation: spec::Holdout::Share(0.1), ..data(dir.path()) };
    assert!(error_of(&twice).contains("validation samples of its own"), "{}", error_of(&twice));
    assert!(facts(&twice).is_err());
}

#[test]
fn what_cannot_be_decoded_is_counted_named_and_skipped() {
    let dir = pets();
    put(dir.path(), "pets/train/cat/00.pgm", b"");
    put(dir.path(), "pets/train/dog/zz.jpg", b"<html>not found</html>");
    let dest = tempdir().unwrap();
    let wanted = Prepare { data: data(dir.path()), shards: 1 };
    let manifest = prepare(&wanted, 0, &nowhere(), dest.path(), &mut |_| {}).unwrap();
    assert_eq!(manifest.train_samples(), 39);
    assert_eq!(manifest.skipped.files, 2);
    assert_eq!(manifest.skipped.first[0], "pets/train/cat/00.pgm: it is empty");
    assert!(manifest.skipped.first[1].contains("no JPEG"), "{:?}", manifest.skipped);

    put(dir.path(), "pets/train/dog/gigantic.pgm", b"P5 60000 60000 255\n");
    let error = error_of(&data(dir.path()));
    assert!(error.contains("3 of 43 files cannot be decoded"), "{error}");
    assert!(error.contains("60000 by 60000") && error.contains("skip_up_to"), "{error}");
    let patient = Data { skip_up_to: Some(0.1), ..data(dir.path()) };
    assert_eq!(load_all(&patient).train.len(), 39);
    let strict = Data { skip_up_to: Some(0.0), ..data(dir.path()) };
    assert!(error_of(&strict).contains("3 of 43"));
}

#[test]
fn pictures_of_many_sizes_need_one() {
    let dir = tempdir().unwrap();
    put(dir.path(), "a/1.pgm", &grey(1));
    put(dir.path(), "b/1.pgm", b"P5 1 1 255\n\x09");
    let error = error_of(&data(dir.path()));
    assert!(error.contains("1 by 1 pixels") && error.contains("`data.image_size`"), "{error}");
    let sized = Data { image_size: Some(Pair::square(2)), ..data(dir.path()) };
    assert_eq!(load_all(&sized).train.x, Values::U8(vec![1, 1, 1, 1, 9, 9, 9, 9]));
}

#[test]
fn people_who_are_held_out_are_never_trained_on() {
    let dir = tempdir().unwrap();
    for person in ["ann", "bob", "cleo"] {
        for number in 0..3 {
            put(dir.path(), &format!("{person}/{number}.pgm"), &grey(number));
        }
    }
    let held = Data { hold_out_people: Some(1), ..data(dir.path()) };
    let dataset = load_all(&held);
    assert_eq!(dataset.train.y, [0, 0, 0, 1, 1, 1]);
    assert_eq!(dataset.test.unwrap().y, [2, 2, 2]);
    assert_eq!((facts(&held).unwrap().train, facts(&held).unwrap().test), (6, 3));
    let all = Data { hold_out_people: Some(3), ..data(dir.path()) };
    assert!(error_of(&all).contains("some must be trained on"));
}

#[test]
fn cats_and_dogs_are_all_there() {
    let Some(path) = real("cats_dogs.tar") else { return };
    let wanted = Data {
        image_size: Some(Pair::square(30)),
        skip_up_to: Some(0.0),
        ..Data::named(path.display().to_string())
    };
    let dataset = load_all(&wanted);
    assert_eq!(dataset.train.per_class(), [150, 150]);
    assert_eq!(dataset.validation.unwrap().per_class(), [50, 50]);
    assert_eq!(dataset.labels, ["cats", "dogs"]);
    assert_eq!(dataset.train.shape, [30, 30, 3]);
    assert!(dataset.skipped.is_none());
}

#[test]
fn faces_of_forty_people() {
    let Some(path) = real("orl_faces.tar.gz") else { return };
    let wanted = Data { hold_out_people: Some(10), skip_up_to: Some(0.0), ..data(&path) };
    let facts = facts(&wanted).unwrap();
    assert_eq!((facts.train, facts.test, facts.classes), (300, 100, 40));
    let dataset = load_all(&wanted);
    assert_eq!(dataset.train.shape, [112, 92, 1]);
    assert_eq!(dataset.train.per_class()[..30], [10; 30]);
    assert_eq!(dataset.test.unwrap().per_class()[30..], [10; 10]);
}
