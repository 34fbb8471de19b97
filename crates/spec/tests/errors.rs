//! What a user reads when a run file is wrong, word for word.

mod reading;

use reading::{RIGHT, error, messages};
#[test]
fn an_unknown_field_names_the_one_that_was_meant() {
    assert_eq!(
        error(&format!("{RIGHT}train:\n  batch: 100\n  epohcs: 5\n")),
        "mnist.yaml:6:3: train.epohcs: unknown field; did you mean `epochs`?
  6 |   epohcs: 5
    |   ^^^^^^"
    );
}

#[test]
fn an_unknown_field_is_found_elsewhere_in_the_file() {
    assert_eq!(
        error(&format!("{RIGHT}epochs: 5\n")),
        "mnist.yaml:4:1: epochs: unknown field; did you mean `train.epochs`?
  4 | epochs: 5
    | ^^^^^^"
    );
}

#[test]
fn an_unknown_field_like_no_other_lists_the_fields() {
    assert_eq!(
        error(&format!("{RIGHT}colour: red\n")),
        "mnist.yaml:4:1: colour: unknown field
  4 | colour: red
    | ^^^^^^
  hint: known here: `name`, `seed`, `data`, `model`, `train`, `evaluate`, `serve`, `steps`, `on`"
    );
}

#[test]
fn several_problems_are_reported_together_in_the_order_of_the_file() {
    assert_eq!(
        error(
            "name: Mnist\ndata: mnist\nmodel: mnist-cn\ntrain:\n  epochs: five\n  threads: \"4\"\n"
        ),
        "mnist.yaml:1:7: name: `Mnist` is not a name; use lower-case letters, digits and dashes, \
         beginning with a letter, at most 40 characters
  1 | name: Mnist
    |       ^^^^^

mnist.yaml:3:8: model: unknown value `mnist-cn`; did you mean `mnist-cnn`?
  3 | model: mnist-cn
    |        ^^^^^^^^

mnist.yaml:5:11: train.epochs: expected a whole number, found `five`
  5 |   epochs: five
    |           ^^^^

mnist.yaml:6:12: train.threads: expected a whole number, found the text `\"4\"`
  6 |   threads: \"4\"
    |            ^^^
  hint: without the quotes it is one: `4`"
    );
}

#[test]
fn what_a_later_version_has_is_not_called_unknown() {
    assert_eq!(
        messages("sweep: {}\noutput: x\n"),
        ["sweep", "output"].map(|field| format!("{field}: not in this version yet"))
    );
    let later =
        |path: &str, word: &str| vec![format!("{path}: `{word}` is not in this version yet")];
    let mode = "train.strategy.parameter_server.mode";
    assert_eq!(
        messages("train: {strategy: {parameter_server: {mode: stale}}}"),
        later(mode, "stale")
    );
    assert_eq!(
        error("name: a\ndata: mnist\nmodel: nets/face.pt\n"),
        "mnist.yaml:3:8: model: `nets/face.pt`: a model file ends in `.safetensors`, `.h5` or `.keras`
  3 | model: nets/face.pt
    |        ^^^^^^^^^^^^"
    );
}

#[test]
fn numbers_out_of_range_say_the_range() {
    assert_eq!(
        messages(
            "train: {batch: 0, epochs: -1, learning_rate: 0, clip: {norm: -1}, threads: 4097}"
        ),
        [
            "train.batch: expected at least 1, found `0`",
            "train.epochs: expected at least 1, found `-1`",
            "train.learning_rate: expected more than 0, found `0`",
            "train.clip.norm: expected more than 0, found `-1`",
            "train.threads: expected at most 4,096, found `4097`",
        ]
    );
    assert_eq!(
        messages("train: {batch: 1000000, learning_rate: 1e-60, steps: 99999999999999999999}"),
        [
            "train.batch: expected at most 65,536, found `1000000`",
            // It is nothing once it is the `f32` that training computes with.
            "train.learning_rate: expected more than 0, found `1e-60`",
            "train.steps: expected at most 18,446,744,073,709,551,615, found `99999999999999999999`",
        ]
    );
    assert_eq!(
        messages("train: {learning_rate: .nan, early_stop: {min_delta: inf}}"),
        [
            "train.learning_rate: expected a number or a mapping, found `.nan`",
            "train.early_stop.min_delta: expected a number, found `inf`",
        ]
    );
}

#[test]
fn wrong_kinds_say_what_was_expected_and_what_was_found() {
    assert_eq!(
        messages(
            "train:\n  batch: [1]\n  epochs: 2.5\n  clip: norm\n  checkpoint: {every: 10}\n  optimizer: [adam]\n"
        ),
        [
            "train.batch: expected a whole number, found a list",
            "train.epochs: expected a whole number, found `2.5`",
            "train.clip: `norm` needs a value",
            "train.checkpoint.every: expected a duration such as `90s`, `2h` or `1h30m`, found `10`",
            "train.optimizer: expected one of `sgd`, `adam`, `adamw`, `rmsprop`, found a list",
        ]
    );
    assert_eq!(
        messages(
            "evaluate: maybe\ntrain:\n  batch:\n  schedule: {cosine: {}, exponential: {}}\n  early_stop: {restore_best: yes}\n"
        ),
        [
            "evaluate: expected true or false or a mapping, found `maybe`",
            "train.batch: expected a whole number, found nothing",
            "train.schedule: only one of `cosine`, `exponential` can be given",
            "train.early_stop.restore_best: expected true or false, found `yes`",
        ]
    );
    assert_eq!(
        error("name: a\ndata: [mnist]\nmodel: mnist-cnn\n"),
        "mnist.yaml:2:1: data: expected a name or a mapping, found a list
  2 | data: [mnist]
    | ^^^^
  hint: it has the fields `from`, `mirror`, `assign`, `validation`, `stratify`, `labels`, \
         `image_size`, `color`, `skip_up_to`, `hold_out_people`, `vocabulary`, `vocabulary_size`, `length`, \
         `label`, `text`"
    );
}

#[test]
fn what_is_no_run_file_at_all() {
    assert_eq!(
        error(""),
        "mnist.yaml:1:1: the file is empty\n  hint: `trainyard init` writes one to start from"
    );
    assert_eq!(error("# only words\n").lines().next(), Some("mnist.yaml:1:1: the file is empty"));
    assert_eq!(
        error("hello"),
        "mnist.yaml:1:1: expected a mapping, found `hello`
  1 | hello
    | ^^^^^
  hint: it has the fields `name`, `seed`, `data`, `model`, `train`, `evaluate`, `serve`, `steps`, `on`"
    );
    assert_eq!(
        error("name: a\n"),
        "mnist.yaml:1:1: `model` is missing
  1 | name: a
    | ^
  hint: such as `model: mnist-cnn`; or write `steps`, the long form

mnist.yaml:1:1: `data` is missing
  1 | name: a
    | ^
  hint: such as `data: mnist-sample`; or write `steps`, the long form"
    );
    assert_eq!(
        error("name: a\ntrain:\n\tepochs: 2\n"),
        "mnist.yaml:3:2: not valid YAML: tabs disallowed within this context (block indentation)
  3 |  epochs: 2
    |  ^
  hint: indent with spaces, not tabs"
    );
    assert_eq!(
        error("name: a\nname: b\n"),
        "mnist.yaml:2:1: `name` is given twice; it was first given in line 1
  2 | name: b
    | ^^^^"
    );
    assert_eq!(
        error("name: a\n---\nname: b\n"),
        "mnist.yaml:3:1: a second document begins here
  3 | name: b
    | ^
  hint: a file holds one run; put the other into a file of its own"
    );
    assert!(
        error(&"a".repeat(spec::FILE_LIMIT + 1)).contains("too large for a run file: over 1MiB")
    );
    assert!(error("\u{0}\u{1}\u{7f}ELF").starts_with("mnist.yaml:1:"));
}

#[test]
fn long_lines_are_cut_and_many_problems_counted() {
    let long = format!("{RIGHT}train: {{ batch: {}, epohcs: 2 }}\n", " ".repeat(500) + "1");
    let shown = error(&long);
    assert!(shown.lines().all(|line| line.chars().count() < 130), "{shown}");
    assert!(shown.contains("epohcs: 2 }"), "{shown}");
    let many: String = (0..50).map(|i| format!("field{i}: 1\n")).collect();
    assert!(error(&format!("{RIGHT}{many}")).ends_with("\n\nand 30 more"));
}
