//! A folded model answers what the whole one answers, up to rounding.

use engine::{Cpu, Input, Isa, Program, Session};
use model::{Card, Graph, Model, Node};
use random::{Key, Purpose};
use spec::Layer;

/// The answers to two samples.
fn answers(model: &Model, x: &[f32]) -> Vec<f32> {
    let program = Program::inference(&model.graph, 2).expect("a small network");
    let mut session = Session::new(program, Cpu::new(1, Isa::detect()));
    session.weights_mut().copy_from_slice(&model.weights);
    session.predict(Input::Floats(x), 2).to_vec()
}

/// A model with weights that no normalization leaves as they were.
fn model(shape: &[usize], layers: &str) -> Model {
    let layers: Vec<Layer> = serde_json::from_str(layers).expect("layers");
    let graph = Graph::sequential(shape, layers).expect("they fit");
    let key = Key::new(7, Purpose::Synthetic);
    let count = graph.parameter_count() as u64;
    // Above zero, as a variance must be.
    let weights = (0..count).map(|i| 0.1 + key.uniform(i)).collect();
    Model { graph, weights, card: Card::default() }
}

fn layers_left(model: &Model) -> Vec<&str> {
    model.graph.nodes().iter().map(|node: &Node| &node.name[..]).collect()
}

#[test]
fn every_product_takes_its_normalization_in() {
    let key = Key::new(3, Purpose::Synthetic);
    let x: Vec<f32> = (0..2 * 6 * 6 * 3).map(|i| key.uniform(i) - 0.5).collect();
    for (product, left) in [
        (r#"{"Conv2D": {"filters": 4, "kernel_size": 3, "use_bias": false}}"#, "conv2d"),
        (r#"{"Conv2D": {"filters": 4, "kernel_size": 3}}"#, "conv2d"),
        (r#"{"Dense": {"units": 5}}"#, "dense"),
        (r#"{"DepthwiseConv2D": {"kernel_size": 3, "depth_multiplier": 2}}"#, "depthwise_conv2d"),
        (r#"{"SeparableConv2D": {"filters": 4, "kernel_size": 3}}"#, "separable_conv2d"),
        (
            r#"{"Conv2D": {"filters": 6, "kernel_size": 3, "groups": 3, "use_bias": false}}"#,
            "conv2d",
        ),
        (r#"{"Conv2D": {"filters": 4, "kernel_size": 2, "dilation_rate": [3, 2]}}"#, "conv2d"),
        (
            r#"{"DepthwiseConv2D": {"kernel_size": 3, "depth_multiplier": 2, "dilation_rate": 2}}"#,
            "depthwise_conv2d",
        ),
        (
            r#"{"SeparableConv2D": {"filters": 4, "kernel_size": 3, "dilation_rate": 2}}"#,
            "separable_conv2d",
        ),
    ] {
        for norm in [r#"{}"#, r#"{"scale": false}"#, r#"{"center": false, "epsilon": 0.1}"#] {
            let relu = r#"{"Activation": {"activation": "relu"}}"#;
            let layers = format!(r#"[{product}, {{"BatchNormalization": {norm}}}, {relu}]"#);
            let whole = model(&[6, 6, 3], &layers);
            let folded = whole.folded();
            assert_eq!(layers_left(&folded), ["input", left, "activation"], "{layers}");
            let (before, after) = (answers(&whole, &x), answers(&folded, &x));
            let largest = before.iter().fold(0.0f32, |most, y| most.max(y.abs()));
            assert!(largest > 0.0, "{layers}");
            for (before, after) in before.iter().zip(&after) {
                assert!((before - after).abs() <= 1e-5 * largest, "{layers}: {before} {after}");
            }
        }
    }
}

#[test]
fn what_has_more_to_do_stays() {
    let product = r#"{"Dense": {"units": 5, "activation": "relu"}}"#;
    let whole = model(&[4], &format!(r#"[{product}, {{"BatchNormalization": {{}}}}]"#));
    assert_eq!(layers_left(&whole.folded()), ["input", "dense", "batch_normalization"]);
}
