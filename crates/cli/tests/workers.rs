//! What people see of a run with several workers: its status on the way, the table at its end.

mod yard;

use yard::{SMALL, Yard, signal};

#[test]
fn several_workers_end_with_a_table_of_how_they_fared() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    let sets = ["--set", "train.workers=2", "--set", "train.strategy=average"];
    let text = yard.ok(&[&["run", "small.yaml"], &sets[..]].concat());
    let heads = "STRATEGY  WORKERS  TRAIN TIME  SPEED-UP  EXCHANGED";
    assert!(text.contains(heads) && text.contains("\n  average   2  "), "{text}");
    assert!(yard.ok(&["report", "small"]).contains(heads));

    let report = yard.json(&["report", "small", "--json"]);
    assert_eq!((&report["strategy"], &report["workers"]), (&"average".into(), &2.into()));
    assert_eq!((&report["link"], &report["faults_survived"]), (&"shm".into(), &0.into()));
    // Twice, at the end of each epoch, each sends half of its weights and slots and half of the sum.
    let exchanged = 2 * 2 * 3 * 79_510 * 4;
    assert!(report["bytes_sent"].as_u64() >= Some(exchanged), "{report}");
    let share = report["waiting_share"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&share), "{report}");
    let speed_up = report["speed_up"].as_f64().unwrap();
    assert!(speed_up > 0.0 && speed_up <= 2.0, "{report}");
    assert!(report["train_seconds"].as_f64() < report["seconds"].as_f64(), "{report}");

    let one = yard.ok(&["run", "small.yaml", "--name", "one"]);
    assert!(!one.contains("SPEED-UP"), "{one}");
    assert!(yard.json(&["report", "one", "--json"])["speed_up"].is_null());
}

#[test]
fn status_lists_the_processes_and_makes_up_no_end() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL.replace("epochs: 2", "steps: 0, workers: 3"));
    let mut driver = yard.start(&["run", "small.yaml", "--processes", "2"]);
    let of_two = |event: &serde_json::Value| event["workers"].as_array().map(Vec::len) == Some(2);
    yard.until("two processes make progress", || {
        yard.events_of("small-1", "progress").iter().any(of_two)
    });
    let status = yard.json(&["status", "small", "--json"]);
    let train = &status["tasks"][1];
    assert_eq!((&train["progress"]["steps"], &train["progress"]["epochs"]), (&0.into(), &0.into()));
    let processes = train["processes"].as_array().unwrap();
    let ranks: Vec<_> = processes.iter().map(|process| process["ranks"].clone()).collect();
    assert_eq!(ranks, [serde_json::json!([0, 1]), serde_json::json!([2])], "{status}");
    assert!(processes.iter().all(|process| process["pid"].as_u64() > Some(1)), "{status}");
    assert!(processes.iter().all(|process| process["step"].is_u64()), "{status}");

    let text = yard.ok(&["status", "small"]);
    assert!(!text.contains("/0") && text.contains(", step "), "{text}");
    for part in ["processes of train", "ranks 0-1", "rank 2"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    signal(driver.id(), "-INT");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
    let stopped = yard.json(&["status", "small", "--json"]);
    assert_eq!(stopped["tasks"][1]["processes"], serde_json::json!([]));
}

#[test]
fn what_servers_answer_is_exchanged_too() {
    let yard = Yard::new();
    let servers =
        "steps: 20, workers: 2, strategy: { parameter_server: { servers: 2, mode: sync } }";
    yard.file("small.yaml", SMALL.replace("epochs: 2", servers));
    yard.ok(&["run", "small.yaml"]);
    let report = yard.json(&["report", "small", "--json"]);
    // In each step, each worker sends its gradient and is sent the weights.
    let exchanged = 20 * 2 * 2 * 79_510 * 4;
    assert!(report["bytes_sent"].as_u64() >= Some(exchanged), "{report}");
    assert!(report["bytes_sent"].as_u64() < Some(exchanged * 3 / 2), "{report}");
}
