//! The cases as the recorder wrote them, and its results.

use std::path::Path;

use model::{Graph, GraphError, Node};
use safetensors::SafeTensors;
use serde::Deserialize;
use spec::{Clip, Input, Layer, LossName, Model, Optimizer, Reduction};

/// Everything that was recorded.
#[derive(Deserialize)]
pub(crate) struct Cases {
    pub(crate) networks: Vec<NetworkCase>,
    pub(crate) optimizers: Vec<OptimizerCase>,
}

/// A network on one batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkCase {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) layers: Vec<Layer>,
    /// What each layer reads, where that is not just the one before; 0 is the input.
    pub(crate) reads: Option<Vec<Vec<usize>>>,
    pub(crate) batch: usize,
    pub(crate) input: Form,
    pub(crate) loss: LossName,
    pub(crate) reduction: Reduction,
    pub(crate) salt: u32,
    /// The built-in network that the layers spell out.
    pub(crate) network: Option<Model>,
}

/// How samples are given.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    Bytes,
    Floats,
    Ids,
}

/// An optimizer fed the same gradients for ten steps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptimizerCase {
    pub(crate) name: String,
    pub(crate) optimizer: Optimizer,
    pub(crate) clip: Option<Clip>,
    pub(crate) halve_after: Option<u32>,
}

impl NetworkCase {
    /// Our network: the built-in one where there is one.
    pub(crate) fn graph(&self) -> Graph {
        let written = self.written().expect("the recorder's layers make a network");
        let Some(model) = &self.network else {
            return written;
        };
        let classes = written.output_shape()[0];
        let network = model::network(model, &self.shape, classes);
        network.expect("a built-in network is made").graph
    }
}

impl NetworkCase {
    fn written(&self) -> Result<Graph, GraphError> {
        let Some(reads) = &self.reads else {
            return Graph::sequential(&self.shape, self.layers.clone());
        };
        let input = Layer::Input(Input { shape: self.shape.clone() });
        let layers = std::iter::once(input).chain(self.layers.iter().cloned());
        let reads = std::iter::once(vec![]).chain(reads.iter().cloned());
        let node = |(number, (layer, inputs))| Node { name: format!("n{number}"), layer, inputs };
        Graph::new(layers.zip(reads).enumerate().map(node).collect())
    }
}

impl Cases {
    pub(crate) fn load() -> Self {
        serde_json::from_slice(&fixture("cases.json")).expect("cases are as declared here")
    }
}

/// Recorded tensors by name.
pub(crate) struct Recording(Vec<u8>);

impl Recording {
    pub(crate) fn load(file: &str) -> Self {
        Recording(fixture(file))
    }

    pub(crate) fn tensor(&self, name: &str) -> Vec<f32> {
        let tensors = SafeTensors::deserialize(&self.0).expect("a recording is whole");
        let tensor = tensors.tensor(name).expect("a case has its results");
        let (values, rest) = tensor.data().as_chunks();
        assert!(rest.is_empty(), "{name} is not made of f32");
        values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}

/// Asserts that every element lies within 1e-5 of the largest expected one.
#[track_caller]
pub(crate) fn assert_near(what: &str, got: &[f32], expected: &[f32]) {
    assert_within(what, (got, expected), 0.0);
}

/// The same, where the largest counts as at least so much.
#[track_caller]
pub(crate) fn assert_within(what: &str, (got, expected): (&[f32], &[f32]), least: f32) {
    assert_eq!(got.len(), expected.len(), "{what}: length");
    let largest = expected.iter().fold(least, |most, value| most.max(value.abs()));
    for (element, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (got - expected).abs();
        assert!(
            error <= 1e-5 * largest,
            "{what}: element {element} is {got}, Keras has {expected}: {:.1e} of the largest value",
            error / largest
        );
    }
}

fn fixture(file: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keras");
    std::fs::read(folder.join(file)).expect("recordings are committed")
}
