//! What a run file means: short and long form, shorthand, defaults, `--set`.

use trainyard_spec::{
    self as spec, Action, Activation, Adam, Builtin, Clip, Data, Duration, EarlyStop, Evaluate,
    Flatten, Holdout, Layer, Length, Loss, LossName, Model, Monitor, Optimizer, Pair, Prepare,
    Reduction, RunSpec, Schedule, Sgd, Split, Step, Train,
};

const SMALL: &str = "name: mnist\ndata: mnist\nmodel: mnist-cnn\n";

fn parse(text: &str) -> RunSpec {
    set(text, &[])
}

fn set(text: &str, sets: &[&str]) -> RunSpec {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    match spec::parse(text, "a.yaml", &sets) {
        Ok(spec) => spec,
        Err(error) => panic!("{error}"),
    }
}

fn wrong_set(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let error = spec::parse(SMALL, "a.yaml", &sets).expect_err("the change is wrong");
    error.to_string()
}

fn train(spec: &RunSpec) -> &Train {
    let mut trains = spec.steps.iter().filter_map(|step| match &step.action {
        Action::Train(train) => Some(train),
        _ => None,
    });
    trains.next().expect("a training step")
}

fn data(spec: &RunSpec) -> &Data {
    let mut prepares = spec.steps.iter().filter_map(|step| match &step.action {
        Action::Prepare(prepare) => Some(&prepare.data),
        _ => None,
    });
    prepares.next().expect("a step that prepares")
}

#[test]
fn a_small_file_means_three_steps_and_every_default() {
    let step = |id: &str, needs: &[&str], action| Step {
        id: id.into(),
        needs: needs.iter().map(ToString::to_string).collect(),
        action,
    };
    let dropout = [0.25, 0.5];
    let model = Model::Builtin(Builtin::MnistCnn { dropout });
    let prepare = Prepare {
        data: Data::named("mnist"),
        shards: 1,
    };
    assert_eq!(
        parse(SMALL),
        RunSpec {
            name: "mnist".into(),
            seed: 0,
            steps: vec![
                step("prepare", &[], Action::Prepare(prepare)),
                step(
                    "train",
                    &["prepare"],
                    Action::Train(Train::new(model.clone()))
                ),
                step(
                    "evaluate",
                    &["train"],
                    Action::Evaluate(Evaluate::default())
                ),
            ],
        }
    );
    let spec = parse(SMALL);
    let train = train(&spec);
    assert_eq!(
        (train.length, train.batch, train.workers, train.threads),
        (Length::Epochs(1), 32, 1, None)
    );
    assert_eq!(train.checkpoint.every, Duration::from_secs(10));
    assert_eq!(train.checkpoint.keep, 3);
    assert_eq!(
        (train.optimizer, train.loss, train.learning_rate),
        (None, None, None)
    );
    assert_eq!(
        Evaluate::default(),
        Evaluate {
            split: Split::Test,
            batch: 100
        }
    );
}

#[test]
fn the_long_form_of_the_same_is_equal() {
    let long = "
name: mnist
steps:
  prepare: { prepare: { data: mnist } }
  train: { needs: [prepare], train: { model: mnist-cnn } }
  evaluate: { needs: [train], evaluate: {} }
";
    assert_eq!(parse(long), parse(SMALL));
    assert_eq!(parse(long).to_yaml(), parse(SMALL).to_yaml());
}

#[test]
fn evaluation_can_be_turned_off() {
    let ids = |more: &str| -> Vec<String> {
        let steps = parse(&format!("{SMALL}{more}")).steps;
        steps.into_iter().map(|step| step.id).collect()
    };
    assert_eq!(ids("evaluate: false"), ["prepare", "train"]);
    assert_eq!(ids("evaluate: true"), ["prepare", "train", "evaluate"]);
    assert_eq!(ids("evaluate:"), ["prepare", "train", "evaluate"]);
    assert_eq!(
        ids("evaluate: {split: train}"),
        ["prepare", "train", "evaluate"]
    );
}

#[test]
fn steps_keep_the_order_of_the_file() {
    let spec =
        parse("name: a\nsteps:\n  z: {prepare: {data: mnist}}\n  a: {prepare: {data: mnist}}\n");
    let ids: Vec<&str> = spec.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["z", "a"]);
    assert_eq!(parse(&spec.to_yaml()), spec);
}

#[test]
fn shorthand_and_full_form_are_the_same() {
    for (short, long) in [
        ("optimizer: adam", "optimizer: {adam: {}}"),
        ("optimizer: adam", "optimizer: {adam: }"),
        (
            "loss: sparse_categorical_crossentropy",
            "loss: {name: sparse_categorical_crossentropy}",
        ),
        ("schedule: constant", "epochs: 1"),
        (
            "schedule: cosine",
            "schedule: {cosine: {warmup_steps: 0, final_share: 0}}",
        ),
        ("model: {name: mnist-mlp}", "model: mnist-mlp"),
        (
            "model: {layers: [Flatten]}",
            "model: {layers: [{Flatten: {}}]}",
        ),
        ("model: m.safetensors", "model: {file: m.safetensors}"),
        ("clip: {norm: 1}", "clip: {norm: 1.0}"),
    ] {
        let train = |train: &str| {
            let model = if train.starts_with("model") {
                ""
            } else {
                "model: mnist-cnn\n"
            };
            parse(&format!(
                "name: a\ndata: mnist\n{model}train: {{ {train} }}\n"
            ))
        };
        assert_eq!(train(short), train(long), "{short}");
    }
    assert_eq!(
        parse(SMALL),
        parse(&SMALL.replace("data: mnist", "data: {from: mnist}"))
    );
}

const EVERYTHING: &str = "
name: all
seed: 18446744073709551615
data: { from: fashion-mnist, mirror: /mnt/data, validation: 5000, stratify: true, labels: [0, b] }
model:
  layers:
    - Flatten
    - Dense: { units: 10, activation: softmax, use_bias: false }
    - Conv2D: { filters: 2, kernel_size: 3, strides: [1, 2] }
    - MaxPooling2D
train:
  steps: 200
  optimizer: { adam: { beta_1: 0.8 } }
  learning_rate: 1e-3
  loss: { name: sparse_categorical_crossentropy, reduction: sum }
  schedule: { exponential: { decay_steps: 10, rate: 0.5, staircase: true } }
  clip: { value: 0.5 }
  early_stop: { monitor: val_accuracy, patience: 5, min_delta: 0.01, restore_best: false }
  threads: 2
  checkpoint: { every: 1m30s, keep: 1 }
evaluate: { split: validation, batch: 7 }
";

#[test]
fn everything_can_be_said_about_data_and_model() {
    let spec = parse(EVERYTHING);
    assert_eq!(spec.seed, u64::MAX);
    let data = data(&spec);
    assert_eq!(data.mirror.as_deref(), Some("/mnt/data"));
    assert_eq!(
        (data.validation, data.stratify),
        (Holdout::Count(5000), true)
    );
    assert_eq!(data.labels, Some(vec!["0".to_string(), "b".to_string()]));
    let train = train(&spec);
    let Model::Layers(layers) = &train.model else {
        panic!("layers");
    };
    assert_eq!(layers[0], Layer::Flatten(Flatten {}));
    assert!(matches!(&layers[1], Layer::Dense(dense)
        if dense.activation == Activation::Softmax && !dense.use_bias));
    assert!(matches!(&layers[2], Layer::Conv2D(conv)
        if conv.kernel_size == Pair::square(3) && conv.strides == Pair { height: 1, width: 2 }));
    assert_eq!(parse(&spec.to_yaml()), spec);
}

#[test]
fn everything_can_be_said_about_training() {
    let spec = parse(EVERYTHING);
    let train = train(&spec);
    assert_eq!(train.length, Length::Steps(200));
    let adam = Adam {
        beta_1: 0.8,
        ..Adam::default()
    };
    assert_eq!(train.optimizer, Some(Optimizer::Adam(adam)));
    assert_eq!(train.learning_rate, Some(0.001));
    let name = LossName::SparseCategoricalCrossentropy;
    assert_eq!(
        train.loss,
        Some(Loss {
            name,
            reduction: Reduction::Sum
        })
    );
    assert_eq!(
        train.schedule,
        Schedule::Exponential {
            decay_steps: 10,
            rate: 0.5,
            staircase: true
        }
    );
    assert_eq!(train.clip, Some(Clip::Value(0.5)));
    assert_eq!(
        train.early_stop,
        Some(EarlyStop {
            monitor: Monitor::ValAccuracy,
            patience: 5,
            min_delta: 0.01,
            restore_best: false
        })
    );
    assert_eq!(train.checkpoint.every, Duration::from_secs(90));
}

#[test]
fn validation_is_nothing_a_share_or_a_count() {
    for (text, holdout) in [
        ("0", Holdout::None),
        ("0.0", Holdout::None),
        ("0.1", Holdout::Share(0.1)),
        ("1", Holdout::Count(1)),
        ("5000", Holdout::Count(5000)),
    ] {
        let spec = set(SMALL, &[&format!("data.validation={text}")]);
        assert_eq!(data(&spec).validation, holdout);
    }
}

#[test]
fn anchors_and_aliases_work() {
    let spec = parse(
        "name: a\nsteps:\n  l: {prepare: {data: mnist}}\n  a: {needs: [l], train: &t {model: mnist-mlp}}\n  b: {needs: [l], train: *t}\n",
    );
    assert_eq!(spec.steps[1].action, spec.steps[2].action);
}

#[test]
fn a_set_is_typed_by_the_schema() {
    assert_eq!(set(SMALL, &["name=x5"]).name, "x5");
    assert_eq!(set(SMALL, &["name=true"]).name, "true");
    assert_eq!(
        train(&set(SMALL, &["train.epochs=5"])).length,
        Length::Epochs(5)
    );
    let spec = set(SMALL, &["data.labels=[1, true, c]"]);
    assert_eq!(
        data(&spec).labels,
        Some(vec!["1".to_string(), "true".to_string(), "c".to_string()])
    );
    assert_eq!(
        data(&set(SMALL, &["data.mirror=/a=b"])).mirror.as_deref(),
        Some("/a=b")
    );
}

#[test]
fn a_set_reaches_into_shorthand() {
    let adam = Optimizer::Adam(Adam {
        beta_1: 0.8,
        ..Adam::default()
    });
    for before in [
        "",
        "train: {optimizer: adam}",
        "train: {optimizer: sgd}",
        "train: {optimizer: {sgd: {momentum: 0.9}}}",
    ] {
        let spec = set(
            &format!("{SMALL}{before}"),
            &["train.optimizer.adam.beta_1=0.8"],
        );
        assert_eq!(train(&spec).optimizer, Some(adam), "{before}");
    }
    let kept = format!("{SMALL}train: {{optimizer: {{sgd: {{momentum: 0.5}}}}}}");
    let spec = set(&kept, &["train.optimizer.sgd.nesterov=true"]);
    let sgd = Sgd {
        momentum: 0.5,
        nesterov: true,
        ..Sgd::default()
    };
    assert_eq!(train(&spec).optimizer, Some(Optimizer::Sgd(sgd)));

    let spec = set(SMALL, &["data.validation=0.2", "data.stratify=true"]);
    assert_eq!(data(&spec).from, "mnist");
    assert_eq!(data(&spec).validation, Holdout::Share(0.2));

    let spec = set(SMALL, &["model=mnist-mlp", "model.hidden_units=30"]);
    assert_eq!(
        train(&spec).model,
        Model::Builtin(Builtin::MnistMlp { hidden_units: 30 })
    );
    let spec = set(
        SMALL,
        &[
            "model.layers=[Flatten, {Dense: {units: 3}}]",
            "model.layers.1.Dense.units=4",
        ],
    );
    let Model::Layers(layers) = &train(&spec).model else {
        panic!("layers");
    };
    assert!(matches!(&layers[1], Layer::Dense(dense) if dense.units == 4));

    let spec = set(
        &format!("{SMALL}evaluate: false"),
        &["evaluate.split=train"],
    );
    let split = Evaluate {
        split: Split::Train,
        ..Evaluate::default()
    };
    assert_eq!(spec.steps[2].action, Action::Evaluate(split));
}

#[test]
fn null_takes_a_field_out() {
    let text = format!("{SMALL}train: {{epochs: 2}}");
    let spec = set(&text, &["train.epochs=null", "train.steps=7"]);
    assert_eq!(train(&spec).length, Length::Steps(7));
}

#[test]
fn a_wrong_set_says_which() {
    assert_eq!(
        wrong_set(&["train.epohcs=5"]),
        "--set train.epohcs: unknown field; did you mean `epochs`?"
    );
    assert_eq!(
        wrong_set(&["tran.epochs=5"]),
        "--set tran: unknown field; did you mean `train`?"
    );
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
        wrong_set(&["train.epochs=1", "train.steps=1"])
            .lines()
            .next(),
        Some("--set train.steps: `epochs` and `steps` are both given")
    );
}

#[test]
fn a_model_alone_is_read_as_in_a_file() {
    let hidden_units = 30;
    assert_eq!(
        Model::parse("{name: mnist-mlp, hidden_units: 30}").ok(),
        Some(Model::Builtin(Builtin::MnistMlp { hidden_units }))
    );
    assert_eq!(
        Model::parse("a/b.safetensors").ok(),
        Some(Model::File("a/b.safetensors".into()))
    );
    let error = Model::parse("mnist-mpl")
        .expect_err("no such network")
        .to_string();
    assert_eq!(
        error,
        "model: unknown value `mnist-mpl`; did you mean `mnist-mlp`?"
    );
    assert!(Model::parse("").is_err());
}
