use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use store::{Lock, Owner, RunDir, Runs, StoreError};
use tempfile::tempdir;

use crate::crash::{start, wait_for};

fn never(_: Duration) {
    panic!("nobody is waited for here");
}

#[test]
fn a_second_driver_is_refused_at_once() {
    let folder = tempdir().unwrap();
    let run = Runs::new(folder.path()).create("mnist").unwrap();
    assert!(!Lock::is_held(&run).unwrap());
    let owner = Owner::this_process(5);
    let lock = Lock::acquire(&run, &owner, Duration::MAX, never).unwrap();
    assert!(Lock::is_held(&run).unwrap());
    assert_eq!(Owner::of(&run), Some(owner.clone()));
    let refused = Lock::acquire(&run, &owner, Duration::MAX, never).unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("mnist-1 is being driven by process"), "{message}");
    assert!(message.contains(&std::process::id().to_string()), "{message}");
    assert!(message.contains("trainyard stop mnist-1"), "{message}");
    lock.release().unwrap();
    drop(Lock::acquire(&run, &owner, Duration::ZERO, never).unwrap());
    Lock::acquire(&run, &owner, Duration::ZERO, never).unwrap();
}

#[test]
fn a_driver_elsewhere_is_waited_for_only_so_long() {
    let folder = tempdir().unwrap();
    let run = Runs::new(folder.path()).create("mnist").unwrap();
    let here = Owner::this_process(5);
    let elsewhere = Owner { host: "elsewhere".into(), ..here.clone() };
    let _lock = Lock::acquire(&run, &elsewhere, Duration::ZERO, never).unwrap();
    let mut slept = Duration::ZERO;
    let wait = Duration::from_secs(1);
    let refused = Lock::acquire(&run, &here, wait, |pause| slept += pause).unwrap_err();
    assert!(refused.to_string().contains("on elsewhere"), "{refused}");
    assert_eq!(slept, wait);
}

#[test]
fn a_later_process_of_the_same_number_is_not_the_driver() {
    let here = Owner::this_process(5);
    assert!(here.ticks.is_some() && here.lives_on(&here.host));
    assert!(!Owner { ticks: Some(1), ..here.clone() }.lives_on(&here.host));
    assert!(Owner { ticks: None, ..here.clone() }.lives_on(&here.host));
}

#[test]
fn taking_the_lock_sweeps_up_what_the_dead_left_unfinished() {
    let folder = tempdir().unwrap();
    let run = Runs::new(folder.path()).create("mnist").unwrap();
    fs::create_dir_all(run.model("train")).unwrap();
    let [kept, torn] =
        ["model.safetensors", "model.safetensors#12"].map(|name| run.model("train").join(name));
    fs::write(&kept, "whole").unwrap();
    fs::write(&torn, "ha").unwrap();
    Lock::acquire(&run, &Owner::this_process(5), Duration::ZERO, never).unwrap();
    assert!(kept.exists() && !torn.exists());
}

/// The run in the current folder.
fn run_here() -> RunDir {
    let path = std::env::current_dir().expect("a process has a folder");
    RunDir { path, name: "mnist".into(), number: 1 }
}

#[test]
#[ignore = "started by the test below as a driver to be killed"]
fn drives_and_leaves_a_worker() {
    let run = run_here();
    let _lock = Lock::acquire(&run, &Owner::this_process(5), Duration::ZERO, never).unwrap();
    let worker = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn();
    fs::write("worker.tmp", worker.unwrap().id().to_string()).unwrap();
    fs::rename("worker.tmp", "worker").unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn the_lock_outlives_a_killed_driver_while_its_workers_live() {
    let folder = tempdir().unwrap();
    let run = RunDir { path: folder.path().into(), name: "mnist".into(), number: 1 };
    let mut driver = start("lock::drives_and_leaves_a_worker", folder.path());
    wait_for(&folder.path().join("worker"));
    let worker = fs::read_to_string(folder.path().join("worker")).unwrap();
    let next = Owner::this_process(6);
    let refused = Lock::acquire(&run, &next, Duration::MAX, never).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");

    // Not waited for yet: a dead process that nobody has noticed counts as dead.
    driver.kill().unwrap();
    for attempt in 0.. {
        match Lock::acquire(&run, &next, Duration::ZERO, never).unwrap_err() {
            StoreError::Orphans { owner, .. } => {
                assert_eq!(owner.unwrap().pid, driver.id());
                break;
            }
            error => assert!(attempt < 3000, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    driver.wait().unwrap();

    let mut pauses = 0;
    let taken = Lock::acquire(&run, &next, Duration::from_secs(60), |pause| {
        if pauses == 0 {
            Command::new("kill").arg(&worker).status().unwrap();
        }
        pauses += 1;
        std::thread::sleep(pause);
    });
    taken.unwrap();
    assert!(pauses > 0);
    assert_eq!(Owner::of(&run), Some(next));
}
