//! `trainyard bench`: what it prints, for one worker, for several, and for processes that only sum.
//! Nothing here asks how fast anything is.

mod yard;

use serde_json::Value;
use yard::Yard;

/// What a bench prints. It leaves nothing in the folder for temporary files.
fn bench(yard: &Yard, args: &[&str]) -> Value {
    let folder = yard.path("temporary");
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    let mut command = yard.command(&[&["bench"], args, &["--json"]].concat());
    let output = command.env("TMPDIR", &folder).output().expect("the binary starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?} failed: {error}");
    let left: Vec<_> = std::fs::read_dir(&folder).expect("it is there").collect();
    assert!(left.is_empty(), "{args:?} left {left:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|problem| panic!("{args:?}: {problem}"))
}

fn positive(speed: &Value, fields: &[&str]) {
    for field in fields {
        assert!(speed[field].as_f64() > Some(0.0), "`{field}` in {speed}");
    }
}

const NETWORK: [&str; 5] = ["mnist-mlp", "--batch", "20", "--steps", "40"];
const SPEEDS: [&str; 4] = ["seconds", "steps_per_second", "samples_per_second", "peak_rss_bytes"];

#[test]
fn one_worker_trains_in_this_process() {
    let yard = Yard::new();
    let speed = bench(&yard, &[&NETWORK[..], &["--threads", "1"]].concat());
    positive(&speed, &SPEEDS);
    let said = ["network", "batch", "threads", "steps", "workers", "strategy", "bytes_sent"];
    let expected = serde_json::json!(["mnist-mlp", 20, 1, 40, 1, "single", 0]);
    assert_eq!(Value::from_iter(said.map(|field| speed[field].clone())), expected);
    assert!(speed["link"].is_null(), "{speed}");
    let text = yard.ok(&["bench", "mnist-mlp", "--steps", "2", "--threads", "1"]);
    assert!(text.contains("mnist-mlp, batch 32, 1 thread, "), "{text}");
}

#[test]
fn texts_and_pictures_of_other_sizes_are_made_up_too() {
    let yard = Yard::new();
    for network in ["small-xception", "imdb-bigru"] {
        let speed = bench(&yard, &[network, "--batch", "2", "--steps", "1"]);
        positive(&speed, &SPEEDS);
    }
}

#[test]
fn a_profile_names_every_layer_and_the_peak() {
    let yard = Yard::new();
    let profile = bench(&yard, &["mnist-cnn", "--batch", "4", "--profile"]);
    positive(&profile, &["peak_gflops", "seconds"]);
    let operations = profile["operations"].as_array().expect("a list");
    let named: Vec<_> = operations.iter().filter_map(|row| row["layer"].as_str()).collect();
    for layer in ["conv2d", "conv2d_1", "dense"] {
        assert!(named.contains(&layer), "{layer} in {named:?}");
    }
    for row in operations.iter().filter(|row| row["operation"] == "conv") {
        positive(row, &["forward_seconds", "backward_seconds", "gflops"]);
    }
    let text = yard.ok(&["bench", "mnist-mlp", "--batch", "4", "--profile"]);
    assert!(text.contains("of the peak") && text.contains("GFLOP/s"), "{text}");
}

#[test]
fn answers_are_timed_one_by_one_unless_told_otherwise() {
    let yard = Yard::new();
    let answers = bench(&yard, &["small-xception", "--predict", "--steps", "3"]);
    positive(&answers, &["seconds", "p99_seconds", "samples_per_second", "peak_rss_bytes"]);
    assert_eq!((&answers["batch"], &answers["times"]), (&1.into(), &3.into()), "{answers}");
    let text = yard.ok(&["bench", "mnist-mlp", "--predict", "--batch", "7", "--steps", "3"]);
    assert!(text.contains("answers to 7 at a time"), "{text}");
}

#[test]
fn several_workers_are_processes_that_train_together() {
    let yard = Yard::new();
    for (strategy, link) in [
        ("all_reduce", "shm"),
        ("average", "shm"),
        ("average:10", "shm"),
        ("{average: {rounds: 2, outer: {}}}", "shm"),
        ("parameter_server", "tcp"),
        ("parameter_server:sync", "tcp"),
    ] {
        let more = ["--workers", "2", "--strategy", strategy];
        let speed = bench(&yard, &[&NETWORK[..], &more].concat());
        positive(&speed, &SPEEDS);
        positive(&speed, &["bytes_sent", "waiting_share", "steps"]);
        let said = ["workers", "processes", "strategy", "link"].map(|field| speed[field].clone());
        assert_eq!(Value::from_iter(said), serde_json::json!([2, 2, strategy, link]), "{speed}");
        assert!(speed["steps"].as_u64() <= Some(40), "{speed}");
    }
    let more = ["--workers", "2", "--processes", "1"];
    let speed = bench(&yard, &[&NETWORK[..], &more].concat());
    assert_eq!((&speed["processes"], &speed["link"]), (&1.into(), &"none".into()), "{speed}");
}

#[test]
fn processes_sum_over_every_link() {
    let yard = Yard::new();
    for (ranks, link) in
        [("2", &["shm"][..]), ("3", &["shm"]), ("3", &["tcp"]), ("2", &["tcp", "--tls"])]
    {
        let args = ["all-reduce", "--size", "256KiB", "--ranks", ranks, "--link"];
        let speed = bench(&yard, &[&args[..], link].concat());
        positive(&speed, &["seconds", "best_seconds", "bytes_per_second", "times", "bytes_sent"]);
        assert!(speed["best_seconds"].as_f64() <= speed["seconds"].as_f64(), "{speed}");
        assert_eq!((&speed["size"], &speed["link"]), (&262_144.into(), &link[0].into()));
        assert_eq!(speed["tls"], link.len() > 1, "{speed}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let yard = Yard::new();
    for (args, part) in [
        (&["mnist-mpl"][..], "mnist-mlp"),
        (&["mnist-mlp", "--workers", "2", "--strategy", "single"], "`workers` is 2"),
        (&["mnist-mlp", "--workers", "2", "--strategy", "averge"], "average"),
        (&[], "<NETWORK>"),
        (&["mnist-mlp", "all-reduce"], "all-reduce"),
        (&["mnist-mlp", "--profile", "--workers", "2"], "--workers"),
        (&["mnist-mlp", "--profile", "--predict"], "--predict"),
        (&["all-reduce", "--size", "6B"], "whole floats"),
        (&["all-reduce", "--size", "much"], "such as `7GiB`"),
        (&["all-reduce", "--tls"], "--link tcp"),
    ] {
        let error = yard.fails(2, &[&["bench"], args].concat());
        assert!(error.contains(part), "{args:?}: {error}");
    }
    // Only a bench that is under way can say what to sum with whom.
    let error = yard.fails(1, &["bench", "all-reduce", "--rank", "0"]);
    assert!(error.contains("leave --rank out"), "{error}");
}
