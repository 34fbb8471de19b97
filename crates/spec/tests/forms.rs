//! What a run file means: short and long form, shorthand, defaults, `--set`.

mod reading;

use reading::{RIGHT, data, set, train};
use spec::{
    Action, Activation, Adam, Builtin, Clip, Data, Duration, EarlyStop, Evaluate, Flatten, Holdout,
    Layer, Length, Loss, LossName, Model, Monitor, Optimizer, Pair, Prepare, Reduction, RunSpec,
    Schedule, Split, Step, Train,
};

fn parse(text: &str) -> RunSpec {
    set(text, &[])
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
    let prepare = Prepare { data: Data::named("mnist"), shards: 1 };
    assert_eq!(
        parse(RIGHT),
        RunSpec {
            name: "mnist".into(),
            seed: 0,
            steps: vec![
                step("prepare", &[], Action::Prepare(prepare)),
                step("train", &["prepare"], Action::Train(Train::new(model.clone()))),
                step("evaluate", &["train"], Action::Evaluate(Evaluate::default())),
            ],
            on: spec::On::default(),
        }
    );
    let spec = parse(RIGHT);
    let train = train(&spec);
    assert_eq!(
        (train.length, train.batch, train.workers, train.threads),
        (Length::Epochs(1), 32, 1, None)
    );
    assert_eq!(train.checkpoint.every, Duration::from_secs(10));
    assert_eq!(train.checkpoint.keep, 3);
    assert_eq!((train.optimizer, train.loss, train.learning_rate), (None, None, None));
    assert_eq!(Evaluate::default(), Evaluate { split: Split::Test, batch: 100, threshold: 1.0 });
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
    assert_eq!(parse(long), parse(RIGHT));
    assert_eq!(parse(long).to_yaml(), parse(RIGHT).to_yaml());
}

#[test]
fn evaluation_can_be_turned_off() {
    let ids = |more: &str| -> Vec<String> {
        let steps = parse(&format!("{RIGHT}{more}")).steps;
        steps.into_iter().map(|step| step.id).collect()
    };
    assert_eq!(ids("evaluate: false"), ["prepare", "train"]);
    assert_eq!(ids("evaluate: true"), ["prepare", "train", "evaluate"]);
    assert_eq!(ids("evaluate:"), ["prepare", "train", "evaluate"]);
    assert_eq!(ids("evaluate: {split: train}"), ["prepare", "train", "evaluate"]);
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
        ("loss: sparse_categorical_crossentropy", "loss: {name: sparse_categorical_crossentropy}"),
        ("schedule: constant", "epochs: 1"),
        ("schedule: cosine", "schedule: {cosine: {warmup_steps: 0, final_share: 0}}"),
        ("model: {name: mnist-mlp}", "model: mnist-mlp"),
        ("model: {layers: [Flatten]}", "model: {layers: [{Flatten: {}}]}"),
        ("model: m.safetensors", "model: {file: m.safetensors}"),
        ("clip: {norm: 1}", "clip: {norm: 1.0}"),
        ("strategy: single", "workers: 1"),
        ("workers: 3", "workers: 3, strategy: all_reduce"),
        ("strategy: average", "strategy: {average: {shared_init: true, combine: mean}}"),
        ("learning_rate: 0.5", "learning_rate: {base: 0.5, per_worker: 0}"),
    ] {
        let train = |train: &str| {
            let model = if train.starts_with("model") { "" } else { "model: mnist-cnn\n" };
            parse(&format!("name: a\ndata: mnist\n{model}train: {{ {train} }}\n"))
        };
        assert_eq!(train(short), train(long), "{short}");
    }
    assert_eq!(parse(RIGHT), parse(&RIGHT.replace("data: mnist", "data: {from: mnist}")));
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
    assert_eq!((data.validation, data.stratify), (Holdout::Count(5000), true));
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
    let adam = Adam { beta_1: 0.8, ..Adam::default() };
    assert_eq!(train.optimizer, Some(Optimizer::Adam(adam)));
    assert_eq!(train.learning_rate, Some(0.001.into()));
    let name = LossName::SparseCategoricalCrossentropy;
    assert_eq!(train.loss, Some(Loss { reduction: Reduction::Sum, ..Loss::of(name) }));
    assert_eq!(
        train.schedule,
        Schedule::Exponential { decay_steps: 10, rate: 0.5, staircase: true }
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
        let spec = set(RIGHT, &[&format!("data.validation={text}")]);
        assert_eq!(data(&spec).validation, holdout);
    }
}

#[test]
fn a_long_text_repeated_by_aliases_is_refused_before_it_is_copied() {
    let text = "x".repeat(500_000);
    let file = format!("name: &a \"{text}\"\ndata: [{}]\n", "*a, ".repeat(50_000));
    let error = spec::parse(&file, "run.yaml", &[]).unwrap_err().to_string();
    assert!(error.contains("too many values"), "{}", &error[..200.min(error.len())]);
}

#[test]
fn anchors_and_aliases_work() {
    let spec = parse(
        "name: a\nsteps:\n  l: {prepare: {data: mnist}}\n  a: {needs: [l], train: &t {model: mnist-mlp}}\n  b: {needs: [l], train: *t}\n",
    );
    assert_eq!(spec.steps[1].action, spec.steps[2].action);
}

#[test]
fn a_model_alone_is_read_as_in_a_file() {
    let hidden_units = 30;
    assert_eq!(
        Model::parse("{name: mnist-mlp, hidden_units: 30}").ok(),
        Some(Model::Builtin(Builtin::MnistMlp { hidden_units }))
    );
    assert_eq!(Model::parse("a/b.safetensors").ok(), Some(Model::File("a/b.safetensors".into())));
    assert_eq!(Model::parse("b.keras").ok(), Some(Model::File("b.keras".into())));
    let error = Model::parse("mnist-mpl").expect_err("no such network").to_string();
    assert_eq!(error, "model: unknown value `mnist-mpl`; did you mean `mnist-mlp`?");
    assert!(Model::parse("").is_err());
}
