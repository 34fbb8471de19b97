//! An idx file from anybody, plain or gzipped.
#![no_main]

use data::idx::{self, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(array) = idx::read(bytes, &Limits::default()) else {
        return;
    };
    let plain = idx::write(&array.shape, &array.bytes);
    let again = idx::read(&plain, &Limits::default()).expect("what was written is read");
    assert_eq!(array, again);
});
