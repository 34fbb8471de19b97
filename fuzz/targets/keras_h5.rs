//! An HDF5 file from anybody: a whole model, or weights for layers we have.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{Format, Model};

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = Model::from_bytes(bytes) else {
        return;
    };
    assert_eq!(model.weights.len(), model.graph.parameter_count());
    let alone = model.with_weights(bytes.to_vec()).expect("weights that were just read");
    assert!(same(&alone.weights, &model.weights));
    // HDF5 has names of its own that no layer can have, such as a dot.
    let Ok(written) = model.to_bytes_as(Format::Hdf5) else {
        return;
    };
    let again = Model::from_bytes(&written).expect("what was written is read");
    assert_eq!(again.graph, model.graph);
    assert!(same(&again.weights, &model.weights));
});

/// Compared as bits: a weight that is not a number is not equal to itself.
fn same(a: &[f32], b: &[f32]) -> bool {
    a.iter().map(|value| value.to_bits()).eq(b.iter().map(|value| value.to_bits()))
}
