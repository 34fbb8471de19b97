//! Every forward and backward pass against a reference in f64, which is itself checked by central
//! differences.

mod support;

use engine::{Cpu, Input, Isa, Noise};
use model::Kind;
use spec::{LossName, Reduction};
use support::reference::{Batch, gradient};
use support::{any_loss, groups, labels, networks, session_by, signals, texts, uniform, weights};

const NOISE: Noise = Noise { seed: 3, rank: 1, step: 4 };

#[test]
fn the_reference_agrees_with_central_differences() {
    for seed in 0..190 {
        let graph = match seed {
            150.. => groups::grouped(seed),
            120.. => signals::signals(seed),
            0..40 => networks::random(seed),
            40..60 => networks::branched(seed),
            _ => texts::sequences(seed),
        };
        let w: Vec<f64> = weights(&graph, seed).into_iter().map(f64::from).collect();
        let n = 2;
        let x: Vec<f64> = texts::samples(&graph, seed, n).into_iter().map(f64::from).collect();
        let labels = labels(seed, n, graph.output_shape()[0]);
        let loss = any_loss(seed, Reduction::Sum);
        let batch = Batch { x: &x, labels: &labels, noise: Some(NOISE), loss };
        let exact = gradient(&graph, &w, &batch).gradients;
        let step = 1e-6;
        let mut misses = 0;
        let every = w.len().div_ceil(60);
        let is_trained = |i: &usize| {
            let mut all = graph.weights().iter();
            all.any(|weight| weight.kind == Kind::Trained && weight.range.contains(i))
        };
        for i in (0..w.len()).step_by(every).filter(is_trained) {
            let loss_at = |shift: f64| {
                let mut w = w.clone();
                w[i] += shift;
                gradient(&graph, &w, &batch).loss
            };
            let slope = (loss_at(step) - loss_at(-step)) / (2.0 * step);
            misses += usize::from((slope - exact[i]).abs() > 1e-5 * exact[i].abs().max(1.0));
        }
        // A step may cross a kink of ReLU or of a maximum, but seldom.
        assert!(misses <= 1, "network {seed}: {misses} slopes differ");
    }
}

/// The largest difference, relative to the largest value of each weight tensor.
fn compare(name: &str, graph: &model::Graph, seed: u64, n: usize) {
    let w = weights(graph, seed);
    let x = texts::samples(graph, seed + 1, n);
    let y = labels(seed, n, graph.output_shape()[0]);
    let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<_>>();
    let wide_x = wide(&x);
    let loss = any_loss(seed, Reduction::Mean);
    let batch = |noise| Batch { x: &wide_x, labels: &y, noise, loss };
    let want = gradient(graph, &wide(&w), &batch(Some(NOISE)));
    let still = gradient(graph, &wide(&w), &batch(None));
    let cpu = Cpu::new(2, Isa::detect());
    let mut session = session_by(loss, graph, n, (&w, cpu));
    let outcome = session.gradient(Input::Floats(&x), &y, NOISE, 1.0);
    let got = session.gradients().to_vec();
    let answers = session.predict(Input::Floats(&x), n).to_vec();
    assert!((outcome.loss - want.loss).abs() < 1e-5 * want.loss.max(1.0), "{name}: loss");
    close(&format!("{name}: answers"), &answers, &still.answers, (1e-6, 3e-5));
    // Sums may cancel: a bias before a normalization has no gradient at all.
    let share = if support::normalizes(graph) { 0.1 } else { 0.01 };
    // Twenty layers round. And of a probability near one, few digits are left of what it lacks, by which this loss
    // divides.
    let lacks = want.answers.iter().fold(1.0f64, |least, p| least.min(1.0 - p).max(1e-7));
    let binary = loss.name == LossName::BinaryCrossentropy;
    let tolerance = 5e-5 + if binary { 4.0 * f64::from(f32::EPSILON) / lacks } else { 0.0 };
    let least = share * want.gradients.iter().fold(1e-4f64, |top, v| top.max(v.abs()));
    for weight in graph.weights() {
        let range = weight.range.clone();
        let name = format!("{name}: {}", weight.name);
        close(&name, &got[range.clone()], &want.gradients[range], (least, tolerance));
    }
}

fn close(name: &str, got: &[f32], want: &[f64], (least, tolerance): (f64, f64)) {
    let largest = want.iter().fold(least, |top, v| top.max(v.abs()));
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(*got) - want).abs();
        assert!(error < tolerance * largest, "{name} [{i}]: {got}, not {want}; largest {largest}");
    }
}

#[test]
fn the_engine_agrees_with_the_reference_on_random_networks() {
    for seed in 0..150 {
        let graph = networks::random(seed);
        compare(
            &format!("network {seed} {:?}", graph.nodes()),
            &graph,
            seed,
            1 + seed as usize % 5,
        );
    }
}

#[test]
fn the_engine_agrees_with_the_reference_where_branches_part_and_meet() {
    for seed in 0..100 {
        let graph = networks::branched(seed);
        let name = format!("branches {seed} {:?}", graph.nodes());
        compare(&name, &graph, seed, 1 + seed as usize % 5);
    }
}

#[test]
fn the_engine_agrees_with_the_reference_on_sequences() {
    for seed in 0..200 {
        let graph = texts::sequences(seed);
        let name = format!("sequences {seed} {:?}", graph.nodes());
        compare(&name, &graph, seed, [1, 2, 13, 30, 50][seed as usize % 5]);
    }
}

#[test]
fn the_engine_agrees_with_the_reference_where_windows_slide_over_sequences() {
    for seed in 0..150 {
        let graph = signals::signals(seed);
        let name = format!("signals {seed} {:?}", graph.nodes());
        compare(&name, &graph, seed, [1, 2, 5, 18][seed as usize % 4]);
    }
}

#[test]
fn the_engine_agrees_with_the_reference_where_windows_have_gaps_and_channels_groups() {
    for seed in 0..200 {
        let graph = groups::grouped(seed);
        let name = format!("groups {seed} {:?}", graph.nodes());
        compare(&name, &graph, seed, [1, 2, 5, 18][seed as usize % 4]);
    }
}

#[test]
fn the_engine_agrees_with_the_reference_on_the_built_in_networks() {
    compare("mnist-mlp", &networks::mnist_mlp(), 1, 20);
    compare("mnist-cnn", &networks::mnist_cnn(), 2, 18);
}

#[test]
fn the_engine_agrees_with_the_reference_where_a_layer_is_wide_and_has_many_rows() {
    let layers = r#"[{"Conv2D": {"filters": 310, "kernel_size": 1, "activation": "relu"}},
        {"Conv2D": {"filters": 290, "kernel_size": 1, "strides": 2}}, {"MaxPooling2D": {"pool_size": 3}},
        {"Flatten": {}}, {"Dense": {"units": 4, "activation": "softmax"}}]"#;
    let layers = serde_json::from_str(layers).expect("layers");
    let graph = model::Graph::sequential(&[13, 11, 70], layers).expect("a network");
    compare("wide", &graph, 2, 5);
}

/// A network that turns pictures after a layer that is trained.
fn turned() -> model::Graph {
    let layers = r#"[
        {"Conv2D": {"filters": 3, "kernel_size": 1, "activation": "tanh"}},
        {"RandomRotation": {"factor": 0.3}}, {"RandomFlip": {}},
        {"RandomRotation": {"factor": 0.1, "fill_mode": "constant"}},
        {"RandomTranslation": {"height_factor": 0.2, "width_factor": 0.1}},
        {"Flatten": {}}, {"Dense": {"units": 4, "activation": "softmax"}}]"#;
    let layers = serde_json::from_str(layers).expect("layers");
    model::Graph::sequential(&[6, 5, 2], layers).expect("a network")
}

#[test]
fn what_turns_a_picture_turns_its_gradient_back() {
    let graph = turned();
    let (n, w) = (7, weights(&graph, 1));
    let x = uniform(3, n * 60, 1.0);
    let y = labels(1, n, 4);
    let cpu = || Cpu::new(2, Isa::detect());
    let loss = any_loss(2, Reduction::Sum);
    let mut session = session_by(loss, &graph, n, (&w, cpu()));
    let outcome = session.gradient(Input::Floats(&x), &y, NOISE, 1.0);
    let exact = session.gradients().to_vec();
    let kernel = graph.weights()[0].range.clone();
    for i in kernel {
        let mut loss_at = |shift: f32| {
            session.weights_mut().copy_from_slice(&w);
            session.weights_mut()[i] += shift;
            session.gradient(Input::Floats(&x), &y, NOISE, 1.0).loss
        };
        let slope = (loss_at(0.01) - loss_at(-0.01)) / 0.02;
        assert!((slope - f64::from(exact[i])).abs() < 0.02, "{slope}, not {}", exact[i]);
    }
    // Another step turns them otherwise; when nothing is trained they stay as they are.
    session.weights_mut().copy_from_slice(&w);
    let later = Noise { step: NOISE.step + 1, ..NOISE };
    assert!(session.gradient(Input::Floats(&x), &y, later, 1.0).loss != outcome.loss);
    let still = session.predict(Input::Floats(&x), n).to_vec();
    let plain = graph.nodes().iter().map(|node| node.layer.clone()).skip(1);
    let random = |layer: &spec::Layer| {
        let name = format!("{layer:?}");
        name.starts_with("Random")
    };
    let plain = plain.filter(|layer| !random(layer)).collect();
    let plain = model::Graph::sequential(&[6, 5, 2], plain).expect("a network");
    let mut session = session_by(loss, &plain, n, (&w, cpu()));
    assert_eq!(session.predict(Input::Floats(&x), n), still);
}

#[test]
fn rows_of_zeros_have_no_direction_and_no_gradient() {
    let layers = r#"[{"Dense": {"units": 3, "activation": "relu"}}, {"UnitNormalization": {}},
        {"Dense": {"units": 2, "activation": "softmax"}}]"#;
    let layers = serde_json::from_str(layers).expect("layers");
    let graph = model::Graph::sequential(&[2], layers).expect("a network");
    let mut w = weights(&graph, 1);
    w[..6].copy_from_slice(&[-1.0, -0.5, -2.0, -0.3, -1.5, -0.2]);
    w[6..9].fill(0.0);
    let loss = any_loss(2, Reduction::Sum);
    let mut session = session_by(loss, &graph, 2, (&w, Cpu::new(1, Isa::detect())));
    // The first sample comes to a row of zeros, the second does not.
    let x = [1.0, 1.0, -1.0, -2.0];
    assert!(session.gradient(Input::Floats(&x), &[0, 1], NOISE, 1.0).loss.is_finite());
    let both = session.gradients().to_vec();
    assert!(both.iter().all(|d| d.is_finite()) && both[..6].iter().any(|d| *d != 0.0));
    session.gradient(Input::Floats(&x[..2]), &[0], NOISE, 1.0);
    assert!(session.gradients()[..9].iter().all(|d| *d == 0.0));
}
