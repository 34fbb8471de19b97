//! Keras' files: those that Keras 2 and 3 wrote (`testbed/keras/record_models.py`), and our own.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use model::{Card, FileProblem, Format, Graph, Model, Node, Preprocess};
use proptest::prelude::*;
use spec::{Activation, ActivationLayer, Initializer, Layer};

use crate::small_model;

/// A file that Keras wrote.
fn recorded(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/keras/{name}.gz"));
    let mut bytes = vec![];
    let packed = std::fs::read(path).expect("recorded");
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("packed right");
    bytes
}

fn read(name: &str) -> Model {
    Model::from_bytes(&recorded(name)).expect(name)
}

/// Each layer with the names of what it reads.
fn rows(graph: &Graph) -> Vec<String> {
    let nodes = graph.nodes();
    let row = |node: &Node| {
        let reads: Vec<&str> = node.inputs.iter().map(|&read| nodes[read].name.as_str()).collect();
        format!("{} {}", node.name, reads.join(" "))
    };
    nodes.iter().map(row).collect()
}

#[test]
fn a_chain_is_the_same_from_every_keras() {
    let first = read("chain-3.h5");
    let rows = rows(&first.graph);
    assert_eq!(rows[1..], ["conv pixels", "pool conv", "drop pool", "flat drop", "classes flat"]);
    assert_eq!(first.graph.input_shape(), [5, 4, 1]);
    assert_eq!(first.graph.parameter_count(), 20 + 9);
    let counted: Vec<f32> = (0u8..29).map(|n| f32::from(n) / 64.0).collect();
    assert_eq!(first.weights, counted);
    assert_eq!((first.card.name.as_str(), first.card.input.scale), ("chain", 1.0));
    let starts: Vec<Initializer> = first.graph.weights().iter().map(|w| w.initializer).collect();
    assert_eq!(starts[2], Initializer::HeNormal);
    for other in ["chain-2.h5", "chain-2.keras", "chain-3.keras", "pieces-3.h5"] {
        assert_eq!(read(other), first, "{other}");
    }
}

#[test]
fn branches_are_the_same_from_every_keras() {
    let first = read("branches-3.h5");
    assert_eq!(
        rows(&first.graph).join(", "),
        "pixels , separable pixels, relu separable, depthwise pixels, \
        short pixels, both relu depthwise, sum short both, rows sum, again rows, mean again, sums mean, classes sums"
    );
    let counted: Vec<f32> = (0..first.weights.len()).map(|n| n as f32 / 64.0).collect();
    assert_eq!(first.weights, counted);
    let by_name = |name: &str| {
        let node = first.graph.nodes().iter().find(|node| node.name == name);
        node.unwrap().layer.clone()
    };
    let relu = ActivationLayer { activation: Activation::Relu };
    assert_eq!(by_name("relu"), Layer::Activation(relu));
    assert_eq!(by_name("rows"), Layer::Reshape(spec::Reshape { target_shape: vec![16, 5] }));
    let Layer::Conv2D(short) = by_name("short") else { panic!("short is a convolution") };
    assert_eq!(short.kernel_initializer, Initializer::TruncatedNormal { stddev: 0.25 });
    let Layer::Dense(sums) = by_name("sums") else { panic!("sums is dense") };
    assert_eq!(sums.kernel_initializer, Initializer::Orthogonal);
    assert!(first.check_fresh().is_ok());
    for other in ["branches-2.h5", "branches-2.keras", "branches-3.keras"] {
        assert_eq!(read(other), first, "{other}");
    }
}

/// A model whose windows have gaps and whose filters have groups.
fn gaps() -> Model {
    let layers = r#"[{"Conv2D": {"filters": 4, "kernel_size": 2, "groups": 2, "dilation_rate": [2, 1]}},
        {"DepthwiseConv2D": {"kernel_size": 2, "dilation_rate": 2}},
        {"SeparableConv2D": {"filters": 2, "kernel_size": 2, "padding": "same", "dilation_rate": [1, 3]}},
        {"Reshape": {"target_shape": [4, 2]}},
        {"Conv1D": {"filters": 2, "kernel_size": 2, "padding": "causal", "dilation_rate": 3, "groups": 2}},
        {"Flatten": {}}, {"Dense": {"units": 2, "activation": "softmax"}}]"#;
    let layers = serde_json::from_str(layers).expect("layers");
    let graph = Graph::sequential(&[5, 7, 2], layers).expect("they fit");
    let kernels: Vec<&[usize]> = graph.weights().iter().map(|w| &w.shape[..]).collect();
    assert_eq!(kernels[0], [2, 2, 1, 4]);
    assert_eq!(kernels[7], [2, 1, 2]);
    let card = Card::new("gaps", "layers", Preprocess::numbers(vec![5, 7, 2], 1.0));
    Model { weights: graph.initialize(3), graph, card }
}

#[test]
fn a_model_comes_back_from_our_own_files_as_it_was() {
    for format in [Format::Hdf5, Format::Keras, Format::Npz] {
        for model in [small_model(5), gaps(), read("chain-2.h5"), read("branches-3.keras")] {
            let bytes = model.to_bytes_as(format).unwrap();
            assert_eq!(bytes, model.to_bytes_as(format).unwrap());
            let mut again = Model::from_bytes(&bytes).unwrap();
            assert_eq!(again.card.weights_sha256, model.weights_sha256());
            again.card.weights_sha256.clear();
            assert_eq!(again, model);
        }
    }
}

#[test]
fn layers_keep_their_order_here_and_have_keras_own_there() {
    // Keras would have the layers as far from the output as each other by another order.
    let model = read("branches-3.h5");
    let mut nodes = model.graph.nodes().to_vec();
    nodes.swap(3, 4);
    nodes[5].inputs = vec![2, 4];
    nodes[6].inputs = vec![3, 5];
    let graph = Graph::new(nodes).unwrap();
    let weights = graph.initialize(7);
    let swapped = Model { graph, weights, card: model.card };
    for format in [Format::Hdf5, Format::Keras] {
        let again = Model::from_bytes(&swapped.to_bytes_as(format).unwrap()).unwrap();
        assert_eq!((again.graph, again.weights), (swapped.graph.clone(), swapped.weights.clone()));
    }
}

#[test]
fn thousands_of_layers_have_their_names_in_pieces() {
    let dense = |_| {
        Layer::Dense(spec::Dense {
            units: 1,
            activation: Activation::Linear,
            use_bias: false,
            kernel_initializer: Initializer::Ones,
            bias_initializer: Initializer::Zeros,
            trainable: true,
        })
    };
    let graph = Graph::sequential(&[1], (0..2500).map(dense).collect()).unwrap();
    let card = model::Card::new("deep", "layers", model::Preprocess::numbers(vec![1], 1.0));
    let deep = Model { weights: graph.initialize(1), graph, card };
    let again = Model::from_bytes(&deep.to_bytes_as(Format::Hdf5).unwrap()).unwrap();
    assert_eq!(again.graph, deep.graph);
}

#[test]
fn weights_go_onto_layers_that_are_known() {
    let model = read("branches-3.h5");
    let other = Model { weights: model.graph.initialize(3), ..model.clone() };
    for format in [Format::Hdf5, Format::Keras, Format::Npz, Format::Safetensors] {
        let joined = model.with_weights(other.to_bytes_as(format).unwrap()).unwrap();
        assert_eq!((joined.weights, joined.graph), (other.weights.clone(), model.graph.clone()));
    }
    let strange = small_model(1);
    for format in [Format::Hdf5, Format::Keras, Format::Npz, Format::Safetensors] {
        assert!(model.with_weights(strange.to_bytes_as(format).unwrap()).is_err());
    }
}

#[test]
fn unknown_initializers_stand_in_the_way_of_fresh_weights_alone() {
    let mut model = read("branches-3.h5");
    let unknown = serde_json::json!(["sums: kernel_initializer: \"lecun_normal\""]);
    model.card.more.insert("unknown_initializers".into(), unknown);
    let error = model.check_fresh().unwrap_err().to_string();
    assert!(error.contains("lecun_normal") && error.contains("sums"), "{error}");
    assert!(read("chain-3.h5").check_fresh().is_ok());
}

#[test]
fn a_changed_weight_is_found() {
    for format in [Format::Hdf5, Format::Keras, Format::Npz] {
        let model = small_model(5);
        let mut bytes = model.to_bytes_as(format).unwrap();
        let value = model.weights[0].to_le_bytes();
        let at = bytes.windows(4).position(|window| window == value).unwrap();
        bytes[at] ^= 1;
        let error = Model::from_bytes(&bytes).unwrap_err();
        assert!(matches!(error, FileProblem::Damaged(_)), "{error}");
    }
}

#[test]
fn cut_files_are_errors() {
    for name in ["chain-2.h5", "branches-3.h5", "chain-3.keras"] {
        let bytes = recorded(name);
        for keep in (0..bytes.len()).step_by(97) {
            assert!(Model::from_bytes(&bytes[..keep]).is_err(), "{name} to {keep}");
        }
    }
}

proptest! {
    #[test]
    fn damaged_files_never_end_the_process(
        name in prop::sample::select(&["chain-3.h5", "chain-2.h5", "branches-2.keras", "branches-3.h5"][..]),
        ours in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, any::<u8>()), 1..6),
    ) {
        let mut bytes = recorded(name);
        if ours {
            let format = Format::of(Path::new(name)).unwrap();
            bytes = Model::from_bytes(&bytes).unwrap().to_bytes_as(format).unwrap();
        }
        for (at, kind, value) in damage {
            let at = at.index(bytes.len() - 8);
            match kind {
                0 => bytes[at] ^= 1 << (value % 8),
                1 => bytes[at] = value,
                2 => bytes[at..at + 8].fill(0xff),
                3 => bytes[at..at + 8].fill(0),
                _ => bytes[at..at + 4].copy_from_slice(&(u32::from(value) << 8).to_le_bytes()),
            }
        }
        if let Ok(model) = Model::from_bytes(&bytes) {
            prop_assert_eq!(model.weights.len(), model.graph.parameter_count());
        }
    }
}
