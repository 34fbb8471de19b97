//! How a session behaves at its edges: small and empty batches, wrong calls, the ways to feed it.

mod support;

use engine::{Cpu, EngineError, Floats, Input, Isa, Noise, Program, Session};
use model::Graph;
use spec::{Activation, Flatten, Layer, Padding, Reduction};
use support::{bits, labels, loss, networks, session, uniform, weights};

const BATCH: usize = 9;

fn cpu() -> Cpu {
    Cpu::new(2, Isa::detect())
}

fn cnn() -> Session {
    let graph = networks::mnist_cnn();
    session(&graph, BATCH, &weights(&graph, 5), cpu())
}

#[test]
fn a_small_batch_is_what_a_small_program_computes() {
    let graph = networks::mnist_cnn();
    let x = uniform(1, 3 * 784, 1.0);
    let y = labels(1, 3, 10);
    let mut small = session(&graph, 3, &weights(&graph, 5), cpu());
    let mut large = cnn();
    let a = small.gradient(Input::Floats(&x), &y, Noise::default(), 1.0);
    let b = large.gradient(Input::Floats(&x), &y, Noise::default(), 1.0);
    assert_eq!(a, b);
    assert_eq!(bits(small.gradients()), bits(large.gradients()));
}

#[test]
fn an_answer_does_not_depend_on_the_other_samples() {
    let x = uniform(1, BATCH * 784, 1.0);
    let mut session = cnn();
    let together = session.predict(Input::Floats(&x), BATCH).to_vec();
    for (x, answer) in x.chunks_exact(784).zip(together.chunks_exact(10)) {
        assert_eq!(bits(session.predict(Input::Floats(x), 1)), bits(answer));
    }
}

#[test]
fn no_samples_give_no_loss_and_no_gradient() {
    let mut session = cnn();
    let mut sevens: Floats = Box::new(vec![7.0; session.weights().len() + 3]);
    session.swap_gradients(&mut sevens);
    let outcome = session.gradient(Input::Floats(&[]), &[], Noise::default(), 1.0);
    assert_eq!((outcome.loss, outcome.samples), (0.0, 0));
    assert!(session.gradients().iter().all(|&g| g == 0.0));
    assert_eq!(session.evaluate(Input::Floats(&[]), &[]).samples, 0);
    assert!(session.predict(Input::Floats(&[]), 0).is_empty());
}

#[test]
fn bytes_are_floats_times_the_scale() {
    let bytes: Vec<u8> = (0..784).map(|i| (i * 37 % 256) as u8).collect();
    let floats: Vec<f32> = bytes.iter().map(|&b| f32::from(b) * 0.5).collect();
    let mut session = cnn();
    let scaled = Input::Bytes { x: &bytes, scale: 0.5 };
    let by_bytes = session.predict(scaled, 1).to_vec();
    assert_eq!(by_bytes, session.predict(Input::Floats(&floats), 1));
    assert!((by_bytes.iter().sum::<f32>() - 1.0).abs() < 1e-6);
}

#[test]
fn dropout_follows_the_noise_and_is_absent_from_evaluation() {
    let x = uniform(1, BATCH * 784, 1.0);
    let y = labels(1, BATCH, 10);
    let mut session = cnn();
    let mut at = |step: u64| {
        let noise = Noise { step, ..Noise::default() };
        session.gradient(Input::Floats(&x), &y, noise, 1.0).loss
    };
    assert_eq!(at(1), at(1));
    assert_ne!(at(1), at(2));
    let still = session.evaluate(Input::Floats(&x), &y);
    assert_eq!(still, session.evaluate(Input::Floats(&x), &y));
}

#[test]
fn a_summed_loss_has_gradients_that_grow_with_the_batch() {
    let graph = networks::mnist_mlp();
    let x = uniform(1, 4 * 784, 1.0);
    let y = labels(1, 4, 10);
    let gradients = |reduction| {
        let program = Program::training(&graph, loss(reduction), 4).unwrap();
        let mut session = Session::new(program, cpu());
        session.weights_mut().copy_from_slice(&weights(&graph, 5));
        session.gradient(Input::Floats(&x), &y, Noise::default(), 1.0);
        session.gradients().to_vec()
    };
    let (mean, sum) = (gradients(Reduction::Mean), gradients(Reduction::Sum));
    assert!(mean.iter().zip(&sum).all(|(mean, sum)| mean * 4.0 == *sum));
}

#[test]
#[should_panic(expected = "label 10 of 10 classes")]
fn a_label_beyond_the_classes_is_named() {
    cnn().gradient(Input::Floats(&[0.0; 784]), &[10], Noise::default(), 1.0);
}

#[test]
#[should_panic(expected = "10 samples in a batch of 9")]
fn too_many_samples_are_named() {
    cnn().evaluate(Input::Floats(&[0.0; 7840]), &[0; 10]);
}

#[test]
fn what_cannot_be_a_program_is_refused() {
    let conv = networks::conv(2, [3, 3], [1, 1], Padding::Valid);
    let picture = Graph::sequential(&[5, 5, 1], vec![spec::Layer::Conv2D(conv)]).unwrap();
    let training = |graph: &Graph, batch| Program::training(graph, loss(Reduction::Mean), batch);
    let shape = vec![3, 3, 2];
    assert_eq!(training(&picture, 1), Err(EngineError::Output { shape }));
    assert!(Program::inference(&picture, 1).is_ok());
    assert_eq!(training(&networks::mnist_mlp(), 0), Err(EngineError::Empty));
    let wide = vec![networks::dense(1 << 20, Activation::Softmax)];
    let wide = Graph::sequential(&[1], wide).unwrap();
    let refused = training(&wide, 5000).unwrap_err().to_string();
    assert!(refused.contains("a batch below 4096 fits"), "{refused}");
}

/// Flatten, and one Dense layer of ten units.
fn one_layer(activation: Activation) -> Graph {
    let dense = serde_json::json!({ "Dense": { "units": 10, "activation": activation } });
    let layers = vec![Layer::Flatten(Flatten {}), serde_json::from_value(dense).expect("a layer")];
    Graph::sequential(&[4, 4, 1], layers).expect("a network")
}

#[test]
fn weights_that_are_not_numbers_show_in_the_loss_of_every_head() {
    for activation in [Activation::Softmax, Activation::Sigmoid, Activation::Linear] {
        let graph = one_layer(activation);
        let mut broken = weights(&graph, 5);
        broken[3] = f32::NAN; // One weight of unit 3.
        let mut session = session(&graph, 2, &broken, cpu());
        let x = uniform(1, 2 * 16, 1.0);
        let outcome = session.gradient(Input::Floats(&x), &[7, 3], Noise::default(), 1.0);
        assert!(outcome.loss.is_nan(), "{activation:?}: {}", outcome.loss);
        assert!(session.gradients().iter().any(|g| g.is_nan()), "{activation:?}");
    }
}

#[test]
fn a_softmax_over_channels_is_not_one_over_the_whole_answer() {
    let conv = serde_json::json!({
        "Conv2D": { "filters": 5, "kernel_size": 3, "activation": "softmax" }
    });
    let layers = vec![serde_json::from_value(conv).unwrap(), Layer::Flatten(Flatten {})];
    let graph = Graph::sequential(&[3, 4, 1], layers).unwrap();
    let mut session = session(&graph, 1, &weights(&graph, 5), cpu());
    let answer = session.predict(Input::Floats(&uniform(1, 12, 1.0)), 1).to_vec();
    for pixel in answer.chunks_exact(5) {
        assert!((pixel.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{answer:?}");
    }
}
