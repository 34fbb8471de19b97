//! A model as arrays, from anybody.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{Format, Model};

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = Model::from_bytes(bytes) else {
        return;
    };
    let written = model.to_bytes_as(Format::Npz).expect("memory takes all that is written to it");
    let again = Model::from_bytes(&written).expect("what was written is read");
    assert_eq!(again.graph, model.graph);
    assert_eq!(again.weights_sha256(), model.weights_sha256());
});
