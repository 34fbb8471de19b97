//! Whoever does not belong to a run is turned away with a line in the log, and disturbs nobody; and the
//! run's secret is where it belongs and nowhere else.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod yard;

use std::io::{Read, Write};
use std::net::TcpStream;

use yard::{Yard, signal};

const LONG: &str = "\
name: long
data: { from: mnist-sample, validation: 1000 }
model: mnist-mlp
train: { workers: 2, strategy: all_reduce, epochs: 100000, batch: 50, threads: 1 }
";

/// All that the run has written for people and programs to read.
fn written(yard: &Yard) -> String {
    let run = yard.path("runs/long-1");
    let logs = std::fs::read_dir(run.join("logs")).unwrap().map(|entry| entry.unwrap().path());
    let files = logs.chain([run.join("events.jsonl")]);
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn strangers_are_told_of_and_the_secret_stays_secret() {
    let yard = Yard::new();
    yard.file("long.yaml", LONG);
    let mut driver = yard.start(&["run", "long.yaml"]);
    yard.until("it trains", || !yard.events_of("long-1", "progress").is_empty());
    let join = std::fs::read_to_string(yard.path("runs/long-1/join.json")).unwrap();
    let join: serde_json::Value = serde_json::from_str(&join).unwrap();
    let key = std::fs::read_to_string(yard.path("runs/long-1/driver.key")).unwrap();
    let secrets: Vec<&str> =
        key.split_whitespace().chain(join["secret"].as_str()).filter(|s| s.len() > 20).collect();
    assert!(secrets.len() > 1, "there is a secret and a key");

    let mut stranger = TcpStream::connect(join["address"].as_str().unwrap()).unwrap();
    // What it says may be refused before it has said all of it.
    let _ = stranger.write_all(&b"GET / HTTP/1.1\r\n\r\n".repeat(1_000));
    let _ = stranger.read_to_end(&mut vec![]);
    yard.until("it is told of", || written(&yard).contains("does not speak trainyard's protocol"));

    for process in yard.events_of("long-1", "task_started") {
        let place = format!("/proc/{}/cmdline", process["pid"]);
        let Ok(words) = std::fs::read_to_string(place) else { continue };
        assert!(!secrets.iter().any(|secret| words.contains(secret)), "{words}");
    }
    signal(driver.id(), "-INT");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
    assert!(yard.events_of("long-1", "process_lost").is_empty());
    let written = written(&yard);
    assert!(!secrets.iter().any(|secret| written.contains(secret)), "a secret is in a log");
}
