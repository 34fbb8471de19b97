//! `--set`: what a change means, and what is said when it is wrong.

mod reading;

use reading::{RIGHT, data, set, train};
use spec::{Action, Adam, Builtin, Evaluate, Holdout, Layer, Length, Model, Optimizer, Sgd, Split};

fn wrong_set(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let error = spec::parse(RIGHT, "a.yaml", &sets).expect_err("the change is wrong");
    error.to_string()
}

#[test]
fn a_set_is_typed_by_the_schema() {
    assert_eq!(set(RIGHT, &["name=x5"]).name, "x5");
    assert_eq!(set(RIGHT, &["name=true"]).name, "true");
    assert_eq!(train(&set(RIGHT, &["train.epochs=5"])).length, Length::Epochs(5));
    let spec = set(RIGHT, &["data.labels=[1, true, c]"]);
    assert_eq!(
        data(&spec).labels,
        Some(vec!["1".to_string(), "true".to_string(), "c".to_string()])
    );
    assert_eq!(data(&set(RIGHT, &["data.mirror=/a=b"])).mirror.as_deref(), Some("/a=b"));
}

#[test]
fn a_set_reaches_into_shorthand() {
    let adam = Optimizer::Adam(Adam { beta_1: 0.8, ..Adam::default() });
    for before in [
        "",
        "train: {optimizer: adam}",
        "train: {optimizer: sgd}",
        "train: {optimizer: {sgd: {momentum: 0.9}}}",
    ] {
        let spec = set(&format!("{RIGHT}{before}"), &["train.optimizer.adam.beta_1=0.8"]);
        assert_eq!(train(&spec).optimizer, Some(adam), "{before}");
    }
    let kept = format!("{RIGHT}train: {{optimizer: {{sgd: {{momentum: 0.5}}}}}}");
    let spec = set(&kept, &["train.optimizer.sgd.nesterov=true"]);
    let sgd = Sgd { momentum: 0.5, nesterov: true, ..Sgd::default() };
    assert_eq!(train(&spec).optimizer, Some(Optimizer::Sgd(sgd)));

    let spec = set(RIGHT, &["data.validation=0.2", "data.stratify=true"]);
    assert_eq!(data(&spec).from, "mnist");
    assert_eq!(data(&spec).validation, Holdout::Share(0.2));

    let spec = set(RIGHT, &["model=mnist-mlp", "model.hidden_units=30"]);
    assert_eq!(train(&spec).model, Model::Builtin(Builtin::MnistMlp { hidden_units: 30 }));
    let spec = set(
        RIGHT,
        &["model.layers=[Flatten, {Dense: {units: 3}}]", "model.layers.1.Dense.units=4"],
    );
    let Model::Layers(layers) = &train(&spec).model else {
        panic!("layers");
    };
    assert!(matches!(&layers[1], Layer::Dense(dense) if dense.units == 4));

    let spec = set(&format!("{RIGHT}evaluate: false"), &["evaluate.split=train"]);
    let split = Evaluate { split: Split::Train, ..Evaluate::default() };
    assert_eq!(spec.steps[2].action, Action::Evaluate(split));
}

#[test]
fn null_takes_a_field_out() {
    let text = format!("{RIGHT}train: {{epochs: 2}}");
    let spec = set(&text, &["train.epochs=null", "train.steps=7"]);
    assert_eq!(train(&spec).length, Length::Steps(7));
}

#[test]
fn a_wrong_set_says_which() {
    assert_eq!(
        wrong_set(&["train.epohcs=5"]),
        "--set train.epohcs: unknown field; did you mean `epochs`?"
    );
    assert_eq!(wrong_set(&["tran.epochs=5"]), "--set tran: unknown field; did you mean `train`?");
    assert_eq!(
        wrong_set(&["epochs=5"]),
        "--set epochs: unknown field; did you mean `train.epochs`?"
    );
    assert_eq!(
        wrong_set(&["train.epochs=x"]),
        "--set train.epochs: expected a whole number, found `x`"
    );
    assert_eq!(
        wrong_set(&["train.epochs.x=1"]),
        "--set train.epochs: expected a whole number, found a mapping"
    );
    assert_eq!(
        wrong_set(&["train.batch="]),
        "--set train.batch: expected a whole number, found nothing"
    );
    assert_eq!(
        wrong_set(&["name=5"]),
        "--set name: `5` is not a name; use lower-case letters, digits and dashes, beginning with a \
         letter, at most 40 characters"
    );
    assert_eq!(
        wrong_set(&["train.optimizer.adm.beta_1=1"]),
        "--set train.optimizer.adm: unknown field; did you mean `adam`?"
    );
    assert_eq!(
        wrong_set(&["train.epochs"]),
        "--set train.epochs: expected `path=value`\n  hint: such as `--set train.epochs=5`"
    );
    assert_eq!(
        wrong_set(&["train..epochs=5"]),
        "--set train..epochs: expected names with dots between them\n  hint: such as `--set train.epochs=5`"
    );
    assert!(wrong_set(&["model=["]).starts_with("--set model: not valid YAML"));
    assert_eq!(
        wrong_set(&["model={layers: [Flatten]}", "model.layers.1=Flatten"]),
        "--set model.layers.1: `1` is no item of this list; they are numbered 0 to 0"
    );
    assert_eq!(
        wrong_set(&["train.epochs=1", "train.steps=1"]).lines().next(),
        Some("--set train.steps: `epochs` and `steps` are both given")
    );
}
