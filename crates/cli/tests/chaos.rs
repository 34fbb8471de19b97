//! Many workers, one model, nothing lost: whatever is killed or held up and however ranks are hosted,
//! the weights are those of an undisturbed run, to the bit; and whoever survives is not restarted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod yard;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use random::{Key, Purpose};
use serde_json::Value;
use yard::{Yard, signal};

/// Long enough to be hit many times on the way.
fn file(strategy: &str) -> String {
    // Servers are reached over connections, which takes longer.
    let epochs = if strategy.contains("server") { 8 } else { 60 };
    format!(
        "name: chaos\n\
         data: {{ from: mnist-sample, validation: 500 }}\n\
         model: {{ name: mnist-mlp, hidden_units: 32 }}\n\
         train: {{ workers: 3, strategy: {strategy}, epochs: {epochs}, batch: 20, threads: 1, \
         checkpoint: {{ every: 300ms }} }}\n"
    )
}

const STRATEGIES: [&str; 4] = [
    "all_reduce",
    "{ average: { sync_every: 40 } }",
    "{ average: { outer: {} } }",
    "{ parameter_server: { servers: 2, mode: sync, accuracy_every: 0 } }",
];

/// What else must go on where it stopped: statistics that move along, and layers that read word by word.
fn other_networks() -> [String; 3] {
    let job = |data: &str, model: &str, strategy: &str, length: &str| {
        format!(
            "name: chaos\n\
             data: {data}\n\
             model: {model}\n\
             train: {{ workers: 3, strategy: {strategy}, {length}, batch: 4, threads: 1, \
             checkpoint: {{ every: 300ms }} }}\n"
        )
    };
    let average = "{ average: { sync_every: 5 } }";
    let texts = "{ from: ./texts, length: 12, vocabulary_size: 100 }";
    let bigru = "{ name: imdb-bigru, vocabulary_size: 100 }";
    [
        job("./pictures", "small-xception", "all_reduce", "epochs: 6"),
        job("./pictures", "small-xception", average, "epochs: 6"),
        job(texts, bigru, "all_reduce", "epochs: 15"),
    ]
}

/// A yard with a run file, and the few texts and pictures that some of them read.
fn yard_with(file: &str) -> Yard {
    let yard = Yard::new();
    yard.file("chaos.yaml", file);
    for number in 0..60u8 {
        let split = ["train", "train", "test"][usize::from(number % 3)];
        let class = ["bad", "good"][usize::from(number % 2)];
        let text = format!("a {class} film number {}", number / 6);
        yard.file(&format!("texts/{split}/{class}/{number}.txt"), text);
        let pixels: Vec<u8> = (0..64).map(|i| number.wrapping_mul(i) ^ i).collect();
        let picture = [&b"P5 8 8 255\n"[..], &pixels].concat();
        yard.file(&format!("pictures/{split}/{class}/{number}.pgm"), picture);
    }
    yard
}

/// The report of a run to its end, in a yard of its own.
fn report(strategy: &str, args: &[&str]) -> Value {
    undisturbed(&file(strategy), args)
}

fn undisturbed(file: &str, args: &[&str]) -> Value {
    let yard = yard_with(file);
    yard.ok(&[&["run", "chaos.yaml"], args].concat());
    yard.json(&["report", "chaos", "--json"])
}

/// The processes that train now: number and process id.
fn workers(yard: &Yard, run: &str) -> Vec<(u64, u32)> {
    let mut living = BTreeMap::new();
    for event in yard.events(run).iter().filter(|event| event["task"] == "train") {
        let process = event["process"].as_u64();
        match (event["event"].as_str(), process) {
            (Some("task_started"), Some(process)) => {
                living.insert(process, event["pid"].as_u64().expect("a process has an id") as u32);
            }
            (Some("process_lost" | "process_left"), Some(process)) => {
                living.remove(&process);
            }
            (Some("task_done"), _) => living.clear(),
            _ => {}
        }
    }
    living.into_iter().collect()
}

/// Only those are lost that were hit, nobody that survives is restarted, and no checkpoint is read while
/// somebody holds the state: a group that has moved is followed by one that begins without a step only when
/// all that worked are gone, or a server, whose range nobody else holds.
fn check_events(yard: &Yard, run: &str, hit: &BTreeSet<u32>) {
    let (mut pids, mut servers) = (BTreeMap::new(), BTreeSet::new());
    let (mut group, mut formed) = (BTreeSet::new(), Value::Null);
    for event in yard.events(run) {
        let process = event["process"].as_u64();
        match event["event"].as_str().unwrap() {
            "task_started" => {
                let pid = event["pid"].as_u64().unwrap() as u32;
                assert_eq!(*pids.entry(process).or_insert(pid), pid, "restarted: {event}");
                if event["serves"] == true {
                    servers.insert(process);
                }
            }
            "process_lost" => {
                group.remove(&process);
                if servers.contains(&process) {
                    group.clear();
                }
                // A machine with too much to do may hold one up for seconds.
                let slow = event["reason"].as_str().unwrap().contains("has not been heard");
                assert!(slow || hit.contains(&pids[&process]), "nobody hit it: {event}");
            }
            "process_left" => drop(group.remove(&process)),
            // Whom it does not find any more was hit while there was no driver.
            "run_started" => group.clear(),
            "formed" => {
                let survivors = group.iter().any(|p| !hit.contains(&pids[p]));
                assert!(event["step"].is_u64() || !survivors, "{event} forgets {group:?}");
                formed = event;
                group.clear();
            }
            "progress" if group.is_empty() => {
                let processes = formed["processes"].as_array().unwrap();
                group = processes.iter().map(Value::as_u64).collect();
            }
            _ => {}
        }
    }
}

#[test]
fn the_same_bits_however_ranks_are_hosted() {
    for strategy in STRATEGIES {
        let hashes: BTreeSet<String> = ["1", "2", "3"]
            .iter()
            .map(|processes| {
                report(strategy, &["--processes", processes])["weights_sha256"].to_string()
            })
            .collect();
        assert_eq!(hashes.len(), 1, "{strategy}: {hashes:?}");
    }
}

#[test]
fn twenty_kills_of_workers_and_drivers_change_nothing() {
    for (number, strategy) in STRATEGIES.iter().enumerate() {
        kill(&file(strategy), 20, Key::new(4, Purpose::Synthetic).with(number as u64));
    }
}

#[test]
fn eight_kills_change_nothing_in_other_networks() {
    for (number, file) in other_networks().iter().enumerate() {
        kill(file, 8, Key::new(5, Purpose::Synthetic).with(number as u64));
    }
}

/// Kills workers and drivers at random moments; every run ends as it would have undisturbed.
fn kill(file: &str, kills: u64, moments: Key) {
    let expected = undisturbed(file, &[]);
    let yard = yard_with(file);
    let (mut hits, mut driver, mut hit) = (0u64, None::<yard::Running>, BTreeSet::new());
    while hits < kills {
        let moment = moments.with(hits);
        let running = driver.get_or_insert_with(|| yard.start(&["run", "chaos.yaml"]));
        if running.try_wait().unwrap().is_some() {
            // It came to its end in between; the next one is another run.
            driver = None;
            continue;
        }
        std::thread::sleep(Duration::from_millis(20 + moment.below(0, 150)));
        let Some(run) = yard.newest_run() else { continue };
        let workers = workers(&yard, &run);
        if moment.below(1, 5) == 0 {
            signal(running.id(), "-KILL");
            let _ = driver.take().unwrap().wait();
        } else if let Some(place) = (workers.len() as u64).checked_sub(1) {
            let (_, pid) = workers[moment.below(2, place + 1) as usize];
            hit.insert(pid);
            signal(pid, "-KILL");
        } else {
            continue;
        }
        hits += 1;
    }
    if let Some(mut running) = driver {
        running.wait().unwrap();
    }
    yard.ok(&["run", "chaos.yaml"]);
    let runs = yard.json(&["ls", "--json"]);
    let mut faults = 0;
    for run in runs.as_array().unwrap() {
        let run = run["run"].as_str().unwrap();
        let report = yard.json(&["report", run, "--json"]);
        assert_eq!(report["state"], "done", "{run}: {report}");
        assert_eq!(report["weights_sha256"], expected["weights_sha256"], "{run} of {file}");
        assert_eq!(report["metrics"], expected["metrics"], "{run} of {file}");
        faults += report["faults_survived"].as_u64().unwrap();
        check_events(&yard, run, &hit);
    }
    assert!(faults > 0, "none of the kills hit a process at work");
}

/// A run under way: its yard, its driver, and how it would end undisturbed.
fn begin(strategy: &str) -> (Yard, yard::Running, Value) {
    let expected = report(strategy, &[]);
    let yard = yard_with(&file(strategy));
    let driver = yard.start(&["run", "chaos.yaml"]);
    yard.until("a group works", || !yard.events_of("chaos-1", "progress").is_empty());
    (yard, driver, expected)
}

/// It ends as it would have undisturbed.
fn end(yard: &Yard, mut driver: yard::Running, expected: &Value, hit: &[u32]) -> Value {
    assert!(driver.wait().unwrap().success());
    let report = yard.json(&["report", "chaos", "--json"]);
    assert_eq!(report["weights_sha256"], expected["weights_sha256"]);
    assert_eq!(report["metrics"], expected["metrics"]);
    check_events(yard, "chaos-1", &hit.iter().copied().collect());
    report
}

#[test]
fn one_that_hangs_is_replaced_and_the_others_go_on() {
    for strategy in STRATEGIES {
        let (yard, driver, expected) = begin(strategy);
        let before = workers(&yard, "chaos-1");
        let (number, pid) = before[1];
        signal(pid, "-STOP");
        yard.until("it is found", || !yard.events_of("chaos-1", "process_lost").is_empty());
        let lost = yard.events_of("chaos-1", "process_lost")[0].clone();
        assert_eq!(lost["process"], number, "{lost}");
        signal(pid, "-CONT");
        end(&yard, driver, &expected, &[pid]);
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_where_it_was() {
    for strategy in STRATEGIES {
        let (yard, mut driver, expected) = begin(strategy);
        signal(driver.id(), "-INT");
        assert_eq!(driver.wait().unwrap().code(), Some(130));
        let stopped = yard.events_of("chaos-1", "task_stopped");
        assert_eq!(stopped[0]["saved"], true, "{strategy}: {stopped:?}");
        let told = |event: &Value| event["step"].as_u64();
        let reached = yard.events_of("chaos-1", "checkpoint").iter().filter_map(told).max();
        let report = end(&yard, yard.start(&["run", "chaos.yaml"]), &expected, &[]);
        assert_eq!(report["faults_survived"], 0, "{strategy}");
        let resumed = yard.events_of("chaos-1", "resumed");
        assert_eq!(told(&resumed[0]), reached, "{strategy}: {resumed:?}");
    }
}

#[test]
fn a_driver_that_was_away_blames_nobody() {
    let (yard, driver, expected) = begin(STRATEGIES[0]);
    signal(driver.id(), "-STOP");
    // Longer than any process may be silent.
    std::thread::sleep(Duration::from_secs(4));
    signal(driver.id(), "-CONT");
    let report = end(&yard, driver, &expected, &[]);
    assert_eq!(report["faults_survived"], 0);
}
