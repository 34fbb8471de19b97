use std::fs;

use store::{RunDir, Runs, StoreError, check_name};
use tempfile::tempdir;

fn ids(runs: &[RunDir]) -> Vec<String> {
    runs.iter().map(RunDir::id).collect()
}

#[test]
fn numbers_count_up_for_each_name() {
    let folder = tempdir().unwrap();
    let runs = Runs::new(folder.path().join("runs"));
    assert!(runs.list().unwrap().is_empty());
    for (name, id) in
        [("mnist", "mnist-1"), ("mnist", "mnist-2"), ("b", "b-1"), ("mnist-2", "mnist-2-1")]
    {
        assert_eq!(runs.create(name).unwrap().id(), id);
    }
    fs::create_dir(runs.root().join("mnist-10")).unwrap();
    for not_a_run in
        ["mnist", "mnist-0", "mnist-07", "Mnist-1", "mnist-x", "-1", "mnist-99999999999999999999"]
    {
        fs::create_dir(runs.root().join(not_a_run)).unwrap();
    }
    fs::write(runs.root().join("file-1"), "").unwrap();
    let listed = ids(&runs.list().unwrap());
    assert_eq!(listed, ["b-1", "mnist-1", "mnist-2", "mnist-10", "mnist-2-1"]);
    assert_eq!(runs.create("mnist").unwrap().number, 11);
}

#[test]
fn many_at_once_get_a_run_each() {
    let folder = tempdir().unwrap();
    let runs = Runs::new(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| runs.create("mnist").unwrap());
        }
    });
    let numbers: Vec<u64> = runs.list().unwrap().iter().map(|run| run.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_run_is_found_by_what_a_user_types() {
    let folder = tempdir().unwrap();
    let runs = Runs::new(folder.path());
    let made: Vec<RunDir> = ["mnist", "mnist", "mnist-2", "faces"]
        .iter()
        .map(|name| runs.create(name).unwrap())
        .collect();
    let found = |run: &str| runs.resolve(run).map(|run| run.id());
    assert_eq!(found("mnist").unwrap(), "mnist-2");
    assert_eq!(found("mnist-1").unwrap(), "mnist-1");
    // Both a run of `mnist` and a name: the folder of exactly that name is meant.
    assert_eq!(found("mnist-2").unwrap(), "mnist-2");
    assert_eq!(found("mnist-2-1").unwrap(), "mnist-2-1");

    let path = made[0].path.display().to_string();
    assert!(matches!(found(&path), Err(StoreError::NotARun { .. })));
    fs::write(made[0].spec(), "").unwrap();
    assert_eq!(found(&path).unwrap(), "mnist-1");
    let renamed = folder.path().join("Kept For Later");
    fs::rename(&made[0].path, &renamed).unwrap();
    let kept = runs.resolve(&renamed.display().to_string()).unwrap();
    assert_eq!((kept.id().as_str(), kept.number), ("Kept For Later", 0));
}

#[test]
fn an_unknown_run_is_answered_with_the_nearest() {
    let folder = tempdir().unwrap();
    let runs = Runs::new(folder.path());
    let none = runs.resolve("mnist").unwrap_err().to_string();
    assert!(none.ends_with("; it holds no runs"), "{none}");
    runs.create("mnist").unwrap();
    runs.create("faces").unwrap();
    let near = runs.resolve("mnits").unwrap_err().to_string();
    assert!(near.ends_with("there is mnist"), "{near}");
    let far = runs.resolve("zzz").unwrap_err().to_string();
    assert!(far.contains("faces") && far.contains("mnist-1"), "{far}");
    assert!(runs.resolve("no/such/path").is_err());
    assert!(runs.resolve("").is_err());
}

#[test]
fn names_are_narrow() {
    let long = "a".repeat(40);
    for name in ["a", "mnist-2", "a-", &long] {
        check_name(name).unwrap();
    }
    let longer = "a".repeat(41);
    for name in ["", "1a", "-a", "A", "a_b", "a/b", "a.b", "é", &longer] {
        assert!(check_name(name).is_err(), "{name}");
        assert!(Runs::new("/nonexistent").create(name).is_err());
    }
}
