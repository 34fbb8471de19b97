//! The triplet loss: against a reference in f64 and central differences, and in the same bits everywhere.

mod support;

use engine::{Cpu, Input, Isa, Noise, Program, Session};
use model::{Graph, Kind};
use spec::{Loss, LossName, Reduction};
use support::reference::{Batch, gradient};
use support::{bits, every_cpu, networks, session_by, texts, weights};

const NOISE: Noise = Noise { seed: 3, rank: 1, step: 4 };

fn loss(seed: u64, reduction: Reduction) -> Loss {
    let alpha = [None, Some(0.05), Some(2.0)][seed as usize % 3];
    Loss { alpha, reduction, ..Loss::of(LossName::Triplet) }
}

/// A random network that ends in numbers, and triplets for it.
fn case(seed: u64, triplets: usize) -> (Graph, Vec<f32>, Vec<f32>, Vec<u32>) {
    let graph = networks::branched(seed);
    let mut nodes = Vec::from(graph);
    if let Some(spec::Layer::Dense(last)) = nodes.last_mut().map(|node| &mut node.layer) {
        last.activation = spec::Activation::Linear;
    }
    let graph = Graph::new(nodes).expect("the same network without a softmax");
    let (w, x) = (weights(&graph, seed), texts::samples(&graph, seed + 1, 3 * triplets));
    (graph, w, x, vec![0; triplets])
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

#[test]
fn the_reference_agrees_with_central_differences() {
    for seed in 0..30 {
        let (graph, w, x, labels) = case(seed, 2);
        let (w, x) = (wide(&w), wide(&x));
        let loss = loss(seed, Reduction::Sum);
        let batch = Batch { x: &x, labels: &labels, noise: Some(NOISE), loss };
        let exact = gradient(&graph, &w, &batch).gradients;
        let trained = graph.weights().iter().filter(|weight| weight.kind == Kind::Trained);
        let places: Vec<usize> = trained.flat_map(|weight| weight.range.clone()).collect();
        let mut misses = 0;
        for &i in places.iter().step_by(places.len().div_ceil(60)) {
            let loss_at = |shift: f64| {
                let mut w = w.clone();
                w[i] += shift;
                gradient(&graph, &w, &batch).loss
            };
            let slope = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
            misses += usize::from((slope - exact[i]).abs() > 1e-5 * exact[i].abs().max(1.0));
        }
        // A step may cross a kink, but seldom.
        assert!(misses <= 1, "network {seed}: {misses} slopes differ");
    }
}

#[test]
fn the_engine_agrees_with_the_reference() {
    let mut costs = 0.0;
    for seed in 0..60 {
        let triplets = 1 + seed as usize % 5;
        let (graph, w, x, labels) = case(seed, triplets);
        let loss = loss(seed, Reduction::Mean);
        let (wide_w, wide_x) = (wide(&w), wide(&x));
        let batch = Batch { x: &wide_x, labels: &labels, noise: Some(NOISE), loss };
        let want = gradient(&graph, &wide_w, &batch);
        let mut session = session_by(loss, &graph, triplets, (&w, Cpu::new(2, Isa::detect())));
        let outcome = session.gradient(Input::Floats(&x), &labels, NOISE, 1.0);
        assert_eq!(outcome.samples as usize, triplets);
        let off = (outcome.loss - want.loss).abs();
        assert!(off < 1e-4 * want.loss.max(1.0), "network {seed}: {} {}", outcome.loss, want.loss);
        // A number that is added to every embedding alike has no gradient at all: what is left are roundings
        // of distances, which are squares of embeddings.
        let share = if support::normalizes(&graph) { 0.1 } else { 0.01 };
        let least = want.gradients.iter().fold(1e-2f64, |top, v| top.max(share * v.abs()));
        for weight in graph.weights() {
            let (got, want) =
                (&session.gradients()[weight.range.clone()], &want.gradients[weight.range.clone()]);
            let largest = want.iter().fold(least, |top, v| top.max(v.abs()));
            for (got, want) in got.iter().zip(want) {
                let off = (f64::from(*got) - want).abs();
                assert!(off < 1e-4 * largest, "network {seed}, {}: {got} {want}", weight.name);
            }
        }
        costs += outcome.loss;
    }
    assert!(costs > 10.0, "triplets that cost nothing test nothing");
}

#[test]
fn triplets_give_the_same_bits_everywhere() {
    for seed in 0..20 {
        let triplets = [1, 3, 11, 20][seed as usize % 4];
        let (graph, w, x, labels) = case(seed, triplets);
        let results: Vec<_> = every_cpu()
            .into_iter()
            .map(|cpu| {
                let loss = loss(seed, Reduction::Mean);
                let mut session = session_by(loss, &graph, triplets, (&w, cpu));
                let outcome = session.gradient(Input::Floats(&x), &labels, NOISE, 0.5);
                (outcome.loss.to_bits(), outcome.correct, bits(session.gradients()))
            })
            .collect();
        assert!(results.iter().all(|result| *result == results[0]), "network {seed}");
    }
}

#[test]
fn a_batch_of_triplets_is_three_times_as_many_pictures() {
    let (graph, w, x, labels) = case(1, 4);
    let loss = loss(0, Reduction::Mean);
    let sample = x.len() / 12;
    let mut session = session_by(loss, &graph, 4, (&w, Cpu::new(1, Isa::detect())));
    assert_eq!(session.program().batch(), 12);
    // The last batch of an epoch may be short, and a worker out of triplets has none.
    let two = session.evaluate(Input::Floats(&x[..6 * sample]), &labels[..2]);
    assert_eq!(two.samples, 2);
    assert_eq!(session.gradient(Input::Floats(&[]), &[], NOISE, 1.0).samples, 0);
    assert!(session.gradients().iter().all(|gradient| *gradient == 0.0));
    // What the same person costs where nobody else is near: nothing.
    let same: Vec<f32> =
        x[..sample].iter().chain(&x[..sample]).chain(&x[sample..2 * sample]).copied().collect();
    let apart = Loss { alpha: Some(0.0), ..loss };
    let mut session = Session::new(
        Program::training(&graph, apart, 1).expect("a network"),
        Cpu::new(1, Isa::detect()),
    );
    session.weights_mut().copy_from_slice(&w);
    let outcome = session.evaluate(Input::Floats(&same), &[0]);
    assert_eq!((outcome.loss, outcome.correct), (0.0, 1));
}
