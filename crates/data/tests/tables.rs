//! CSV files, and S3's triplets.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use data::npz;
use data::{Dataset, Places, Values, View, facts, load, prepare};
use preprocess::Form;
use spec::{Data, Prepare};
use tempfile::tempdir;

fn nowhere() -> Places {
    Places { cache: PathBuf::from("/nonexistent"), offline: true }
}

fn data(path: &Path) -> Data {
    Data { vocabulary_size: Some(10), length: Some(3), ..Data::named(path.display().to_string()) }
}

fn load_all(data: &Data) -> Dataset {
    load(data, 0, &nowhere(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn error_of(data: &Data) -> String {
    load(data, 0, &nowhere(), &mut |_| {}).expect_err("it is wrong").to_string()
}

#[test]
fn columns_of_numbers_and_a_class() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("iris.csv");
    fs::write(
        &path,
        "\u{feff}length,width,species\r\n1,2.5,\"setosa\"\r\n-3e1, 4 ,virginica\r\n5,6,setosa",
    )
    .unwrap();
    let dataset = load_all(&data(&path));
    assert_eq!(dataset.train.x, Values::F32(vec![1.0, 2.5, -30.0, 4.0, 5.0, 6.0]));
    assert_eq!((dataset.train.y, dataset.train.shape), (vec![0, 1, 0], vec![2]));
    assert_eq!(dataset.labels, ["setosa", "virginica"]);
    let facts = facts(&data(&path)).unwrap();
    assert_eq!((facts.train, facts.shape, facts.classes, facts.width), (3, vec![2], 2, 4));

    // Classes that are numbers are in the order of numbers.
    fs::write(&path, "10,0.5\n9,0.25\n10,1\n").unwrap();
    let dataset = load_all(&Data { label: Some("1".to_owned()), ..data(&path) });
    assert_eq!((dataset.labels, dataset.train.y), (vec!["9".into(), "10".into()], vec![1, 0, 1]));
}

#[test]
fn errors_name_file_line_and_column() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("bad.csv");
    for (text, expected) in [
        ("a,b,label\n1,2,x\n1,two,x\n", "line 3, column 2: `two` is no number"),
        ("a,b,label\n1,2,x\n1,2\n", "line 3 has 2 columns"),
        ("a,b,label\n1,2,x\n1,nan,y\n", "line 3, column 2: `nan`"),
        ("a,b,label\n1,2, \n", "line 2, column 3: the class is missing"),
        ("a,b,label\n1,\"2,x\n", "line 2: opens a quote"),
        ("", "has no rows"),
        ("a,label\n", "holds no samples"),
    ] {
        fs::write(&path, text).unwrap();
        let error = error_of(&data(&path));
        assert!(error.contains("bad.csv") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_column_of_texts_becomes_ids() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("train.csv"), "text,label\n\"good, good\nfilm\",pos\nbad,neg\n")
        .unwrap();
    fs::write(dir.path().join("test.csv"), "text,label\nbad film,neg\n").unwrap();
    let dataset = load_all(&data(dir.path()));
    let Form::Text(form) = &dataset.form else { panic!("they are texts") };
    assert_eq!(form.vocabulary, ["good", "bad", "film"]);
    assert_eq!(dataset.train.x, Values::U16(vec![4, 4, 6, 0, 1, 5]));
    assert_eq!((dataset.train.y, dataset.labels), (vec![1, 0], vec!["neg".into(), "pos".into()]));
    assert_eq!(dataset.test.unwrap().x, Values::U16(vec![1, 5, 6]));
    let facts = facts(&data(dir.path())).unwrap();
    assert_eq!((facts.train, facts.test, facts.shape, facts.width), (2, 1, vec![3], 2));

    fs::write(dir.path().join("test.csv"), "text,more,label\nbad film,1,neg\n").unwrap();
    let error = error_of(&data(dir.path()));
    assert!(error.contains("has 3 columns") && error.contains("train.csv has 2"), "{error}");
}

#[test]
fn triplets_of_s3_are_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("triplet-data.npz");
    let bytes: Vec<u8> = (0..36).collect();
    let write = |arrays: &[(&str, &[usize], View<'_>)]| {
        npz::write(File::create(&path).unwrap(), arrays).unwrap();
    };
    write(&[
        ("arr_0", &[2, 3, 2, 1, 3], View::U8(&bytes)),
        ("arr_1", &[1, 3, 2, 1, 3], View::U8(&bytes[..18])),
    ]);
    let dataset = load_all(&data(&path));
    assert_eq!((dataset.train.len(), &dataset.train.shape[..]), (2, &[3, 2, 1, 3][..]));
    assert_eq!(dataset.test.as_ref().unwrap().len(), 1);
    let facts = facts(&data(&path)).unwrap();
    assert_eq!((facts.train, facts.test, facts.width), (2, 1, 1));
    let dest = tempdir().unwrap();
    let wanted = Prepare { data: data(&path), shards: 2 };
    let manifest = prepare(&wanted, 0, &nowhere(), dest.path(), &mut |_| {}).unwrap();
    assert_eq!(manifest.shard(0).unwrap().shape, [3, 2, 1, 3]);
    write(&[("arr_0", &[6, 2, 1, 3], View::U8(&bytes))]);
    assert!(error_of(&data(&path)).contains("of shape (n, 3, height, width, channels)"));
}
