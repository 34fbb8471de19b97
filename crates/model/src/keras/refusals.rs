//! Tests: configurations that are refused, each with what is wrong and where.

use serde_json::{Value, json};

use super::config;

fn input() -> Value {
    json!({"class_name": "InputLayer", "config": {"batch_shape": [null, 4], "name": "in"}, "name": "in", "inbound_nodes": []})
}

/// A layer of a functional network.
fn layer(name: &str, class: &str, mut arguments: Value, reads: &[&str]) -> Value {
    let links: Vec<Value> = reads.iter().map(|read| json!([read, 0, 0, {}])).collect();
    arguments["name"] = json!(name);
    json!({"class_name": class, "config": arguments, "name": name, "inbound_nodes": [links]})
}

fn functional(layers: Vec<Value>, output: &str) -> Value {
    let config = json!({"name": "m", "layers": layers, "input_layers": [["in", 0, 0]], "output_layers": [[output, 0, 0]]});
    json!({"class_name": "Functional", "config": config})
}

#[track_caller]
fn refused(value: &Value, words: &[&str]) {
    let error = config::read(value, false).map(|_| ()).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "{word:?} is not in: {error}");
    }
    assert!(error.len() < 2000, "{} bytes of message", error.len());
}

fn dense(name: &str, reads: &[&str]) -> Value {
    layer(name, "Dense", json!({"units": 3}), reads)
}

#[test]
fn graphs_that_are_none() {
    assert!(config::read(&functional(vec![input(), dense("a", &["in"])], "a"), false).is_ok());
    // The file's order does not matter.
    assert!(config::read(&functional(vec![dense("a", &["in"]), input()], "a"), false).is_ok());
    refused(&functional(vec![input(), dense("a", &["a"])], "a"), &["`a`", "its own output"]);
    let circle = vec![input(), dense("a", &["b"]), dense("b", &["a"])];
    refused(&functional(circle, "b"), &["its own output"]);
    refused(&functional(vec![input(), dense("a", &["b"])], "a"), &["`a`", "`b`", "not there"]);
    let twice = vec![input(), dense("a", &["in"]), dense("a", &["in"])];
    refused(&functional(twice, "a"), &["another layer has this name"]);
    let ends = vec![input(), dense("a", &["in"]), dense("b", &["a"])];
    refused(&functional(ends, "a"), &["output_layers", "`a`"]);
    refused(&functional(vec![], "a"), &["layer"]);
    refused(&functional(vec![input(), dense(&"n".repeat(100_000), &["in"])], "a"), &["nnn"]);
    let mut many = functional(vec![input(), dense("a", &["in"])], "a");
    many["config"]["output_layers"] = json!([["a", 0, 0], ["in", 0, 0]]);
    refused(&many, &["several output_layers"]);
    for odd in [
        json!(null),
        json!([]),
        json!({"class_name": "Sequential"}),
        json!({"class_name": "Sequential", "config": {"layers": [7]}}),
    ] {
        refused(&odd, &[]);
    }
    refused(
        &json!({"class_name": "MyModel", "config": {"layers": []}}),
        &["`MyModel`", "Sequential", "Dense"],
    );
}

#[test]
fn layers_that_we_do_not_have() {
    let one = |class: &str, arguments: Value, words: &[&str]| {
        let layers = vec![input(), layer("odd", class, arguments, &["in"])];
        refused(&functional(layers, "odd"), &[&["`odd`", class], words].concat());
    };
    one("Lambda", json!({"function": "4wEAAA=="}), &["not supported", "Conv2D", "Softmax"]);
    one("Sequential", json!({"layers": []}), &["not supported"]);
    one("Dense", json!({"units": 3, "activation": "glu"}), &["glu", "`sigmoid`"]);
    one(
        "Dense",
        json!({"units": 3, "activation": {"class_name": "Mine", "config": {}}}),
        &["`Mine`"],
    );
    one(
        "Dense",
        json!({"units": 3, "kernel_regularizer": {"class_name": "L2"}}),
        &["kernel_regularizer", "`units`"],
    );
    one("BatchNormalization", json!({"renorm": true}), &["`renorm` is true", "false"]);
    let rnn = json!({"class_name": "SimpleRNN", "config": {"units": 3}});
    one("Bidirectional", json!({"layer": rnn}), &["SimpleRNN", "GRU or LSTM"]);
    one("Dense", json!({"units": 3, "dtype": "float16"}), &["float16", "float32"]);
    one("Dense", json!({"units": -3}), &["-3"]);
    one("Dense", json!({"units": 1u64 << 40}), &["too large"]);
    one("Softmax", json!({"axis": 0}), &["`axis` is 0"]);
    one("ReLU", json!({"max_value": 5.0}), &["max_value", "6"]);
    one("LayerNormalization", json!({"axis": [-1, 1]}), &["`axis` is [-1,1]"]);
    one("LayerNormalization", json!({"rms_scaling": true}), &["rms_scaling"]);
    one("UnitNormalization", json!({"axis": 0}), &["`axis` is 0"]);
    one("Conv1D", json!({"filters": 2, "kernel_size": [3]}), &["sequences [steps, features]"]);
    one("GlobalMaxPooling1D", json!({}), &["sequences [steps, features]"]);
    one("Reshape", json!({"target_shape": [-1, 3]}), &["[-1,3]"]);
    one("Conv2D", json!({"filters": 2, "kernel_size": 3}), &["pictures"]);
    let apart = json!({"kernel_size": 3, "groups": 2});
    one("DepthwiseConv2D", apart, &["not supported", "`groups`", "`depth_multiplier`"]);
    let mut own = functional(vec![input(), dense("odd", &["in"])], "odd");
    own["config"]["layers"][1]["registered_name"] = json!("Mine>Dense");
    refused(&own, &["`odd`", "`Mine>Dense`", "never be run"]);
    own["config"]["layers"][1]["registered_name"] = json!(null);
    own["config"]["layers"][1]["module"] = json!("my.package");
    refused(&own, &["`odd`", "never be run"]);
}

#[test]
fn inputs_that_are_open() {
    let mut first = json!({"class_name": "Sequential", "config": {"name": "m", "layers": [
        {"class_name": "Dense", "config": {"name": "d", "units": 3, "batch_input_shape": [null, 4]}}
    ]}});
    let read = config::read(&first, true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.graph.input_shape(), [4]);
    first["config"]["layers"][0]["config"]["batch_input_shape"] = json!([null, null]);
    refused(&first, &["[null,null]", "every side"]);
    first["config"]["layers"][0]["config"]["batch_input_shape"] = json!([null]);
    refused(&first, &["`d`", "too large"]);
    first["config"]["layers"][0]["config"]["batch_input_shape"] = json!(null);
    refused(&first, &["`d`", "input's shape"]);
}

#[test]
fn shapes_that_no_memory_holds() {
    let side = json!(1u64 << 40);
    let huge = |shape: Value, class: &str| {
        let first = json!({"class_name": "InputLayer", "config": {"batch_shape": shape, "name": "in"}, "name": "in",
            "inbound_nodes": []});
        refused(
            &functional(vec![first, layer("a", class, json!({}), &["in", "in"])], "a"),
            &["too large"],
        );
    };
    for class in ["Flatten", "Concatenate", "Add"] {
        huge(json!([null, side, side]), class);
        huge(json!([null]), class);
        huge(json!([null, 0]), class);
    }
}

#[test]
fn initializers_that_we_do_not_have() {
    let odd =
        json!({"units": 3, "kernel_initializer": {"class_name": "LecunNormal", "config": {}}});
    let layers = vec![input(), layer("odd", "Dense", odd, &["in"])];
    let read = config::read(&functional(layers, "odd"), false).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.unknown.len(), 1);
    assert!(read.unknown[0].contains("odd") && read.unknown[0].contains("lecun_normal"));
}
