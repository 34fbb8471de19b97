//! Files real numpy wrote (`fixtures/make.py`), and files nobody should believe.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use data::npz::{self, Limits};
use data::{Places, Samples, Values, View, facts, load};
use proptest::prelude::*;
use spec::Data;
use tempfile::tempdir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn data(path: &Path) -> Data {
    Data::named(path.display().to_string())
}

fn load_train(path: &Path) -> Result<Samples, String> {
    let places = Places { cache: PathBuf::new(), offline: true };
    let loaded = load(&data(path), 0, &places, &mut |_| {});
    loaded.map(|dataset| dataset.train).map_err(|error| error.to_string())
}

#[test]
fn what_numpy_writes_is_read() {
    let expected = Samples {
        shape: vec![2, 2, 1],
        x: Values::U8((0..12).collect()),
        y: vec![2, 0, 1],
        classes: 3,
    };
    for name in ["stored", "compressed", "version2", "version3", "keras"] {
        let path = fixture(&format!("{name}.npz"));
        assert_eq!(load_train(&path).unwrap(), expected, "{name}");
        let facts = facts(&data(&path)).unwrap();
        assert_eq!((facts.train, facts.classes, facts.width), (3, 3, 1), "{name}");
        assert_eq!(facts.test, usize::from(name == "keras"), "{name}");
    }
    let column = load_train(&fixture("column.npz")).unwrap();
    assert_eq!((column.shape, column.y), (vec![4], vec![2, 0, 1]));
    assert_eq!(column.x, Values::F32((0..12u8).map(|i| f32::from(i) / 2.0).collect()));
}

#[test]
fn every_kind_of_number_is_read() {
    let bytes = std::fs::read(fixture("kinds.npz")).unwrap();
    let arrays = npz::read(&bytes, &Limits::default()).unwrap();
    assert_eq!(arrays.len(), 10);
    for (name, array) in arrays {
        assert_eq!(array.shape, [3], "{name}");
        match array.values {
            Values::U8(values) => assert_eq!((name.as_str(), values), ("u1", vec![0, 1, 100])),
            Values::F32(values) => assert_eq!(values, [0.0, 1.0, 100.0], "{name}"),
            ids => panic!("{name}: {ids:?}"),
        }
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_a_reason() {
    for (name, reason) in [
        ("pickled", "x: holds pickled Python objects"),
        ("fortran", "x: is in Fortran order; save it in C order"),
        ("big_endian", "x: is big-endian (>f4); save it as little-endian: x.astype('<f4')"),
        ("structured", "x: has a structured dtype"),
        ("boolean", "x: has dtype `|b1`"),
        ("one_hot", "y: has shape [3, 3]; labels are one whole number"),
        ("negative", "y: holds the label -1"),
        ("nan", "y: holds the label NaN"),
        ("too_large", "x: holds 1099511627777, which 32-bit floats cannot"),
        ("unequal", "x: holds 3 samples, but `y` holds 2 labels"),
        ("unnamed", "holds arr_0, arr_1; understood are x and y"),
        ("scalar", "x: is a single number"),
    ] {
        let path = fixture(&format!("{name}.npz"));
        let error = load_train(&path).unwrap_err();
        assert!(error.contains(reason), "{name}: {error}");
        assert!(error.contains(&path.display().to_string()), "{name}: {error}");
    }
}

#[test]
fn torn_and_empty_files_are_refused() {
    let whole = std::fs::read(fixture("stored.npz")).unwrap();
    let dir = tempdir().unwrap();
    let path = dir.path().join("torn.npz");
    for len in [0, 1, 21, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).unwrap();
        let error = load_train(&path).unwrap_err();
        assert!(error.contains("is not a whole .npz file"), "{len}: {error}");
    }
}

#[test]
fn nothing_may_stand_before_or_after() {
    let whole = std::fs::read(fixture("stored.npz")).unwrap();
    for bytes in [
        [&whole[..], b"x"].concat(),
        [&whole[..], &[0; 70_000]].concat(),
        [b"x", &whole[..]].concat(),
        [&whole[..], &whole].concat(),
    ] {
        let error = npz::read(&bytes, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains("is not a whole .npz file"), "{error}");
    }
}

#[test]
fn no_single_wrong_byte_panics_or_passes_as_other_samples() {
    for name in ["stored.npz", "compressed.npz"] {
        let whole = std::fs::read(fixture(name)).unwrap();
        let expected = npz::read(&whole, &Limits::default()).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x55;
            // A name may change, and with it which arrays there are; elements have a checksum.
            for (_, array) in npz::read(&bytes, &Limits::default()).unwrap_or_default() {
                let known = expected.iter().any(|(_, expected)| *expected == array);
                assert!(known, "{name} byte {place}");
            }
        }
    }
}

/// A zip with one entry of these bytes.
fn zipped(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    zip.start_file(name, options).expect("memory takes it");
    zip.write_all(bytes).expect("memory takes it");
    zip.finish().expect("memory takes it").into_inner()
}

/// A version 2 array with this header and these elements.
fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(elements);
    bytes
}

#[test]
fn lying_headers_are_refused() {
    let header =
        |shape: &str| format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
    let good = npy(&header("(4,)"), &[1, 2, 3, 4]);
    assert!(npz::read(&zipped("x.npy", &good), &Limits::default()).is_ok());
    let huge = " ".repeat(1 << 20);
    for (problem, bytes, reason) in [
        ("long header", npy(&huge, &[]), "a header of 1048576 bytes"),
        ("overflow", npy(&header("(4294967296, 4294967296, 4)"), &[]), "more than memory"),
        ("overflow by 0", npy(&header("(0, 4294967296, 4294967296)"), &[]), "more than memory"),
        ("too few", npy(&header("(5,)"), &[1, 2, 3, 4]), "does not fit its"),
        ("too many", npy(&header("(3,)"), &[1, 2, 3, 4]), "does not fit its"),
        ("negative", npy(&header("(-1,)"), &[]), "numpy would not write"),
        ("code", npy(&header("__import__('os')"), &[]), "numpy would not write"),
        ("twice", npy("{'shape': (), 'shape': ()}", &[]), "numpy would not write"),
        ("no fields", npy("{}", &[]), "numpy would not write"),
        ("after it", npy(&(header("()") + "{}"), &[1]), "numpy would not write"),
        ("no comma", npy("{'shape': () 'descr': '|u1'}", &[]), "numpy would not write"),
        ("magic", b"hello, world".to_vec(), "is not a numpy array"),
        ("version", b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "npy format 9"),
        ("cut", b"\x93NUMPY\x01\x00\xff".to_vec(), "ends too early"),
        ("nothing", Vec::new(), "ends too early"),
    ] {
        let error = npz::read(&zipped("x.npy", &bytes), &Limits::default()).unwrap_err();
        assert!(error.to_string().contains(reason), "{problem}: {error}");
    }
}

#[test]
fn limits_hold() {
    let zeros =
        npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1000000,), }", &[0; 1_000_000]);
    let bomb = zipped("x.npy", &zeros);
    assert!(bomb.len() < 2_000);
    assert!(npz::read(&bomb, &Limits::default()).is_ok());
    let limits = Limits { bytes: 100_000, ..Limits::default() };
    let error = npz::read(&bomb, &limits).unwrap_err().to_string();
    assert!(error.contains("the limit is 100000"), "{error}");

    let many: Vec<String> = (0..65).map(|i| i.to_string()).collect();
    let arrays: Vec<_> =
        many.iter().map(|name| (name.as_str(), &[1][..], View::U8(&[7]))).collect();
    let file = npz::write(Cursor::new(Vec::new()), &arrays).unwrap().into_inner();
    let error = npz::read(&file, &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("65 arrays; the limit is 64"), "{error}");
}

#[test]
fn the_same_arrays_are_the_same_bytes_with_aligned_elements() {
    let write = || {
        let floats = [1.0, -2.5, f32::NAN];
        let arrays = [("a", &[2, 2][..], View::U8(&[1, 2, 3, 4])), ("b", &[3], View::F32(&floats))];
        npz::write(Cursor::new(Vec::new()), &arrays).unwrap().into_inner()
    };
    assert_eq!(write(), write());
    let header = npz::Archive::new(Cursor::new(write()), Limits::default(), "npz")
        .and_then(|mut archive| archive.header("b"))
        .unwrap();
    assert_eq!((header.kind, header.shape), (npz::Kind::F32, vec![3]));
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        rows in 0usize..20,
        columns in 1usize..20,
        seed: u64,
        floats: bool,
    ) {
        let samples = Samples::synthetic(&[columns], 3, rows, seed);
        let values = match samples.x {
            Values::U8(bytes) if floats => Values::F32(bytes.into_iter().map(|b| f32::from(b) * 0.1).collect()),
            other => other,
        };
        let shape = [rows, columns];
        let file = npz::write(Cursor::new(Vec::new()), &[("v", &shape, values.view())]).unwrap();
        let read = npz::read(file.get_ref(), &Limits::default()).unwrap();
        prop_assert_eq!(read, vec![("v".to_owned(), npz::Array { shape: shape.to_vec(), values })]);
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = npz::read(&bytes, &Limits::default());
        let _ = npz::read(&zipped("x.npy", &bytes), &Limits::default());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = npz::read(&zipped("x.npy", &npy(&text, &[])), &Limits::default());
    }
}
