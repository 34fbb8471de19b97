use std::fs;
use std::time::Duration;

use store::{Lock, Owner, Runs};
use tempfile::tempdir;

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
fn what_the_dead_left_unfinished_is_swept_up() {
    let folder = tempdir().unwrap();
    let run = Runs::new(folder.path()).create("mnist").unwrap();
    fs::create_dir_all(run.model("train")).unwrap();
    let [kept, torn] =
        ["model.safetensors", "model.safetensors#12"].map(|name| run.model("train").join(name));
    fs::write(&kept, "whole").unwrap();
    fs::write(&torn, "ha").unwrap();
    run.sweep().unwrap();
    assert!(kept.exists() && !torn.exists());
}
