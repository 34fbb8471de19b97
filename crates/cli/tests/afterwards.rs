//! What is done with a run once it is there: asking why, bringing what it made, removing it.

mod yard;

use std::path::Path;

use yard::{Running, SMALL, Yard, signal};

/// Trains until it is stopped.
const ENDLESS: &str = "\
name: endless
data: { from: mnist-sample, validation: 500 }
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 2, strategy: all_reduce, steps: 0, batch: 20, threads: 1 }
";

/// A run that is done.
fn done() -> Yard {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    yard
}

/// A run that fails in training.
fn failed() -> Yard {
    let yard = Yard::new();
    let linear =
        "{layers: [Flatten, {Dense: {units: 50}}, {Dense: {units: 10, activation: softmax}}]}";
    yard.file("small.yaml", SMALL.replace("mnist-mlp", linear));
    let sets = ["--set", "train.learning_rate=1000000", "--set", "train.optimizer=sgd"];
    yard.fails(1, &[&["run", "small.yaml"], &sets[..]].concat());
    yard
}

/// A run that goes on until it is stopped.
fn endless() -> (Yard, Running) {
    let yard = Yard::new();
    yard.file("endless.yaml", ENDLESS);
    let driver = yard.start(&["run", "endless.yaml"]);
    yard.until("it trains", || !yard.events_of("endless-1", "progress").is_empty());
    (yard, driver)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn why_says_what_made_a_run_fail() {
    let yard = failed();
    let why = yard.ok(&["why", "small"]);
    assert!(why.starts_with("small-1 is failed: "), "{why}");
    let task = why.lines().find(|line| line.starts_with("  task train failed: ")).unwrap();
    assert!(task.contains("diverged") && task.contains("learning_rate"), "{why}");
    assert!(yard.fails(2, &["why", "nothing"]).contains("nothing"));
}

#[test]
fn why_has_nothing_against_a_run_that_is_done() {
    assert_eq!(done().ok(&["why", "small"]), "small-1 is done\n");
}

#[test]
fn why_tells_of_a_driver_that_is_gone() {
    let (yard, mut driver) = endless();
    signal(driver.id(), "-KILL");
    driver.wait().unwrap();
    let why = yard.ok(&["why", "endless"]);
    assert!(why.starts_with("endless-1 is stopped: its driver is gone"), "{why}");
}

#[test]
fn why_tells_which_processes_were_lost() {
    let (yard, mut driver) = endless();
    let started = yard.events_of("endless-1", "task_started");
    let pid = started.last().unwrap()["pid"].as_u64().unwrap();
    signal(u32::try_from(pid).unwrap(), "-KILL");
    yard.until("it is missed", || !yard.events_of("endless-1", "process_lost").is_empty());
    let why = yard.ok(&["why", "endless"]);
    assert!(why.starts_with("endless-1 is running"), "{why}");
    let lost = yard.events_of("endless-1", "process_lost")[0]["reason"].clone();
    assert!(why.contains(lost.as_str().unwrap()), "{lost} is not in {why}");
    yard.ok(&["stop", "endless-1"]);
    driver.wait().unwrap();
}

#[test]
fn get_brings_what_is_asked_for() {
    let yard = done();
    let run = yard.path("runs/small-1");
    yard.ok(&["get", "small", "--to", "m"]);
    let model = "models/train/model.safetensors";
    assert_eq!(read(&yard.path("m").join(model)), read(&run.join(model)));
    assert!(!yard.path("m/report.json").exists());
    yard.ok(&["inspect", &format!("m/{model}")]);

    yard.ok(&["get", "small", "report", "--to", "r"]);
    assert_eq!(read(&yard.path("r/report.json")), read(&run.join("report.json")));
    yard.ok(&["get", "runs/small-1", "logs", "--to", "l"]);
    let logs: Vec<_> = std::fs::read_dir(run.join("logs")).unwrap().collect();
    assert!(!logs.is_empty());
    for log in logs {
        let path = log.unwrap().path();
        let name = path.file_name().unwrap();
        assert_eq!(read(&yard.path("l/logs").join(name)), read(&path));
    }
}

#[test]
fn get_all_brings_a_run_that_can_be_looked_at() {
    let yard = done();
    yard.ok(&["get", "small", "all", "--to", "there"]);
    let report = yard.json(&["report", "small", "--json"]);
    std::fs::remove_dir_all(yard.path("runs")).unwrap();
    let brought = yard.json(&["report", "there/small-1", "--json"]);
    assert_eq!(brought["weights_sha256"], report["weights_sha256"]);
    assert_eq!(yard.ok(&["why", "there/small-1"]), "small-1 is done\n");
}

#[test]
fn get_puts_it_into_a_folder_named_after_the_run() {
    let yard = done();
    let output = yard.output(&["get", "small"]);
    assert!(output.status.success() && output.stdout.is_empty());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("put the model of small-1 into small-1"), "{said}");
    assert!(yard.path("small-1/models/train/model.safetensors").is_file());
    assert!(!yard.path("small").exists());
    // However the run is called, what it made is not put beside it in its own folder.
    yard.ok(&["get", "runs/small-1", "report"]);
    assert!(yard.path("small-1/report.json").is_file());
    assert!(!yard.path("runs/small-1/runs").exists());
}

#[test]
fn get_says_what_is_not_there() {
    let yard = failed();
    let error = yard.fails(1, &["get", "small", "report"]);
    assert!(error.contains("small-1 has no report.json yet"), "{error}");
    let error = yard.fails(1, &["get", "small"]);
    assert!(error.contains("small-1 has no models yet"), "{error}");
    yard.fails(2, &["get", "nothing"]);
    yard.fails(2, &["get", "small", "weights"]);
    for folder in ["small-1", "small", "nothing"] {
        assert!(!yard.path(folder).exists(), "{folder} was made in vain");
    }
}

#[test]
fn rm_removes_a_run() {
    let yard = done();
    yard.ok(&["run", "small.yaml"]);
    yard.ok(&["rm", "small-1"]);
    assert!(!yard.path("runs/small-1").exists());
    assert!(yard.path("runs/small-2/report.json").is_file(), "the other one stays");
    assert!(yard.fails(2, &["rm", "small-1"]).contains("small-2"));
    yard.ok(&["rm", "small"]);
    assert_eq!(yard.json(&["ls", "--json"]), serde_json::json!([]));
}

#[test]
fn rm_refuses_a_run_that_goes_on() {
    let (yard, mut driver) = endless();
    let error = yard.fails(1, &["rm", "endless"]);
    assert!(error.contains("endless-1 goes on; `trainyard stop endless-1` first"), "{error}");
    assert!(yard.path("runs/endless-1/spec.yaml").is_file());
    assert_eq!(driver.try_wait().unwrap(), None, "it was not disturbed");
    yard.ok(&["stop", "endless-1"]);
    assert_eq!(driver.wait().unwrap().code(), Some(130));
    yard.ok(&["rm", "endless-1"]);
    assert!(!yard.path("runs/endless-1").exists());
}

#[test]
fn rm_removes_a_run_that_goes_on_where_that_is_meant() {
    let (yard, mut driver) = endless();
    yard.ok(&["rm", "endless", "--force"]);
    assert_eq!(driver.wait().unwrap().code(), Some(130));
    assert!(!yard.path("runs/endless-1").exists());
}
