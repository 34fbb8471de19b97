//! What a user reads when the parts of a run file do not fit together, word for word.

mod reading;

use reading::{RIGHT, error, messages};
#[test]
fn layers_are_checked_one_by_one() {
    let text = "name: a
data: mnist
model:
  layers:
    - Flaten
    - Dense
    - Dense: { unit: 5 }
    - Conv3D
    - Dropout: { rate: 1 }
    - Conv2D: { filters: 2, kernel_size: [1, 2, 3], padding: sane }
    - {}
";
    let error = spec::parse(text, "a.yaml", &[]).expect_err("the layers are wrong");
    let lines: Vec<String> = error
        .problems()
        .iter()
        .map(|p| format!("{}: {}: {}", p.place, p.path, p.message))
        .collect();
    assert_eq!(
        lines,
        [
            "a.yaml:5:7: model.layers.0: unknown value `Flaten`; did you mean `Flatten`?",
            "a.yaml:6:7: model.layers.1: `units` is missing",
            "a.yaml:7:16: model.layers.2.Dense.unit: unknown field; did you mean `units`?",
            "a.yaml:8:7: model.layers.3: unknown value `Conv3D`; did you mean `Conv2D`?",
            "a.yaml:9:24: model.layers.4.Dropout.rate: expected less than 1, found `1`",
            "a.yaml:10:29: model.layers.5.Conv2D.kernel_size: expected a list of 2, found 3",
            "a.yaml:10:62: model.layers.5.Conv2D.padding: unknown value `sane`; did you mean `same`?",
            "a.yaml:11:7: model.layers.6: expected one of `Input`, `Dense`, `Conv2D`, \
             `DepthwiseConv2D`, `SeparableConv2D`, `MaxPooling2D`, `AveragePooling2D`, \
             `GlobalMaxPooling2D`, `GlobalAveragePooling2D`, `BatchNormalization`, `LayerNormalization`, `UnitNormalization`, `Dropout`, \
             `Rescaling`, `RandomFlip`, `RandomRotation`, `RandomTranslation`, `ZeroPadding2D`, `Flatten`, `Reshape`, \
             `Activation`, `Add`, `Concatenate`, `Embedding`, `Conv1D`, `MaxPooling1D`, `AveragePooling1D`, \
             `GlobalMaxPooling1D`, `GlobalAveragePooling1D`, `GRU`, `LSTM`, `Bidirectional`, \
             found nothing",
        ]
    );
}

#[test]
fn gaps_and_groups_are_at_least_one() {
    let layer = |layer: &str| {
        let text = error(&format!("name: a\ndata: mnist\nmodel: {{layers: [{layer}]}}\n"));
        let line = text.lines().next().unwrap_or_default();
        line.split_once("model.layers.0.").map_or(line, |(_, told)| told).to_string()
    };
    assert_eq!(
        layer("{Conv2D: {filters: 2, kernel_size: 3, groups: 0}}"),
        "Conv2D.groups: expected at least 1, found `0`"
    );
    assert_eq!(
        layer("{Conv1D: {filters: 2, kernel_size: 3, dilation_rate: 70000}}"),
        "Conv1D.dilation_rate: expected at most 65,536, found `70000`"
    );
    assert_eq!(
        layer("{SeparableConv2D: {filters: 2, kernel_size: 3, dilation_rate: [1, 2, 3]}}"),
        "SeparableConv2D.dilation_rate: expected a list of 2, found 3"
    );
    assert_eq!(
        layer("{DepthwiseConv2D: {kernel_size: 3, groups: 2}}"),
        "DepthwiseConv2D.groups: unknown field"
    );
}

#[test]
fn networks_know_their_own_arguments() {
    let model = |model: &str| error(&format!("name: a\ndata: mnist\nmodel: {model}\n"));
    assert_eq!(
        model("{name: mnist-mpl}"),
        "mnist.yaml:3:15: model.name: unknown value `mnist-mpl`; did you mean `mnist-mlp`?
  3 | model: {name: mnist-mpl}
    |               ^^^^^^^^^"
    );
    assert_eq!(
        model("{name: mnist-cnn, hidden_units: 3}"),
        "mnist.yaml:3:26: model.hidden_units: unknown field
  3 | model: {name: mnist-cnn, hidden_units: 3}
    |                          ^^^^^^^^^^^^
  hint: known here: `name`, `dropout`, `freeze`"
    );
    assert_eq!(
        model("resnet"),
        "mnist.yaml:3:8: model: unknown value `resnet`
  3 | model: resnet
    |        ^^^^^^
  hint: known here: `mnist-mlp`, `mnist-cnn`, `small-xception`, `imdb-bigru`, `facenet`, `facenet-small`, or a path such as `model.safetensors`"
    );
    assert!(model("nets/a.onnx").contains("a model file ends in `.safetensors`"));
}

#[test]
fn data_is_checked() {
    let data = |data: &str| {
        let text = format!("name: a\ndata: {data}\nmodel: mnist-cnn\n");
        error(&text).lines().next().unwrap_or_default().to_string()
    };
    assert_eq!(
        data("mnits"),
        "mnist.yaml:2:7: data: unknown dataset `mnits`; did you mean `mnist`?"
    );
    assert_eq!(
        data("{from: mnist, validation: 1.5}"),
        "mnist.yaml:2:33: data.validation: expected a share below 1 such as `0.1`, or a whole number of \
         samples such as `5000`, found `1.5`"
    );
    assert_eq!(data("{validation: 0.1}"), "mnist.yaml:2:1: data: `from` is missing");
    assert_eq!(
        data("{from: ./digits, mirror: /mnt}"),
        "mnist.yaml:2:32: data.mirror: a mirror is another home of a built-in dataset, but `from` is a path"
    );
    assert_eq!(
        data("s3://bucket/x"),
        "mnist.yaml:2:7: data: `s3://bucket/x` is not in this version yet"
    );
    assert_eq!(
        data("{from: ./digits, labels: [a, b, a]}"),
        "mnist.yaml:2:24: data.labels: `a` names two classes"
    );
}

#[test]
fn fields_that_exclude_or_need_each_other() {
    assert_eq!(
        error(&format!("{RIGHT}train:\n  epochs: 5\n  steps: 5\n")),
        "mnist.yaml:6:10: train.steps: `epochs` and `steps` are both given
  6 |   steps: 5
    |          ^
  hint: keep one; `--set train.epochs=null` leaves one out for this run"
    );
    assert_eq!(
        error(&format!("{RIGHT}train:\n  early_stop: {{ monitor: val_accuracy }}\n")),
        "mnist.yaml:5:26: train.early_stop.monitor: it watches validation samples, but none are held out
  5 |   early_stop: { monitor: val_accuracy }
    |                          ^^^^^^^^^^^^
  hint: add `validation: 0.1` to the data, or watch `loss`"
    );
    assert_eq!(
        messages("evaluate: {split: validation}"),
        ["evaluate.split: there are no validation samples: none are held out"]
    );
    assert_eq!(
        messages("train: {schedule: {piecewise: {boundaries: [1, 2], rates: [1, 0.1]}}}"),
        ["train.schedule.piecewise.rates: expected one rate more than boundaries, found 2 and 2"]
    );
    assert_eq!(
        messages("train: {schedule: {piecewise: {boundaries: [2, 2], rates: [1, 0.1, 0.01]}}}"),
        ["train.schedule.piecewise.boundaries: expected steps that rise from one to the next"]
    );
    assert_eq!(
        messages("train: {steps: 10, schedule: {cosine: {warmup_steps: 10}}}"),
        ["train.schedule.cosine.warmup_steps: expected fewer than all 10 steps, found `10`"]
    );
    assert_eq!(messages("train: {model: mnist-cnn}"), ["train.model: `model` is given twice"]);
}

#[test]
fn steps_of_the_long_form_are_checked() {
    let steps = "name: a
steps:
  idle: {}
  both: { prepare: { data: mnist }, evaluate: {} }
  Load: { prepare: { data: mnist } }
  train: { train: { epochs: 1 }, command: x }
";
    let error = spec::parse(steps, "a.yaml", &[]).expect_err("the steps are wrong");
    let lines: Vec<String> =
        error.problems().iter().map(|p| format!("{}: {}", p.path, p.message)).collect();
    assert_eq!(
        lines,
        [
            "steps.Load: `Load` is not a name; use lower-case letters, digits and dashes, beginning with \
             a letter, at most 40 characters",
            "steps.train.command: not in this version yet",
        ]
    );
    let steps = "name: a
data: mnist
steps:
  idle: {}
  both: { prepare: { data: mnist }, evaluate: {} }
  train: { train: { epochs: 1 } }
";
    assert_eq!(
        self::error(steps),
        "mnist.yaml:2:1: data: belongs to the short form, but this file has `steps`
  2 | data: mnist
    | ^^^^
  hint: put it into a `prepare` step, or take `steps` away

mnist.yaml:4:3: steps.idle: the step does nothing
  4 |   idle: {}
    |   ^^^^
  hint: give it one of `prepare`, `train`, `evaluate`, `serve`

mnist.yaml:5:3: steps.both: the step does more than one thing
  5 |   both: { prepare: { data: mnist }, evaluate: {} }
    |   ^^^^
  hint: make a step of each, and let one need the other

mnist.yaml:6:12: steps.train.train: `model` is missing
  6 |   train: { train: { epochs: 1 } }
    |            ^^^^^
  hint: such as `model: mnist-cnn`"
    );
}
