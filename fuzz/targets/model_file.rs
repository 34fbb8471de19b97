//! A model file from anybody.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Model;

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = Model::from_bytes(bytes) else {
        return;
    };
    assert_eq!(model.weights.len(), model.graph.parameter_count());
    // Compared as bytes: a weight that is not a number is not equal to itself.
    let written = model.to_bytes();
    let again = Model::from_bytes(&written).expect("what was written is read");
    assert_eq!(written, again.to_bytes());
});
