//! Workers that a driver did not start: they find it by a copy of its `join.json`, do all the work, and
//! find the next driver of the run by the same copy.

mod yard;

use serde_json::Value;
use yard::{Running, Yard, signal};

fn file(epochs: usize) -> String {
    format!(
        "name: joined\n\
         data: {{ from: mnist-sample, validation: 500 }}\n\
         model: {{ name: mnist-mlp, hidden_units: 32 }}\n\
         train: {{ workers: 3, strategy: all_reduce, epochs: {epochs}, batch: 20, threads: 1 }}\n"
    )
}

const ALONE: [&str; 4] = ["run", "joined.yaml", "--processes", "0"];

/// A worker that has only a copy of the file.
fn worker(yard: &Yard, copy: &str) -> Running {
    let from = yard.path("runs/joined-1/join.json");
    yard.until("the driver listens", || std::fs::copy(&from, yard.path(copy)).is_ok());
    yard.start(&["worker", "--join", copy])
}

/// One that does not see the run's folder, as if it were on another machine.
fn worker_elsewhere(yard: &Yard, copy: &str) -> Running {
    let from = yard.path("runs/joined-1/join.json");
    yard.until("the driver listens", || std::fs::copy(&from, yard.path(copy)).is_ok());
    yard.start(&["worker", "--join", copy, "--scratch", &format!("{copy}.files")])
}

/// A driver that waits for workers, and the weights that an undisturbed run ends with.
fn begin() -> (Yard, Running, Value) {
    let yard = Yard::new();
    yard.file("joined.yaml", file(60));
    yard.ok(&["run", "joined.yaml"]);
    let expected = yard.json(&["report", "joined", "--json"])["weights_sha256"].clone();
    std::fs::remove_dir_all(yard.path("runs")).expect("the run can be removed");
    let driver = yard.start(&ALONE);
    yard.until("it waits", || !yard.events_of("joined-1", "awaiting").is_empty());
    (yard, driver, expected)
}

fn trains(yard: &Yard, drivers: usize, processes: usize) -> bool {
    let events = yard.events("joined-1");
    let begins = |event: &&Value| event["event"] == "run_started";
    let last = events.iter().rposition(|event| begins(&event)).unwrap_or(0);
    let formed = |event: &&Value| event["event"] == "formed";
    let newest = events[last..].iter().rposition(|event| formed(&event));
    let group = newest.map(|at| &events[last + at..]);
    events.iter().filter(begins).count() == drivers
        && group.is_some_and(|group| {
            group[0]["processes"].as_array().map(Vec::len) == Some(processes)
                && group.iter().any(|event| event["event"] == "progress")
        })
}

#[test]
fn those_that_join_do_all_the_work_and_find_the_next_driver() {
    let (yard, mut driver, expected) = begin();
    let mut workers = [worker(&yard, "one.json"), worker_elsewhere(&yard, "two.json")];
    yard.until("two train", || trains(&yard, 1, 2));
    signal(driver.id(), "-KILL");
    let _ = driver.wait();
    let mut driver = yard.start(&ALONE);
    assert!(driver.wait().unwrap().success());
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    assert_eq!(yard.json(&["report", "joined", "--json"])["weights_sha256"], expected);
    let pids = |event: &Value| event["task"] == "train" && event["event"] == "task_started";
    for event in yard.events("joined-1").iter().filter(|event| pids(event)) {
        let pid = event["pid"].as_u64().unwrap();
        assert!(workers.iter().any(|worker| u64::from(worker.id()) == pid), "{event}");
    }
    for private in ["join.json", "driver.key"] {
        assert!(!yard.path("runs/joined-1").join(private).exists(), "{private} is left");
    }
}

#[test]
fn the_only_one_saves_what_it_holds_and_another_goes_on() {
    let (yard, mut driver, expected) = begin();
    let mut first = worker_elsewhere(&yard, "one.json");
    yard.until("one trains", || trains(&yard, 1, 1));
    signal(first.id(), "-TERM");
    assert!(first.wait().is_ok());
    yard.until("it waits again", || yard.events_of("joined-1", "awaiting").len() == 2);
    assert_eq!(yard.events_of("joined-1", "process_left").len(), 1);
    assert!(worker_elsewhere(&yard, "two.json").wait().unwrap().success());
    assert!(driver.wait().unwrap().success());
    let report = yard.json(&["report", "joined", "--json"]);
    assert_eq!((&report["weights_sha256"], &report["faults_survived"]), (&expected, &0.into()));
    // Every step that was done was saved.
    let step = |kind: &str| yard.events_of("joined-1", kind).last().unwrap()["step"].as_u64();
    let resumed = step("resumed");
    let told = yard.events("joined-1");
    let told = told.iter().take_while(|event| event["event"] != "process_left");
    let furthest = told.filter(|e| e["event"] == "progress").map(|e| e["step"].as_u64()).max();
    assert!(resumed >= furthest.unwrap(), "{resumed:?} after {furthest:?}");
}

/// Whatever workers read and write goes through the driver: models to begin from, shards, samples held
/// out, checkpoints, members of an ensemble.
#[test]
fn workers_elsewhere_see_nothing_of_the_folder() {
    let yard = Yard::new();
    let (network, file_of) =
        ("{ name: mnist-mlp, hidden_units: 32 }", "models/train/model.safetensors");
    let first = &format!("runs/first-1/{file_of}");
    let all = [
        (network, "{ average: { rounds: 1, shared_init: false, combine: vote } }"),
        (first, "{ average: { sync_every: 7 } }"),
        (first, "{ parameter_server: { servers: 2, mode: sync } }"),
    ];
    yard.file("first.yaml", file(1).replace("joined", "first"));
    yard.ok(&["run", "first.yaml"]);
    for (model, strategy) in all {
        let text = file(2).replace("all_reduce", strategy).replace(network, model);
        yard.file("joined.yaml", &text);
        yard.ok(&["run", "joined.yaml", "--out", "here"]);
        let expected = yard.json(&["report", "here/joined-1", "--json"])["weights_sha256"].clone();
        let mut driver = yard.start(&ALONE);
        let mut workers = ["a.json", "b.json"].map(|copy| worker_elsewhere(&yard, copy));
        assert!(driver.wait().unwrap().success());
        workers.iter_mut().for_each(|worker| assert!(worker.wait().unwrap().success()));
        let report = yard.json(&["report", "joined", "--json"]);
        assert_eq!(report["weights_sha256"], expected, "{strategy}");
        std::fs::remove_dir_all(yard.path("here")).unwrap();
        std::fs::remove_dir_all(yard.path("runs/joined-1")).unwrap();
    }
}

#[test]
fn a_driver_that_waits_in_vain_can_be_stopped() {
    let yard = Yard::new();
    yard.file("joined.yaml", file(1));
    let mut driver = yard.start(&ALONE);
    yard.until("it waits", || !yard.events_of("joined-1", "awaiting").is_empty());
    signal(driver.id(), "-INT");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
}

#[test]
fn one_that_cannot_take_part_harms_nobody() {
    let yard = Yard::new();
    yard.file("joined.yaml", file(1));
    let mut driver = yard.start(&ALONE);
    yard.until("it waits", || !yard.events_of("joined-1", "awaiting").is_empty());
    // As if the run's folder were not to be had where it is.
    let (data, hidden) = (yard.path("runs/joined-1/data"), yard.path("hidden"));
    std::fs::rename(&data, &hidden).unwrap();
    assert!(!worker(&yard, "one.json").wait().unwrap().success());
    yard.until("it is let go", || !yard.events_of("joined-1", "process_lost").is_empty());
    std::fs::rename(&hidden, &data).unwrap();
    assert!(worker(&yard, "two.json").wait().unwrap().success());
    assert!(driver.wait().unwrap().success());
}
