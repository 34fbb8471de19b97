//! A model file from anybody.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Model;

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = Model::from_bytes(bytes) else {
        return;
    };
    assert_eq!(model.weights.len(), model.graph.parameter_count());
});
