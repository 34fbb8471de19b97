//! What the tests of run files share: reading right ones, and what is said about wrong ones.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file is a program of its own and uses some of it"
)]

use spec::{Action, Data, RunSpec, Train};

/// The lines of a short file that are right.
pub(crate) const RIGHT: &str = "name: mnist\ndata: mnist\nmodel: mnist-cnn\n";

pub(crate) fn error(text: &str) -> String {
    match spec::parse(text, "mnist.yaml", &[]) {
        Ok(spec) => panic!("accepted:\n{}", spec.to_yaml()),
        Err(error) => error.to_string(),
    }
}

/// The first line of each problem of [`RIGHT`] with more lines after it, the place left out.
pub(crate) fn messages(more: &str) -> Vec<String> {
    let error = spec::parse(&format!("{RIGHT}{more}"), "mnist.yaml", &[]);
    let error = error.expect_err("the file is wrong");
    let problems = error.problems().iter();
    problems.map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

pub(crate) fn set(text: &str, sets: &[&str]) -> RunSpec {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    match spec::parse(text, "a.yaml", &sets) {
        Ok(spec) => spec,
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn train(spec: &RunSpec) -> &Train {
    let mut trains = spec.steps.iter().filter_map(|step| match &step.action {
        Action::Train(train) => Some(train),
        _ => None,
    });
    trains.next().expect("a training step")
}

pub(crate) fn data(spec: &RunSpec) -> &Data {
    let mut prepares = spec.steps.iter().filter_map(|step| match &step.action {
        Action::Prepare(prepare) => Some(&prepare.data),
        _ => None,
    });
    prepares.next().expect("a step that prepares")
}
