//! The engine against real Keras: losses, gradients and optimizers as `testbed/keras` recorded them.

mod cases;
mod formula;

use cases::{Cases, Form, NetworkCase, OptimizerCase, Recording, assert_near, assert_within};
use engine::{Cpu, Input, Isa, Noise, Optimizer, Program, Session};
use spec::{Layer, Loss};

/// The tensor number of a case's samples, as in `testbed/keras/cases.py`.
const SAMPLES: u32 = 500;

#[test]
fn losses_and_gradients_are_those_of_keras() {
    let recording = Recording::load("gradients.safetensors");
    for case in Cases::load().networks {
        // A program takes batches up to its size; a smaller one must come out the same.
        for capacity in [case.batch, case.batch + 5] {
            check_network(&case, capacity, &recording);
        }
    }
}

#[test]
fn optimizers_step_as_in_keras() {
    let recording = Recording::load("optimizers.safetensors");
    for case in Cases::load().optimizers {
        check_optimizer(&case, &recording.tensor(&case.name));
    }
}

fn check_network(case: &NetworkCase, capacity: usize, recording: &Recording) {
    let graph = case.graph();
    let loss = Loss { reduction: case.reduction, ..Loss::of(case.loss) };
    let program = Program::training(&graph, loss, capacity).expect("a program is made");
    let mut session = Session::new(program, Cpu::new(2, Isa::detect()));
    for (number, weight) in (case.salt..).zip(graph.weights()) {
        let mut values = formula::weight(number, &weight.shape);
        if weight.name.ends_with("/moving_variance") {
            values.iter_mut().for_each(|value| *value = value.abs());
        }
        session.weights_mut()[weight.range.clone()].copy_from_slice(&values);
    }

    let count = case.batch * case.shape.iter().product::<usize>();
    let bytes = formula::pixels(SAMPLES + case.salt, count);
    let floats = formula::floats(SAMPLES + case.salt, count);
    let ids = formula::ids(SAMPLES + case.salt, count, graph.vocabulary().unwrap_or(1));
    let input = match case.input {
        Form::Bytes => Input::Bytes { x: &bytes, scale: 1.0 / 255.0 },
        Form::Floats => Input::Floats(&floats),
        Form::Ids => Input::Ids(&ids),
    };
    let labels = formula::labels(case.batch, graph.output_shape()[0].max(2));
    let outcome = session.gradient(input, &labels, Noise::default(), 1.0);

    let loss = match case.reduction {
        spec::Reduction::Mean => outcome.loss / case.batch as f64,
        spec::Reduction::Sum => outcome.loss,
    };
    let name = &case.name;
    let recorded = recording.tensor(&format!("{name}/loss"));
    assert_near(&format!("{name}: loss"), &[loss as f32], &recorded);
    let recorded: Vec<_> = (0..graph.weights().len())
        .map(|number| recording.tensor(&format!("{name}/{number}")))
        .collect();
    // Sums may cancel: a bias before a normalization has no gradient at all.
    let normalizes = |layer: &Layer| {
        matches!(layer, Layer::BatchNormalization(_) | Layer::LayerNormalization(_))
    };
    let share = if case.layers.iter().any(normalizes) { 0.01 } else { 0.0 };
    let least = share * recorded.iter().flatten().fold(0f32, |most, value| most.max(value.abs()));
    for (weight, recorded) in graph.weights().iter().zip(&recorded) {
        let got = &session.gradients()[weight.range.clone()];
        assert_within(&format!("{name}: {}", weight.name), (got, recorded), least);
    }
}

fn check_optimizer(case: &OptimizerCase, recorded: &[f32]) {
    const STEPS: u32 = 10;
    let len = recorded.len() / STEPS as usize;
    let cpu = Cpu::new(2, Isa::detect());
    let mut optimizer = Optimizer::new(case.optimizer, len);
    let mut weights = formula::start(len);
    for (step, recorded) in (0..STEPS).zip(recorded.chunks(len)) {
        let halved = case.halve_after.is_some_and(|after| step >= after);
        let rate = case.optimizer.learning_rate() * if halved { 0.5 } else { 1.0 };
        let gradients = formula::gradient(step, len);
        optimizer.apply(&cpu, &mut weights, &gradients, rate, case.clip);
        assert_near(&format!("{}: step {step}", case.name), &weights, recorded);
    }
}
