//! Files that were cut, flipped, stretched or made to lie: always an error, never a wrong model.

use model::{FileProblem, Model};
use proptest::prelude::*;

use crate::small_model;

/// A file of given header text and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Header text and data of a right file.
fn taken_apart() -> (String, Vec<u8>) {
    let bytes = small_model(5).to_bytes();
    let (length, rest) = bytes.split_first_chunk().expect("eight bytes and more");
    let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
    (String::from_utf8(header.into()).expect("JSON"), data.into())
}

#[test]
fn lies_in_the_header_are_found() {
    let (header, data) = taken_apart();
    assert!(Model::from_bytes(&file(&header, &data)).is_ok());
    for (truth, lie, word) in [
        ("F32", "F16", "dense/kernel is of type F16"),
        ("\"shape\":[4,3]", "\"shape\":[3,4]", "dense/kernel does not have the shape [4, 3]"),
        ("\"shape\":[4,3]", "\"shape\":[4,3,18446744073709551615]", "shape"),
        ("\"data_offsets\":[0,48]", "\"data_offsets\":[48,0]", "as large"),
        ("\"data_offsets\":[0,48]", "\"data_offsets\":[0,18446744073709551615]", "as large"),
        ("\"data_offsets\":[48,60]", "\"data_offsets\":[0,12]", "overlap"),
        ("\"data_offsets\":[0,48]", "\"data_offsets\":[4,52]", "overlap"),
        ("\"data_offsets\":[0,48]", "\"data_offsets\":[-1,47]", "header"),
        ("\"dense/kernel\"", "\"dense/colonel\"", "no tensor dense/kernel"),
        (
            "\"dense_1/bias\":",
            "\"x\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"dense_1/bias\":",
            "no layer has the tensor x",
        ),
        ("{\"__meta", "[\"__meta", "header"),
    ] {
        let lying = header.replacen(truth, lie, 1);
        assert_ne!(lying, header, "{truth} is not in {header}");
        let error = Model::from_bytes(&file(&lying, &data)).unwrap_err().to_string();
        assert!(error.contains(word), "{lie}: {error}");
    }
    let flipped = [&data[..7], &[data[7] ^ 1], &data[8..]].concat();
    let error = Model::from_bytes(&file(&header, &flipped)).unwrap_err().to_string();
    assert!(error.contains("hash"), "{error}");
}

#[test]
fn wrong_sizes_are_found_before_memory_is_asked_for() {
    let (header, data) = taken_apart();
    let longer = [&data[..], &[0; 4]].concat();
    for data in [&data[..data.len() - 1], &longer, &[]] {
        let error = Model::from_bytes(&file(&header, data)).unwrap_err();
        assert!(error.to_string().contains("bytes, and it has"), "{error}");
    }
    // Layers of 8 GiB in a file of a few hundred bytes.
    let huge = header
        .replace("\\\"units\\\":3", "\\\"units\\\":100000000")
        .replace("\"shape\":[4,3]", "\"shape\":[4,100000000]");
    let error = Model::from_bytes(&file(&huge, &data)).unwrap_err();
    assert!(matches!(error, FileProblem::Damaged(_)), "{error}");

    for length in [u64::MAX, 1 << 40, (16 << 20) + 1, 9999] {
        let bytes = [&length.to_le_bytes(), header.as_bytes()].concat();
        let error = Model::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains("header"), "{length}: {error}");
    }
    for text in ["", "{}", "null", &"[".repeat(10_000), &" ".repeat(1 << 20)] {
        assert!(Model::from_bytes(&file(text, &[])).is_err());
    }
}

proptest! {
    #[test]
    fn a_cut_file_is_never_a_model(keep in 0.0..1.0f64) {
        let bytes = small_model(5).to_bytes();
        let keep = (keep * bytes.len() as f64) as usize;
        prop_assert!(Model::from_bytes(&bytes[..keep]).is_err());
    }

    #[test]
    fn flipped_bits_never_change_the_weights(flips in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let model = small_model(5);
        let mut bytes = model.to_bytes();
        for flip in flips {
            let bit = flip.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        // A flip in the card's texts may go unseen; one that reaches the weights may not, except
        // together with one that hides the hash.
        if let Ok(read) = Model::from_bytes(&bytes) {
            prop_assert!(read.weights == model.weights || read.card.weights_sha256.is_empty());
        }
    }

    #[test]
    fn noise_is_never_a_model(noise in prop::collection::vec(any::<u8>(), 0..2000), length in 0u64..3000) {
        prop_assert!(Model::from_bytes(&noise).is_err());
        let with_length = [&length.to_le_bytes()[..], &noise].concat();
        prop_assert!(Model::from_bytes(&with_length).is_err());
    }
}
