use std::collections::HashMap;
use std::fs;
use std::path::Path;

use model::{Error, FileProblem, Format, Metrics, Model, Trained, weights_sha256};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use tempfile::tempdir;

use crate::small_model;

/// A model with everything a card can say.
fn full_model() -> Model {
    let mut model = small_model(5);
    let metrics = Metrics { loss: 0.1, accuracy: 0.97 };
    model.card.metrics.insert("test".into(), metrics);
    model.card.labels = vec!["nein".into(), "ja \"\u{1f600}\"".into()];
    model.card.trained = Some(Trained {
        epochs: 2,
        steps: 100,
        batch: 20,
        optimizer: spec::Optimizer::Adam(spec::Adam::default()),
        loss: spec::Loss::default(),
        seed: u64::MAX,
        seconds: 1.5,
    });
    model
}

#[test]
fn a_model_comes_back_as_it_was() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("new/m.safetensors");
    let mut model = full_model();
    model.weights[3] = f32::NAN;
    model.weights[4] = f32::NEG_INFINITY;
    model.weights[5] = -0.0;
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    let bits = |model: &Model| -> Vec<u32> { model.weights.iter().map(|w| w.to_bits()).collect() };
    assert_eq!(bits(&loaded), bits(&model));
    assert_eq!(loaded.graph, model.graph);
    assert_eq!(loaded.card.weights_sha256, weights_sha256(&model.weights));
    assert_eq!(loaded.non_finite(), 2);
    model.card.weights_sha256 = loaded.card.weights_sha256.clone();
    assert_eq!(loaded.card, model.card);

    assert_eq!(fs::read(&path).unwrap(), model.to_bytes());
    assert_eq!(loaded.to_bytes(), model.to_bytes());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_card_may_be_longer_than_64_kib() {
    let mut model = full_model();
    model.card.labels = (0..10_000).map(|word| format!("word number {word}")).collect();
    model.card.weights_sha256 = model.weights_sha256();
    let formats = [Format::Safetensors, Format::Hdf5, Format::Keras, Format::Npz];
    for bytes in formats.map(|format| model.to_bytes_as(format).unwrap()) {
        assert_eq!(Model::from_bytes(&bytes).unwrap().card, model.card);
    }
}

#[test]
fn the_reference_reader_reads_ours() {
    let model = full_model();
    let bytes = model.to_bytes();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.len(), model.graph.weights().len());
    for weight in model.graph.weights() {
        let tensor = tensors.tensor(&weight.name).unwrap();
        assert_eq!((tensor.dtype(), tensor.shape()), (Dtype::F32, &weight.shape[..]));
        let values = model.weights[weight.range.clone()].iter();
        assert!(values.flat_map(|value| value.to_le_bytes()).eq(tensor.data().iter().copied()));
    }
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert!(metadata["trainyard.graph"].contains("\"Dense\""));
    assert!(metadata["trainyard.card"].contains("\"mnist-mlp\""));
}

/// What another program makes of a model's tensors and metadata.
fn rewritten(model: &Model, change: impl FnOnce(&mut HashMap<String, String>)) -> Vec<u8> {
    let bytes = model.to_bytes();
    let (_, header) = SafeTensors::read_metadata(&bytes).expect("a right file");
    let mut metadata = header.metadata().clone().expect("our files have metadata");
    change(&mut metadata);
    let tensors = SafeTensors::deserialize(&bytes).expect("a right file");
    let views: Vec<(String, TensorView<'_>)> = tensors.tensors();
    safetensors::serialize(views, Some(metadata)).expect("a right file")
}

#[test]
fn we_read_the_reference_writers_files() {
    let model = full_model();
    // It sorts tensors by name: bias before kernel.
    let bytes = rewritten(&model, |_| ());
    assert_ne!(bytes, model.to_bytes());
    assert_eq!(Model::from_bytes(&bytes).unwrap().weights, model.weights);
}

#[test]
fn files_that_are_no_models_of_ours_are_told_apart() {
    let model = full_model();
    let problem = |bytes: Vec<u8>| Model::from_bytes(&bytes).unwrap_err();
    let no_graph = problem(rewritten(&model, |about| drop(about.remove("trainyard.graph"))));
    assert!(no_graph.to_string().contains("trainyard.graph"), "{no_graph}");
    let no_card = problem(rewritten(&model, |about| drop(about.remove("trainyard.card"))));
    assert!(matches!(no_card, FileProblem::NotAModel(_)), "{no_card}");
    let newer = problem(rewritten(&model, |about| {
        let card = about.get_mut("trainyard.card").unwrap();
        *card = card.replace("\"version\":1", "\"version\":9");
    }));
    assert!(matches!(newer, FileProblem::Newer { found: 9, known: 1 }), "{newer}");
    let layer = problem(rewritten(&model, |about| {
        let graph = about.get_mut("trainyard.graph").unwrap();
        *graph = graph.replace("\"Flatten\"", "\"Unroll\"");
    }));
    assert!(layer.to_string().contains("unknown variant `Unroll`"), "{layer}");
    let swapped = problem(rewritten(&model, |about| {
        let card = about.get_mut("trainyard.card").unwrap();
        *card = card.replace("\"shape\":[2,2,1]", "\"shape\":[4]");
    }));
    assert!(matches!(swapped, FileProblem::Damaged(_)), "{swapped}");
}

#[test]
fn messages_name_the_file() {
    let folder = tempdir().unwrap();
    let model = small_model(0);
    for name in ["m.pt", "m"] {
        let error = model.save(&folder.path().join(name)).unwrap_err().to_string();
        assert!(
            error.contains(name) && error.contains(".safetensors, .h5, .keras or .npz"),
            "{error}"
        );
    }
    assert!(Model::can_save(Path::new("m.pt")).is_err());
    for name in ["m.h5", "m.keras", "m.npz", "m.safetensors"] {
        assert!(Model::can_save(Path::new(name)).is_ok());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let h5 = folder.path().join("old.h5");
    fs::write(&h5, b"\x89HDF\r\n\x1a\n and more").unwrap();
    for (path, word) in [
        (h5.as_path(), "old.h5: it is damaged: it is not a whole HDF5 file"),
        (folder.path(), "not a file"),
        (&folder.path().join("none"), "none: No such file"),
    ] {
        let error = Model::load(path).unwrap_err();
        assert!(matches!(error, Error::File { .. }));
        assert!(error.to_string().contains(word), "{error}");
    }
}
