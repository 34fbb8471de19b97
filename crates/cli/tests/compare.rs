//! `trainyard compare`: every strategy beside the others, whatever becomes of one of them.

mod yard;

use serde_json::Value;
use yard::{SMALL, Yard, signal};

/// The strategies that were compared.
fn rows(comparison: &Value) -> &[Value] {
    comparison["strategies"].as_array().map_or(&[], Vec::as_slice)
}

/// One field of each.
fn column(comparison: &Value, field: &str) -> Value {
    rows(comparison).iter().map(|row| row[field].clone()).collect()
}

#[test]
fn all_strategies_stand_side_by_side_and_are_not_trained_twice() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL.replace("epochs: 2", "epochs: 1"));
    let all =
        ["single", "all_reduce", "average", "parameter_server:sync", "parameter_server:async"];
    let compared = yard.json(&["compare", "small.yaml", "--json"]);
    assert_eq!(column(&compared, "strategy"), Value::from_iter(all));
    assert_eq!(column(&compared, "workers"), Value::from_iter([1, 2, 2, 2, 2]));
    assert_eq!(column(&compared, "state"), Value::from_iter(["done"; 5]));
    for row in rows(&compared) {
        for field in ["test_accuracy", "train_seconds", "samples_per_second"] {
            assert!(row[field].as_f64() > Some(0.0), "`{field}` in {row}");
        }
        let alone = row["strategy"] == "single";
        assert_eq!(row["bytes_sent"] == 0, alone, "{row}");
    }
    // Servers that wait for all gradients do what all-reduce does, to the bit.
    let weights = column(&compared, "weights_sha256");
    assert_eq!(weights[1], weights[3]);
    assert_ne!(weights[1], weights[2]);

    assert_eq!(yard.json(&["compare", "small.yaml", "--json"]), compared);
    let table = yard.ok(&["compare", "small.yaml"]);
    let heads = ["STRATEGY", "TEST ACCURACY", "SAMPLES/S", "EXCHANGED", "WAITING", "WEIGHTS"];
    assert!(heads.iter().all(|head| table.contains(head)), "{table}");
    assert!(all.iter().all(|strategy| table.contains(strategy)), "{table}");
    // They lie apart from other runs, and can be looked at like those.
    assert!(!yard.path("runs/small-1").exists());
    assert!(yard.ok(&["report", "runs/small-compare/average-1"]).contains("average-1 is done"));
    let one = ["compare", "small.yaml", "--strategies", "single", "--fresh", "--json"];
    assert_eq!(rows(&yard.json(&one))[0]["run"], "single-2");
}

#[test]
fn one_that_fails_does_not_hide_the_others() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL.replace("epochs: 2", "steps: 20"));
    let list = "all_reduce, {average: {rounds: 30}}, average:5";
    let output = yard.output(&["compare", "small.yaml", "--strategies", list, "--json"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("1 of 3 strategies failed"), "{error}");
    let compared: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(column(&compared, "state"), Value::from_iter(["done", "failed", "done"]));
    let reason = rows(&compared)[1]["reason"].as_str().unwrap();
    assert!(reason.contains("at most one for each of the 20 steps"), "{reason}");
}

#[test]
fn the_workers_and_options_of_the_file_stay_and_an_interrupted_comparison_goes_on() {
    let yard = Yard::new();
    let averaged = "epochs: 100000, workers: 3, strategy: { average: { sync_every: 7 } }";
    yard.file("small.yaml", SMALL.replace("epochs: 2", averaged));
    let args = ["compare", "small.yaml", "--strategies", "average,single"];
    let mut comparing = yard.start(&args);
    let progress = || yard.events_of("small-compare/average-1", "progress");
    yard.until("it trains", || !progress().is_empty());
    assert_eq!(progress()[0]["workers"].as_array().map(Vec::len), Some(3));
    signal(comparing.id(), "-INT");
    assert_eq!(comparing.wait().unwrap().code(), Some(130));
    let spec = std::fs::read_to_string(yard.path("runs/small-compare/average-1/spec.yaml"));
    assert!(spec.unwrap().contains("sync_every: 7"));

    let mut comparing = yard.start(&args);
    yard.until("it goes on", || {
        yard.events_of("small-compare/average-1", "run_started").len() == 2
    });
    signal(comparing.id(), "-INT");
    assert_eq!(comparing.wait().unwrap().code(), Some(130));
    assert!(!yard.path("runs/small-compare/single-1").exists());
}
