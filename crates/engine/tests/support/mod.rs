//! What the tests have in common: networks, made-up data, and a reference in f64.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file is a program of its own and uses some of it"
)]

pub(crate) mod activations;
pub(crate) mod groups;
pub(crate) mod layer_normalize;
pub(crate) mod losses;
pub(crate) mod networks;
pub(crate) mod normalize;
pub(crate) mod recurrent;
pub(crate) mod reference;
pub(crate) mod separable;
pub(crate) mod signals;
pub(crate) mod texts;
pub(crate) mod windows;

use engine::{Cpu, Input, Isa, Noise, Outcome, Program, Session};
use model::Graph;
use random::{Key, Purpose};
use spec::{Loss, LossName, Reduction};

/// Uniform numbers within ±`size`.
pub(crate) fn uniform(seed: u64, len: usize, size: f32) -> Vec<f32> {
    let key = Key::new(seed, Purpose::Synthetic);
    (0..len as u64).map(|i| (key.uniform(i) * 2.0 - 1.0) * size).collect()
}

/// Random classes.
pub(crate) fn labels(seed: u64, n: usize, classes: usize) -> Vec<u32> {
    let key = Key::new(seed, Purpose::Synthetic).with(1);
    (0..n as u64).map(|i| key.below(i, classes as u64) as u32).collect()
}

/// Weights that keep values of about the same size from layer to layer; biases are not zero.
pub(crate) fn weights(graph: &Graph, seed: u64) -> Vec<f32> {
    let mut all = Vec::new();
    for (number, weight) in graph.weights().iter().enumerate() {
        let inputs: usize = weight.shape[..weight.shape.len() - 1].iter().product();
        let size = (3.0 / inputs.max(1) as f32).sqrt();
        let size = if weight.shape.len() == 1 { 0.2 } else { size };
        // What is multiplied or divided by lies around one.
        let middle =
            f32::from(["/gamma", "/moving_variance"].iter().any(|s| weight.name.ends_with(s)));
        let values = uniform(seed + 100 * number as u64, weight.range.len(), size);
        all.extend(values.into_iter().map(|value| middle + value));
    }
    all
}

/// The loss of the tests.
pub(crate) fn loss(reduction: Reduction) -> Loss {
    Loss { reduction, ..Loss::of(LossName::SparseCategoricalCrossentropy) }
}

/// A loss for every number.
pub(crate) fn any_loss(number: u64, reduction: Reduction) -> Loss {
    let name = match number % 4 {
        0 => LossName::BinaryCrossentropy,
        1 => LossName::MeanSquaredError,
        _ => LossName::SparseCategoricalCrossentropy,
    };
    Loss { reduction, ..Loss::of(name) }
}

/// A session for training with given weights.
pub(crate) fn session(graph: &Graph, batch: usize, weights: &[f32], cpu: Cpu) -> Session {
    session_by(loss(Reduction::Mean), graph, batch, (weights, cpu))
}

/// The same by a given loss.
pub(crate) fn session_by(
    loss: Loss,
    graph: &Graph,
    batch: usize,
    (weights, cpu): (&[f32], Cpu),
) -> Session {
    let program = Program::training(graph, loss, batch);
    let mut session = Session::new(program.expect("a network of classes"), cpu);
    session.weights_mut().copy_from_slice(weights);
    session
}

/// One batch through a new session: outcome, gradients, answers.
pub(crate) fn gradients(
    graph: &Graph,
    cpu: Cpu,
    (weights, x, y): (&[f32], &[f32], &[u32]),
    noise: Noise,
) -> (Outcome, Vec<f32>, Vec<f32>) {
    let mut session = session(graph, y.len(), weights, cpu);
    let outcome = session.gradient(Input::Floats(x), y, noise, 1.0);
    let gradients = session.gradients().to_vec();
    let answers = session.predict(Input::Floats(x), y.len()).to_vec();
    (outcome, gradients, answers)
}

/// Whether a network brings values to mean 0: then sums before that cancel.
pub(crate) fn normalizes(graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| {
        matches!(
            node.layer,
            spec::Layer::BatchNormalization(_)
                | spec::Layer::LayerNormalization(_)
                | spec::Layer::UnitNormalization(_)
        )
    })
}

/// Every instruction set with 1, 2 and 4 threads.
pub(crate) fn every_cpu() -> Vec<Cpu> {
    let mut all = Vec::new();
    for isa in Isa::available() {
        all.extend([1, 2, 4].map(|threads| Cpu::new(threads, isa)));
    }
    all
}

/// The bits of floats.
pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
