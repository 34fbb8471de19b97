//! From spec to plan: order, roles, and what is wrong, word for word.

use std::collections::BTreeMap;

use plan::{self as plan, DataFacts, Facts, Plan, PlanError, Role, Task};

/// Plans a run file whose steps are given as `id: {…}` lines.
fn steps(lines: &str) -> Result<Plan, PlanError> {
    let indented: String = lines.lines().map(|line| format!("  {}\n", line.trim())).collect();
    let text = format!("name: test\nseed: 7\nsteps:\n{indented}");
    let spec = spec::parse(&text, "test.yaml", &[]).unwrap_or_else(|error| panic!("{error}"));
    plan::plan(&spec, &Facts::default())
}

fn wrong(lines: &str) -> String {
    steps(lines).expect_err("the steps make no plan").to_string()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.tasks.iter().map(|task| task.id.as_str()).collect()
}

fn example(name: &str) -> spec::RunSpec {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = std::fs::read_to_string(folder.join(name)).expect("an example");
    spec::parse(&text, name, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn facts() -> Facts {
    Facts {
        memory: BTreeMap::from([("prepare".into(), 9_437_184), ("train".into(), 90_597_377)]),
        server_memory: BTreeMap::from([("train".into(), 9_437_184)]),
        threads: 2,
        data: BTreeMap::from([(
            "prepare".into(),
            DataFacts {
                train: 10_000,
                validation: 0,
                test: 2_000,
                shape: vec![28, 28, 1],
                classes: 10,
            },
        )]),
        weights: BTreeMap::from([("train".into(), 110_986)]),
    }
}

#[test]
fn the_short_form_becomes_three_tasks() {
    let plan = plan::plan(&example("01-mnist-sample.yaml"), &facts()).unwrap();
    assert_eq!(ids(&plan), ["prepare", "train", "evaluate"]);
    let serving = plan.serving.as_ref().expect("it ends with a page");
    assert_eq!((&*serving.id, &*serving.model), ("serve", "train"));
    assert!(matches!(&plan.tasks[1].role, Role::Worker { data, .. } if data == "prepare"));
    assert!(matches!(&plan.tasks[2].role,
        Role::Evaluate { model, data, .. } if model == "train" && data == "prepare"));
    assert_eq!(plan.tasks[1].resources.memory, 90_597_377);
    assert_eq!(plan.tasks[1].resources.threads, 2);
}

#[test]
fn a_task_alone_says_everything_as_json() {
    let mut facts = facts();
    facts.data.get_mut("prepare").unwrap().validation = 1000;
    let plan = plan::plan(&example("04-own-layers.yaml"), &facts).unwrap();
    for task in &plan.tasks {
        let json = serde_json::to_string(task).unwrap();
        assert_eq!(&serde_json::from_str::<Task>(&json).unwrap(), task);
    }
    let json = serde_json::to_string(&plan.tasks[0]).unwrap();
    assert_eq!(
        json,
        r#"{"id":"prepare","needs":[],"seed":7,"role":{"prepare":{"data":{"from":"mnist-sample","assign":"split","validation":0.1,"stratify":true},"shards":1}},"processes":1,"resources":{"memory":9437184,"threads":1}}"#
    );
}

#[test]
fn the_order_is_the_files_where_needs_leave_a_choice() {
    let plan = steps(
        "test: { needs: [train], evaluate: {} }
         train: { needs: [load], train: { model: mnist-mlp } }
         other: { prepare: { data: mnist } }
         load: { prepare: { data: mnist } }",
    )
    .unwrap();
    assert_eq!(ids(&plan), ["other", "load", "train", "test"]);
}

#[test]
fn steps_that_wait_for_each_other_are_named() {
    assert_eq!(
        wrong(
            "load: { prepare: { data: mnist } }
             a: { needs: [load, b], train: { model: mnist-mlp } }
             b: { needs: [c], evaluate: {} }
             c: { needs: [a], evaluate: {} }"
        ),
        "steps wait for each other: a → b → c → a; take one of these needs away"
    );
    assert_eq!(
        wrong("a: { needs: [a], prepare: { data: mnist } }"),
        "steps wait for each other: a → a; take one of these needs away"
    );
    // The way into the circle is not part of it.
    assert_eq!(
        wrong(
            "x: { needs: [a], evaluate: {} }
             a: { needs: [b], evaluate: {} }
             b: { needs: [a], evaluate: {} }"
        ),
        "steps wait for each other: a → b → a; take one of these needs away"
    );
}

#[test]
fn unknown_and_repeated_needs_are_named() {
    assert_eq!(
        wrong(
            "load: { prepare: { data: mnist } }\ntrain: { needs: [laod], train: { model: mnist-mlp } }"
        ),
        "step `train` needs `laod`, which is no step of this file; did you mean `load`?"
    );
    assert_eq!(
        wrong(
            "load: { prepare: { data: mnist } }\ntrain: { needs: [xyz], train: { model: mnist-mlp } }"
        ),
        "step `train` needs `xyz`, which is no step of this file; its steps are load, train"
    );
    assert_eq!(
        wrong(
            "load: { prepare: { data: mnist } }\ntrain: { needs: [load, load], train: { model: mnist-mlp } }"
        ),
        "step `train` needs `load` twice; name it once"
    );
}

#[test]
fn two_steps_of_one_name_are_refused() {
    // A file cannot hold them, but a spec can.
    let mut spec = example("01-mnist-sample.yaml");
    spec.steps[1].id = "prepare".into();
    let error = plan::plan(&spec, &Facts::default()).unwrap_err();
    assert_eq!(error.to_string(), "step `prepare`: two steps have this name; rename one");
}

#[test]
fn needs_must_be_of_the_right_kind() {
    assert_eq!(
        wrong("train: { train: { model: mnist-mlp } }"),
        "step `train`: it needs a `prepare` step, and there is none"
    );
    assert_eq!(
        wrong("load: { prepare: { data: mnist } }\ntrain: { train: { model: mnist-mlp } }"),
        "step `train`: it needs no `prepare` step; add `needs: [load]`"
    );
    assert_eq!(
        wrong(
            "a: { prepare: { data: mnist } }\nb: { prepare: { data: mnist } }\ntrain: { train: { model: mnist-mlp } }"
        ),
        "step `train`: it needs no `prepare` step; name one of `a`, `b` in `needs`"
    );
    assert_eq!(
        wrong(
            "a: { prepare: { data: mnist } }\nb: { prepare: { data: mnist } }\ntrain: { needs: [a, b], train: { model: mnist-mlp } }"
        ),
        "step `train`: it can use one `prepare` step, but needs `a` and `b`; keep one"
    );
    assert_eq!(
        wrong("load: { prepare: { data: mnist } }\ntest: { needs: [load], evaluate: {} }"),
        "step `test`: it needs a `train` step, and there is none"
    );
    assert_eq!(
        wrong(
            "load: { prepare: { data: mnist, shards: 3 } }\ntrain: { needs: [load], train: { model: mnist-mlp } }"
        ),
        "step `train`: it has 1 worker, but `load` makes 3 shards; set `shards: 1` there"
    );
    assert_eq!(
        wrong(
            "load: { prepare: { data: { from: mnist, assign: copy } } }\ntrain: { needs: [load], train: { model: mnist-mlp, workers: 2 } }"
        ),
        "step `train`: it has 2 workers, but `load` is for 1 worker; set `shards: 2` there"
    );
}

#[test]
fn an_evaluation_finds_its_model_and_data_through_others() {
    let plan = steps(
        "load: { prepare: { data: mnist } }
         train: { needs: [load], train: { model: mnist-mlp } }
         first: { needs: [train], evaluate: {} }
         second: { needs: [first], evaluate: { split: train } }
         others: { prepare: { data: fashion-mnist } }
         third: { needs: [train, others], evaluate: {} }",
    )
    .unwrap();
    let data = |id: &str| {
        let task = plan.tasks.iter().find(|task| task.id == id).expect("the task");
        match &task.role {
            Role::Evaluate { model, data, .. } => (model.clone(), data.clone()),
            role => panic!("{role:?}"),
        }
    };
    assert_eq!(data("second"), ("train".into(), "load".into()));
    assert_eq!(data("third"), ("train".into(), "others".into()));
}

#[test]
fn a_plan_explains_itself() {
    let facts = facts();
    let plan = plan::plan(&example("01-mnist-sample.yaml"), &facts).unwrap();
    assert_eq!(
        plan::explain(&plan, &facts),
        "mnist-sample: 3 tasks, in this order (seed 0)

 1  prepare    prepare    needs nothing   9.0 MiB (9,437,184 bytes)     1 thread
    Makes mnist-sample ready: 10,000 samples to train on and 2,000 to test, each 28×28×1, of 10 classes.

 2  train      worker     needs prepare   86.4 MiB (90,597,377 bytes)   2 threads
    Trains mnist-cnn (110,986 weights) for 6 epochs of 100 steps, 100 samples a step, with the network's own optimizer.

 3  evaluate   evaluate   needs train     memory not known              2 threads
    Measures the model of train on the 2,000 test samples of prepare.

Then  serve
    Serves the model of train at http://127.0.0.1:8080/, or at another port if that is taken, when the run is done and until it is stopped.
"
    );
    let plan = plan::plan(&example("04-own-layers.yaml"), &Facts::default()).unwrap();
    assert!(plan.tasks.iter().all(|task| task.processes == 1));
    let text = plan::explain(&plan, &Facts::default());
    assert!(text.contains(
        "Trains a network of 8 layers for 8 epochs, 64 samples a step, with adam at 0.002; stops \
         early after 2 epochs without improvement."
    ), "{text}");
}

const TWO_MODELS: &str = "load: { prepare: { data: mnist } }
    small: { needs: [load], train: { model: mnist-mlp } }
    large: { needs: [load], train: { model: mnist-cnn } }";

#[test]
fn what_is_served_is_no_task_and_its_model_is_found_through_its_needs() {
    let plan = steps(&format!(
        "{TWO_MODELS}
         test: {{ needs: [large], evaluate: {{}} }}
         page: {{ needs: [test], serve: {{ host: 0.0.0.0, token_file: t, port: 8987 }} }}"
    ))
    .unwrap();
    assert_eq!(ids(&plan), ["load", "small", "large", "test"]);
    let serving = plan.serving.as_ref().unwrap();
    assert_eq!((&*serving.id, &*serving.model, serving.serve.port), ("page", "large", Some(8987)));
    let text = plan::explain(&plan, &Facts::default());
    let end = "\nThen  page\n    Serves the model of large to whoever knows the token at \
               http://0.0.0.0:8987/, when the run is done and until it is stopped.\n";
    assert!(text.ends_with(end), "{text}");
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);

    let both =
        format!("{TWO_MODELS}\npage: {{ needs: [small, large], serve: {{ model: small }} }}");
    assert_eq!(steps(&both).unwrap().serving.unwrap().model, "small");
}

#[test]
fn which_model_is_served_must_be_plain() {
    assert_eq!(
        wrong(&format!("{TWO_MODELS}\npage: {{ needs: [small, large], serve: {{}} }}")),
        "step `page`: it serves one model, but needs `small` and `large`; say which with `model`"
    );
    assert_eq!(
        wrong(&format!("{TWO_MODELS}\npage: {{ serve: {{}} }}")),
        "step `page`: it needs no `train` step; name one of `small`, `large` in `needs`"
    );
    assert_eq!(
        wrong(&format!(
            "{TWO_MODELS}
             page: {{ needs: [small], serve: {{}} }}
             test: {{ needs: [page], evaluate: {{}} }}"
        )),
        "step `test`: it needs `page`, which serves when all else is done; take that need away"
    );
}

/// The lines about training three workers with so many threads to share.
fn three_workers(data: &str, train: &str, threads: usize) -> (Plan, String) {
    let text = format!(
        "name: m\ndata: {{ from: mnist, {data} }}\nmodel: mnist-cnn\ntrain: {{ workers: 3, {train} }}\n"
    );
    let spec = spec::parse(&text, "m.yaml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut facts = Facts { threads, ..facts() };
    facts.data.get_mut("prepare").expect("the facts have it").train = 60_000;
    let plan = plan::plan(&spec, &facts).expect("a plan");
    let text = plan::explain(&plan, &facts);
    (plan, text)
}

#[test]
fn workers_are_processes_that_share_the_threads() {
    for (threads, given, each) in [(2, "", 1), (7, "", 2), (9, "", 3), (2, "threads: 4", 4)] {
        let (plan, _) = three_workers("", given, threads);
        let train = &plan.tasks[1];
        assert_eq!((train.processes, train.resources.threads), (3, each));
        assert_eq!((train.memory(), train.threads()), (3 * 90_597_377, 3 * each));
        assert_eq!((plan.tasks[0].processes, plan.tasks[2].processes), (1, 1));
        assert_eq!((plan.tasks[2].threads(), plan.workers()), (threads, 3));
    }
}

#[test]
fn servers_are_processes_too() {
    let strategy = "strategy: { parameter_server: { servers: 2 } }";
    let (plan, text) = three_workers("", strategy, 2);
    let train = &plan.tasks[1];
    assert_eq!(train.servers.map(|servers| servers.processes), Some(2));
    assert_eq!((train.memory(), train.threads()), (3 * 90_597_377 + 2 * 9_437_184, 3 + 2));
    let both = "3 × 86.4 MiB (90,597,377 bytes) + 2 × 9.0 MiB (9,437,184 bytes)";
    assert!(text.contains(both) && text.contains("3 × 1 thread + 2 × 1 thread\n"), "{text}");
    // A plan of before says nothing of servers.
    let json = serde_json::to_string(&plan.tasks[0]).unwrap();
    assert!(!json.contains("servers"), "{json}");
}

#[test]
fn a_plan_explains_how_workers_work_together() {
    let (_, text) = three_workers("", "strategy: average, epochs: 2, batch: 100", 2);
    assert_eq!(
        text,
        "m: 3 tasks, in this order (seed 0)

 1  prepare    prepare    needs nothing   9.0 MiB (9,437,184 bytes)         1 thread
    Makes mnist ready: 60,000 samples to train on and 2,000 to test, each 28×28×1, of 10 classes, in 3 shards.

 2  train      worker     needs prepare   3 × 86.4 MiB (90,597,377 bytes)   3 × 1 thread
    Trains mnist-cnn (110,986 weights) on 3 workers, weights averaged every epoch, for 2 epochs of 200 steps, 100 samples a step each, with the network's own optimizer.

 3  evaluate   evaluate   needs train     memory not known                  2 threads
    Measures the model of train on the 2,000 test samples of prepare.
"
    );
    for (data, train, part) in [
        ("", "batch: 7", "on 3 workers, gradients averaged every step, for 1 epoch of 2,858 steps"),
        (
            "",
            "steps: 0",
            "gradients averaged every step, until it is stopped, 32 samples a step each",
        ),
        ("", "strategy: {average: {sync_every: 50}}", "weights averaged every 50 steps, for"),
        (
            "",
            "strategy: {average: {rounds: 1, shared_init: false}}",
            "weights averaged once at the end, each from weights of its own, for",
        ),
        (
            "",
            "strategy: {average: {rounds: 4, outer: {}}}",
            "weights averaged 4 times with momentum 0.9 at 0.7, for",
        ),
        (
            "assign: copy",
            "batch: 100, strategy: {average: {combine: vote}}",
            "on 3 workers, each with a model of its own that votes, for 1 epoch of 600 steps",
        ),
        ("assign: copy", "epochs: 1", "of 10 classes, all of it for each of 3 workers."),
        ("", "learning_rate: {base: 0.0001, per_worker: 0.00006}", "optimizer at 0.00028."),
    ] {
        let (_, text) = three_workers(data, train, 2);
        assert!(text.contains(part), "{text}");
    }
}
