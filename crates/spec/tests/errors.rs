//! What a user reads when a run file is wrong, word for word.

use trainyard_spec::{self as spec, Length, Model, Optimizer, RunSpec};

const GOOD: &str =
    "name: mnist\ndata: mnist\nmodel: mnist-cnn\ntrain:\n  epochs: 2\n  batch: 100\n";

fn parse(text: &str) -> Result<RunSpec, String> {
    spec::parse(text, "mnist.yaml", &[]).map_err(|error| error.to_string())
}

fn error(text: &str) -> String {
    parse(text).expect_err("the file is wrong")
}

fn set(text: &str, sets: &[&str]) -> Result<RunSpec, String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    spec::parse(text, "mnist.yaml", &sets).map_err(|error| error.to_string())
}

#[test]
fn dump() {
    for text in [
        "name: mnist\ndata: mnist\nmodel: mnist-cnn\ntrain:\n  epohcs: 5\n",
        "name: mnist\ndata: mnist\nmodel: mnist-cnn\nepochs: 5\n",
        "name: mnist\ndata: mnist\nmodel: mnist-cnn\nserve: {}\ncolour: red\n",
        "name: 5\ndata: mnits\nmodel: mnist-cn\ntrain: 5\n",
        "name: x\ndata: mnits\nmodel: mnist-cnn\n",
        "name: x\ndata: photos\nmodel: mnist-cnn\n",
        "name: x\ndata: imdb\nmodel: m.h5\n",
        "name: x\ndata: {validation: 1.5}\nmodel: {name: facenet}\n",
        "name: x\ndata: {from: mnist, validation: 1.5}\nmodel: {nam: facenet}\n",
        "name: x\ndata: mnist\nmodel: {layers: [Flaten, Dense, {Dense: {unit: 5}}, LSTM, {Dropout: {rate: 1}}, {Conv2D: {filters: 2, kernel_size: [1,2,3]}}, 5, {}]}\n",
        "name: x\ndata: mnist\nmodel: mnist-mlp\ntrain: {epochs: five, batch: 0, learning_rate: -1, optimizer: adamm, strategy: average, threads: \"4\", checkpoint: {every: 10}}\n",
        "name: x\ndata: mnist\nmodel: mnist-mlp\ntrain:\n  epochs: 5\n  steps: 5\n",
        "name: x\ndata: mnist\nmodel: mnist-mlp\ntrain:\n  workers: 2\n  early_stop: {}\nevaluate: {split: validation}\n",
        "name: x\ndata: mnist\nmodel: mnist-mlp\ntrain:\n\tworkers: 2\n",
        "name: x\nname: y\n",
        "",
        "hello",
        "- a\n- b\n",
        "name: x\n---\nname: y\n",
        "name: x\nsteps:\n  a: {}\n  b: {prepare: {}, train: {}}\n  C: {prepare: {data: mnist}}\n",
        "name: x\ndata: mnist\nsteps:\n  b: {command: \"x\"}\n",
        "name: x\ndata: [mnist]\nmodel: 3\nevaluate: maybe\ntrain:\n  epochs:\n  batch:\n  clip: norm\n  schedule: {cosine: {}, exponential: {}}\n",
        "name: x\ndata: mnist\nmodel: mnist-mlp\ntrain:\n  schedule: {piecewise: {boundaries: [1, 2], rates: [1, 0]}}\n",
        "name: x\ndata: mnist\nmodel: mnist-mlp\ntrain:\n  schedule: {piecewise: {boundaries: [1, 2], rates: [1, 0.1]}}\n  steps: 18446744073709551616\n",
    ] {
        println!(
            "{text}----\n{}\n=======",
            parse(text).map_or_else(|e| e, |s| format!("{s:?}"))
        );
    }
    for s in [
        "train.epohcs=5",
        "train.epochs=x",
        "epochs",
        "a..b=1",
        "train.epochs.foo=1",
        "model={layers: [1]}",
        "model=[",
        "train.steps=5",
        "train.optimizer.adm.beta_1=1",
        "model.layers.0=Flatten",
        "tran.epochs=2",
    ] {
        println!(
            "{s}----\n{}\n=======",
            set(GOOD, &[s]).map_or_else(|e| e, |s| format!("{s:?}"))
        );
    }
}
#[test]
fn dumpref() {
    std::fs::create_dir_all("../../docs/reference").unwrap();
    std::fs::write("../../docs/reference/runfile.md", spec::reference()).unwrap();
    std::fs::write(
        "../../docs/reference/runfile.schema.json",
        format!("{:#}\n", spec::schema()),
    )
    .unwrap();
}
