//! Interrupted runs go on, to the same bits, whatever was killed and when.

mod yard;

use std::time::Duration;

use yard::{Yard, signal};

/// Long enough to be killed many times on the way, with checkpoints all along.
const LONG: &str = "\
name: long
data: { from: mnist-sample, validation: 500 }
model: { name: mnist-mlp, hidden_units: 64 }
train: { epochs: 60, batch: 20, threads: 1, checkpoint: { every: 50ms } }
";

fn undisturbed() -> serde_json::Value {
    let yard = Yard::new();
    yard.file("long.yaml", LONG);
    yard.ok(&["run", "long.yaml"]);
    yard.json(&["report", "long", "--json"])
}

fn worker_pid(yard: &Yard, run: &str) -> Option<u32> {
    let started = yard.events_of(run, "task_started");
    let worker = started.iter().rev().find(|event| event["task"] == "train")?;
    u32::try_from(worker["pid"].as_u64()?).ok()
}

#[test]
fn stop_and_run_again_loses_no_step() {
    let expected = undisturbed();
    let yard = Yard::new();
    yard.file("long.yaml", LONG);
    // Where training ends before it is stopped, as it may on a busy machine, another run follows.
    let run = (1..).find_map(|number| {
        let run = format!("long-{number}");
        let mut driver = yard.start(&["run", "long.yaml"]);
        yard.until("training makes progress", || !yard.events_of(&run, "progress").is_empty());
        yard.ok(&["stop", &run]);
        (driver.wait().unwrap().code() == Some(130)).then_some(run)
    });
    let run = run.unwrap();
    assert_eq!(yard.json(&["status", &run, "--json"])["state"], "stopped");
    assert_eq!(yard.events_of(&run, "task_stopped")[0]["saved"], true);
    let saved = yard.events_of(&run, "checkpoint").last().unwrap()["step"].clone();

    yard.ok(&["run", "long.yaml"]);
    assert_eq!(yard.events_of(&run, "resumed")[0]["step"], saved);
    let report = yard.json(&["report", &run, "--json"]);
    assert_eq!(report["weights_sha256"], expected["weights_sha256"]);
    assert_eq!(report["metrics"], expected["metrics"]);
}

#[test]
fn fifty_kills_at_random_moments_change_nothing() {
    let expected = undisturbed();
    let yard = Yard::new();
    yard.file("long.yaml", LONG);
    let seed = u64::from(std::process::id());
    println!("the moments follow from seed {seed}");
    let key = random::Key::new(seed, random::Purpose::Synthetic);
    let mut kills = 0;
    for attempt in 0.. {
        // A run that got to its end in between is followed by the next one of its name.
        let mut driver = yard.start(&["run", "long.yaml"]);
        if attempt % 2 == 1 {
            // Every other time anything may be hit, the first milliseconds too.
            yard.until("training goes on", || is_training(&yard, driver.id()));
        }
        std::thread::sleep(Duration::from_millis(key.below(attempt, 250)));
        if attempt % 5 == 0
            && let Some(worker) = yard.newest_run().and_then(|run| worker_pid(&yard, &run))
        {
            // The driver survives this one and starts another worker.
            signal(worker, "-KILL");
            std::thread::sleep(Duration::from_millis(key.below(attempt + 1000, 200)));
        }
        kills += u64::from(driver.try_wait().unwrap().is_none());
        let _ = driver.kill();
        let _ = driver.wait();
        if kills == 50 {
            break;
        }
    }
    yard.ok(&["run", "long.yaml"]);
    let runs = yard.json(&["ls", "--json"]);
    let mut resumed = 0;
    for run in runs.as_array().unwrap() {
        let run = run["run"].as_str().unwrap();
        let report = yard.json(&["report", run, "--json"]);
        assert_eq!(report["state"], "done", "{run}");
        assert_eq!(report["weights_sha256"], expected["weights_sha256"], "{run}");
        assert_eq!(report["metrics"], expected["metrics"], "{run}");
        resumed += yard.events_of(run, "resumed").len();
    }
    println!("{kills} kills, {resumed} resumes from a checkpoint");
    assert!(resumed > 5, "of fifty kills only {resumed} hit training");
}

/// Whether the driver's worker has told of progress, or the driver has already ended.
fn is_training(yard: &Yard, driver: u32) -> bool {
    let Some(run) = yard.newest_run() else {
        return false;
    };
    let events = yard.events(&run);
    let since = events.iter().rposition(|event| event["event"] == "run_started").unwrap_or(0);
    let told = |kind: &str| events[since..].iter().any(|event| event["event"] == kind);
    let driven = std::fs::read_to_string(yard.path("runs").join(&run).join("driver.json"));
    let by_this_one = driven.is_ok_and(|text| text.contains(&driver.to_string()));
    by_this_one && (told("progress") || told("checkpoint") || told("run_done"))
}

#[test]
fn a_worker_that_is_asked_to_leave_by_somebody_else_is_followed_by_another() {
    let yard = Yard::new();
    yard.file("long.yaml", LONG.replace("epochs: 60", "epochs: 100000"));
    let mut driver = yard.start(&["run", "long.yaml"]);
    yard.until("training makes progress", || !yard.events_of("long-1", "progress").is_empty());
    signal(worker_pid(&yard, "long-1").unwrap(), "-TERM");
    yard.until("it has left", || !yard.events_of("long-1", "process_left").is_empty());
    // It handed over what it held, so that no step was lost and no checkpoint read.
    let formed = yard.events_of("long-1", "formed");
    assert_eq!(formed.len(), 2, "{formed:?}");
    assert!(formed[1..].iter().all(|group| group["step"].as_u64() > Some(0)), "{formed:?}");
    assert!(yard.events_of("long-1", "resumed").is_empty());
    signal(driver.id(), "-INT");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
}

#[test]
fn a_second_driver_is_refused_and_told_who_drives() {
    let yard = Yard::new();
    yard.file("long.yaml", LONG.replace("epochs: 60", "epochs: 100000"));
    let mut driver = yard.start(&["run", "long.yaml"]);
    yard.until("the run is driven", || !yard.events("long-1").is_empty());
    let error = yard.fails(1, &["run", "long.yaml"]);
    assert!(error.contains(&driver.id().to_string()), "{error}");
    signal(driver.id(), "-INT");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
}

#[test]
fn a_worker_that_keeps_dying_fails_the_run_with_a_sentence() {
    let yard = Yard::new();
    // Nothing is saved before the worker dies, so that it never gets anywhere.
    let hopeless = LONG.replace("50ms", "1h").replace("64", "4000");
    yard.file("long.yaml", hopeless);
    let mut driver = yard.start(&["run", "long.yaml"]);
    let mut killed = None;
    yard.until("the driver gives up", || {
        if let Some(pid) = worker_pid(&yard, "long-1").filter(|&pid| killed != Some(pid)) {
            signal(pid, "-KILL");
            killed = Some(pid);
        }
        driver.try_wait().unwrap().is_some()
    });
    assert_eq!(driver.wait().unwrap().code(), Some(1));
    let status = yard.json(&["status", "long", "--json"]);
    assert_eq!(status["state"], "failed");
    let reason = status["reason"].as_str().unwrap();
    assert!(reason.contains("killed") && reason.contains("trainyard logs"), "{reason}");
}
