//! What a person meets first: help, examples, plans, completions.

mod yard;

use yard::{SMALL, Yard};

const VERBS: [&str; 27] = [
    "run",
    "plan",
    "init",
    "ls",
    "status",
    "logs",
    "report",
    "stop",
    "why",
    "get",
    "rm",
    "render",
    "doctor",
    "split",
    "copy",
    "train",
    "aggregate",
    "evaluate",
    "predict",
    "inspect",
    "bench",
    "compare",
    "serve",
    "open",
    "join",
    "worker",
    "completions",
];

#[test]
fn every_verb_has_help_with_examples() {
    let yard = Yard::new();
    let overview = yard.ok(&["--help"]);
    for verb in VERBS {
        assert!(overview.contains(&format!("  {verb} ")), "{verb} is not in the overview");
        let help = yard.ok(&[verb, "--help"]);
        assert!(help.contains("Examples:"), "{verb} has no examples");
        assert!(help.contains(&format!("trainyard {verb}")), "{verb} shows no use of itself");
    }
    assert!(yard.ok(&["bench", "all-reduce", "--help"]).contains("Examples:"));
}

#[test]
fn init_writes_what_plan_and_run_take_and_never_overwrites() {
    let yard = Yard::new();
    let examples = yard.ok(&["init", "--list"]);
    for line in examples.lines() {
        let name = line.split_whitespace().next().unwrap();
        yard.ok(&["init", name]);
        let file = format!("{name}.yaml");
        let text = std::fs::read_to_string(yard.path(&file)).unwrap();
        assert!(text.contains(&format!("trainyard run {file}")), "{text}");
        let mut args = vec!["plan", &file, "--json"];
        args.extend(own_pictures(&yard, name).into_iter().flat_map(|set| ["--set", set]));
        let plan = yard.json(&args);
        assert!(plan["tasks"].as_array().unwrap().len() >= 3, "{name}: {plan}");
        assert!(yard.fails(1, &["init", name]).contains("left as it is"));
    }
    assert!(yard.fails(2, &["init", "nothing"]).contains("mnist-sample"));
}

/// Pictures for an example that takes its user's own, and the setting that says where they are.
fn own_pictures(yard: &Yard, example: &str) -> Option<&'static str> {
    let picture = [&b"P5 8 8 255\n"[..], &[7; 64]].concat();
    let write = |folder: &str| {
        for number in 0..2 {
            yard.file(&format!("{folder}/{number}.pgm"), &picture);
        }
    };
    match example {
        "cats-and-dogs" => {
            for class in ["train/cats", "train/dogs", "validation/cats", "validation/dogs"] {
                write(&format!("pets/{class}"));
            }
            Some("data.from=./pets")
        }
        "faces" => {
            (0..12).for_each(|person| write(&format!("people/{person}")));
            Some("data.from=./people")
        }
        _ => None,
    }
}

#[test]
fn plan_prints_order_and_memory_and_runs_nothing() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    let text = yard.ok(&["plan", "small.yaml"]);
    let places = ["prepare", "train", "evaluate"].map(|task| text.find(task).expect(task));
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains("MiB"), "{text}");
    assert!(!yard.path("runs").exists());
    let plan = yard.json(&["plan", "small.yaml", "--json"]);
    assert_eq!(plan, yard.json(&["plan", "small.yaml", "--json"]));
    assert!(plan["tasks"][1]["resources"]["memory"].as_u64() > Some(1 << 20));
}

#[test]
fn planned_memory_is_what_a_run_takes() {
    let yard = Yard::new();
    let wide = SMALL.replace("mnist-mlp", "{ name: mnist-mlp, hidden_units: 10000 }");
    yard.file("small.yaml", wide.replace("epochs: 2", "steps: 20"));
    let planned = yard.json(&["plan", "small.yaml", "--json"]);
    yard.ok(&["run", "small.yaml"]);
    for done in yard.events_of("small-1", "task_done") {
        let tasks = planned["tasks"].as_array().unwrap();
        let task = tasks.iter().find(|task| task["id"] == done["task"]).unwrap();
        let planned = task["resources"]["memory"].as_f64().unwrap();
        let taken = done["peak_rss_bytes"].as_f64().unwrap();
        // Never more than planned, but for the pages of an unoptimised program; and since a plan
        // must hold in the worst moment, with every checkpoint buffer in use, somewhat less is fine.
        let slack = 6e6;
        assert!(
            taken <= planned * 1.05 + slack,
            "{}: {taken} taken, {planned} planned",
            done["task"]
        );
        assert!(
            taken >= planned * 0.5 - slack,
            "{}: {taken} taken, {planned} planned",
            done["task"]
        );
    }
}

#[test]
fn completions_know_the_verbs() {
    let yard = Yard::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = yard.ok(&["completions", shell]);
        assert!(script.contains("aggregate"), "{shell}");
    }
}
