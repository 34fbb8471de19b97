//! Many workers, one model, nothing lost: whatever is killed or held up and however ranks are hosted,
//! the weights are those of an undisturbed run, to the bit; and whoever survives is not restarted.

mod yard;

use std::collections::BTreeSet;
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

/// The report of a run to its end, in a yard of its own.
fn report(strategy: &str, args: &[&str]) -> Value {
    let yard = Yard::new();
    yard.file("chaos.yaml", file(strategy));
    yard.ok(&[&["run", "chaos.yaml"], args].concat());
    yard.json(&["report", "chaos", "--json"])
}

/// The processes that train now: number and process id.
fn workers(yard: &Yard, run: &str) -> Vec<(u64, u32)> {
    let mut living = std::collections::BTreeMap::new();
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

/// No checkpoint is read while somebody holds the state, and nobody that survives is restarted.
fn check_events(yard: &Yard, run: &str) {
    let events = yard.events(run);
    let of = |kind: &'static str| events.iter().filter(move |event| event["event"] == kind);
    for read in of("resumed") {
        let group = of("formed").find(|formed| formed["generation"] == read["generation"]);
        assert!(group.is_some_and(|group| !group["step"].is_u64()), "{read} in {group:?}");
    }
    let mut pids = std::collections::BTreeMap::new();
    for event in events.iter().filter(|event| event["event"] == "task_started") {
        let pid = pids.entry(event["process"].as_u64()).or_insert_with(|| event["pid"].clone());
        assert_eq!(*pid, event["pid"], "a process was restarted under its number");
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
    let seed = u64::from(std::process::id());
    println!("the moments follow from seed {seed}");
    let key = Key::new(seed, Purpose::Synthetic);
    for (number, strategy) in STRATEGIES.iter().enumerate() {
        let expected = report(strategy, &[]);
        let yard = Yard::new();
        yard.file("chaos.yaml", file(strategy));
        let moment = |hit: u64| key.with(number as u64).with(hit);
        let (mut hits, mut driver) = (0u64, None::<yard::Running>);
        while hits < 20 {
            let running = driver.get_or_insert_with(|| yard.start(&["run", "chaos.yaml"]));
            if running.try_wait().unwrap().is_some() {
                // It came to its end in between; the next one is another run.
                driver = None;
                continue;
            }
            std::thread::sleep(Duration::from_millis(20 + moment(hits).below(0, 150)));
            let Some(run) = yard.newest_run() else { continue };
            let workers = workers(&yard, &run);
            if moment(hits).below(1, 5) == 0 {
                signal(running.id(), "-KILL");
                let _ = driver.take().unwrap().wait();
            } else if let Some(place) = (workers.len() as u64).checked_sub(1) {
                let (_, pid) = workers[moment(hits).below(2, place + 1) as usize];
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
            assert_eq!(report["weights_sha256"], expected["weights_sha256"], "{strategy} {run}");
            assert_eq!(report["metrics"], expected["metrics"], "{strategy} {run}");
            faults += report["faults_survived"].as_u64().unwrap();
            check_events(&yard, run);
        }
        println!("{strategy}: 20 kills, {faults} processes lost on the way");
        assert!(faults > 3, "of twenty kills only {faults} hit a process at work");
    }
}

#[test]
fn one_that_hangs_is_replaced_and_the_others_go_on() {
    for strategy in &STRATEGIES[..2] {
        let yard = Yard::new();
        let longer = file(strategy).replace("epochs: 60", "epochs: 100000");
        yard.file("chaos.yaml", longer);
        let mut driver = yard.start(&["run", "chaos.yaml"]);
        yard.until("a group works", || !yard.events_of("chaos-1", "progress").is_empty());
        let before = workers(&yard, "chaos-1");
        signal(before[1].1, "-STOP");
        yard.until("it is found", || !yard.events_of("chaos-1", "process_lost").is_empty());
        let lost = before[1].0;
        yard.until("three go on without it", || {
            let formed = yard.events_of("chaos-1", "formed");
            let processes = formed.last().unwrap()["processes"].as_array().unwrap().clone();
            processes.len() == 3 && !processes.contains(&lost.into())
        });
        signal(before[1].1, "-CONT");
        let after = workers(&yard, "chaos-1");
        assert!(after.contains(&before[0]) && after.contains(&before[2]), "{before:?} {after:?}");
        check_events(&yard, "chaos-1");
        signal(driver.id(), "-INT");
        assert_eq!(driver.wait().unwrap().code(), Some(130));
    }
}
