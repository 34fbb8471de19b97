//! The main job through the real binary: run, look, run again.

mod yard;

use serde_json::Value;
use yard::{SMALL, Yard, shared_data};

#[test]
fn a_run_ends_with_a_model_and_a_report_that_says_all() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    let text = yard.ok(&["run", "small.yaml"]);
    assert!(text.contains("small-1 is done") && text.contains("trainyard predict"), "{text}");

    let report = yard.json(&["report", "small", "--json"]);
    assert_eq!(report["run"], "small-1");
    assert_eq!(report["state"], "done");
    assert_eq!(report["workers"], 1);
    assert_eq!(report["parameters"], 79_510);
    assert_eq!(report["weights_sha256"].as_str().unwrap().len(), 64);
    for split in ["train", "validation", "test"] {
        let metrics = &report["metrics"][split];
        assert!(metrics["accuracy"].as_f64().unwrap() > 0.85, "{split}: {metrics}");
        assert!(metrics["loss"].as_f64().unwrap() < 0.5, "{split}: {metrics}");
    }
    for number in ["seconds", "samples_per_second", "peak_rss_bytes"] {
        assert!(report[number].as_f64().unwrap() > 0.0, "{number}");
    }
    let model = report["model"].as_str().unwrap();
    assert!(std::path::Path::new(model).is_file(), "{model}");
    let written: Value =
        serde_json::from_slice(&std::fs::read(yard.path("runs/small-1/report.json")).unwrap())
            .unwrap();
    assert_eq!(written["weights_sha256"], report["weights_sha256"]);
}

#[test]
fn the_same_file_gives_the_same_bits_for_any_number_of_threads() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    let mut hashes = vec![];
    for threads in ["1", "2", "4"] {
        let set = format!("train.threads={threads}");
        yard.ok(&["run", "small.yaml", "--set", &set, "--fresh"]);
        let report = yard.json(&["report", "small", "--json"]);
        hashes.push((report["weights_sha256"].clone(), report["metrics"].clone()));
    }
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
    yard.ok(&["run", "small.yaml", "--set", "seed=1", "--fresh"]);
    assert_ne!(yard.json(&["report", "small", "--json"])["weights_sha256"], hashes[0].0);
}

#[test]
fn ls_status_and_logs_read_what_happened() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    let runs = yard.json(&["ls", "--json"]);
    assert_eq!(runs[0]["run"], "small-1");
    assert_eq!(runs[0]["state"], "done");
    let status = yard.json(&["status", "small-1", "--json"]);
    let tasks: Vec<_> =
        status["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(tasks, ["prepare", "train", "evaluate"]);
    assert!(status["tasks"].as_array().unwrap().iter().all(|task| task["state"] == "done"));
    assert!(yard.ok(&["logs", "small", "train"]).contains("epoch 2 ended"));
    assert!(yard.ok(&["ls"]).contains("small-1"));
    assert!(yard.ok(&["status", "small"]).contains("small-1 is done"));
}

#[test]
fn run_json_prints_events_and_nothing_else() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    let text = yard.ok(&["run", "small.yaml", "--json"]);
    let events: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line is an event")).collect();
    assert_eq!(events.first().unwrap()["event"], "run_started");
    assert_eq!(events.last().unwrap()["event"], "run_done");
    assert_eq!(events, yard.events("small-1"));
    assert!(events.iter().enumerate().all(|(seq, event)| event["seq"] == seq));
}

#[test]
fn a_done_run_is_left_alone_and_another_file_starts_beside_an_unfinished_one() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    yard.ok(&["run", "small.yaml"]);
    let runs = yard.json(&["ls", "--json"]);
    assert_eq!(runs.as_array().unwrap().len(), 2);
    yard.ok(&["run", "small.yaml", "--name", "other", "--out", "elsewhere"]);
    assert!(yard.path("elsewhere/other-1/report.json").is_file());
}

#[test]
fn training_goes_on_from_a_model_file() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    let model = yard.json(&["report", "small", "--json"])["model"].as_str().unwrap().to_owned();
    let set = format!("model={model}");
    yard.ok(&["run", "small.yaml", "--set", &set, "--name", "more"]);
    let first = yard.json(&["report", "small", "--json"]);
    let more = yard.json(&["report", "more", "--json"]);
    let loss = |report: &Value| report["metrics"]["train"]["loss"].as_f64().unwrap();
    assert!(loss(&more) < loss(&first), "{} is not below {}", loss(&more), loss(&first));
}

#[test]
fn early_stopping_gives_back_the_best_epoch() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    let rule = "train.early_stop={monitor: val_loss, patience: 1, min_delta: 10}";
    yard.ok(&["run", "small.yaml", "--set", "train.epochs=9", "--set", rule]);
    let report = yard.json(&["report", "small", "--json"]);
    assert_eq!(report["epochs"].as_array().unwrap().len(), 2);
    yard.ok(&["run", "small.yaml", "--set", "train.epochs=1", "--name", "one"]);
    let one = yard.json(&["report", "one", "--json"]);
    assert_eq!(report["weights_sha256"], one["weights_sha256"]);
}

#[test]
fn s1_on_all_of_mnist_from_a_mirror() {
    let Some(mirror) = shared_data("mnist") else {
        return;
    };
    let yard = Yard::new();
    yard.ok(&["init", "mnist-mlp"]);
    let set = format!("data.mirror={}", mirror.display());
    yard.ok(&["run", "mnist-mlp.yaml", "--set", &set]);
    let prepared = &yard.events_of("mnist-mlp-1", "prepared")[0];
    let counts = ["train", "validation", "test"].map(|split| prepared[split].as_u64().unwrap());
    assert_eq!(counts, [55_000, 5_000, 10_000]);
    let report = yard.json(&["report", "mnist-mlp", "--json"]);
    assert!(report["metrics"]["test"]["accuracy"].as_f64() > Some(0.85));
}

#[test]
fn a_dataset_that_is_not_here_says_how_to_get_it() {
    let yard = Yard::new();
    yard.ok(&["init", "mnist-cnn"]);
    let error = yard.fails(1, &["run", "mnist-cnn.yaml"]);
    for part in ["mirror", "mnist-sample"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn data_without_a_test_split_is_found_before_training() {
    let yard = Yard::new();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "10", "--savedir", "d"]);
    yard.file("small.yaml", SMALL.replace("mnist-sample", "d/0.npz").replace("1000", "100"));
    let error = yard.fails(2, &["run", "small.yaml"]);
    assert!(error.contains("evaluate: false"), "{error}");
    yard.ok(&["run", "small.yaml", "--set", "evaluate=false"]);
    let report = yard.json(&["report", "small", "--json"]);
    assert!(report["metrics"]["test"].is_null() && report["metrics"]["validation"].is_object());
}
