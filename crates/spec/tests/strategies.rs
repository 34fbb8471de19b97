//! Workers and how they train together: what a run file says, and what is said when it makes no
//! sense.

mod reading;

use reading::{RIGHT, data, error, messages, set, train};
use spec::{
    Assign, Average, Combine, Length, Mode, Outer, ParameterServer, Rate, RunSpec, Strategy, Sync,
    Train,
};

/// Training as `train: {…}` after a right file means it.
fn trained(how: &str) -> Train {
    train(&set(&format!("{RIGHT}train: {{ {how} }}"), &[])).clone()
}

/// What is wrong with `train: {strategy: {average: {…}}, …}`.
fn wrong(average: &str, more: &str) -> Vec<String> {
    messages(&format!("train: {{ strategy: {{ average: {{ {average} }} }}, workers: 3, {more} }}"))
}

#[test]
fn workers_choose_the_strategy_unless_it_is_given() {
    assert_eq!(trained("workers: 1").strategy, Strategy::Single);
    assert_eq!(trained("workers: 2").strategy, Strategy::AllReduce);
    assert_eq!(trained("strategy: all_reduce").strategy, Strategy::AllReduce);
    assert_eq!(
        trained("workers: 2, strategy: average").strategy,
        Strategy::Average(Average::default())
    );
    // What was chosen is written down, so that it stays.
    let spec = set(RIGHT, &["train.workers=3"]);
    assert!(spec.to_yaml().contains("strategy: all_reduce"), "{}", spec.to_yaml());
    let names = ["workers: 1", "workers: 2", "strategy: average"];
    let names = names.map(|how| trained(how).strategy.name());
    assert_eq!(names, ["single", "all_reduce", "average"]);
}

#[test]
fn everything_can_be_said_about_averaging() {
    let average = |how: &str| match trained(&format!("strategy: {{average: {{{how}}}}}")).strategy {
        Strategy::Average(average) => average,
        other => panic!("{other:?}"),
    };
    let plain =
        Average { sync: Sync::Epoch, shared_init: true, outer: None, combine: Combine::Mean };
    assert_eq!(average(""), plain);
    assert_eq!(average("sync_every: 50").sync, Sync::Steps(50));
    assert_eq!(average("rounds: 1").sync, Sync::Rounds(1));
    assert_eq!(average("outer: {}").outer, Some(Outer { momentum: 0.9, learning_rate: 0.7 }));
    assert_eq!(
        average("outer: {momentum: 0.5, learning_rate: 1.0}").outer,
        Some(Outer { momentum: 0.5, learning_rate: 1.0 })
    );
    assert_eq!(
        average("combine: vote, shared_init: false, rounds: 1"),
        Average { sync: Sync::Rounds(1), shared_init: false, combine: Combine::Vote, ..plain }
    );
    let spec = set(RIGHT, &["train.workers=2", "train.strategy.average.sync_every=5"]);
    let set = Average { sync: Sync::Steps(5), ..plain };
    assert_eq!(train(&spec).strategy, Strategy::Average(set));
}

#[test]
fn a_rate_may_grow_with_the_workers() {
    let rate = trained("workers: 3, learning_rate: {base: 0.0001, per_worker: 0.00006}");
    let rate = rate.learning_rate.expect("a rate");
    assert_eq!(rate, Rate { base: 0.0001, per_worker: 0.000_06 });
    assert_eq!([1, 3].map(|workers| rate.of(workers)), [0.000_16, 0.000_28]);
    let fixed = trained("learning_rate: 0.01").learning_rate.expect("a rate");
    assert_eq!([1, 3].map(|workers| fixed.of(workers)), [0.01, 0.01]);
    assert!(trained("learning_rate: {base: 0, per_worker: 0.1}").learning_rate.is_some());
    for (rate, problem) in [
        ("{base: 0, per_worker: 0}", ": expected more than 0 with 2 workers, found `0`"),
        (
            "{base: 1, per_worker: 1e6}",
            ": expected at most 1000000 with 2 workers, found `2000001`",
        ),
        ("{base: 1}", ": `per_worker` is missing"),
        ("{base: -1, per_worker: 1}", ".base: expected at least 0, found `-1`"),
        ("\"0.1\"", ": expected a number or a mapping, found the text `\"0.1\"`"),
    ] {
        let found = messages(&format!("train: {{ workers: 2, learning_rate: {rate} }}"));
        assert_eq!(found, [format!("train.learning_rate{problem}")]);
    }
    let quoted = error(&format!("{RIGHT}train: {{ learning_rate: \"0.1\" }}"));
    assert!(quoted.ends_with("hint: without the quotes it is one: `0.1`"), "{quoted}");
}

#[test]
fn no_steps_at_all_means_until_stopped() {
    assert_eq!(trained("steps: 0").length, Length::Endless);
    let spec = set(RIGHT, &["train.steps=0"]);
    assert!(spec.to_yaml().contains("steps: 0"), "{}", spec.to_yaml());
    assert_eq!(
        error(&format!("{RIGHT}train: {{ steps: 0, schedule: cosine }}\n")),
        "mnist.yaml:4:30: train.schedule: it falls until the last step, but `steps: 0` has no last one
  4 | train: { steps: 0, schedule: cosine }
    |                              ^^^^^^
  hint: say how many steps or epochs, or use `exponential`"
    );
    assert_eq!(
        wrong("rounds: 3", "steps: 0"),
        [
            "train.strategy.average.rounds: rounds divide all steps among them, but `steps: 0` has no end"
        ]
    );
}

#[test]
fn samples_are_split_or_copied() {
    assert_eq!(data(&set(RIGHT, &[])).assign, Assign::Split);
    assert_eq!(data(&set(RIGHT, &["data.assign=copy"])).assign, Assign::Copy);
    assert_eq!([Assign::Split, Assign::Copy].map(|assign| assign.largest_shard(10, 3)), [4, 10]);
    let found = error("name: a\ndata: {from: mnist, assign: splt}\nmodel: mnist-cnn\n");
    assert!(found.contains("data.assign: unknown value `splt`; did you mean `split`?"), "{found}");
}

#[test]
fn one_worker_is_one_worker() {
    assert_eq!(
        error(&format!("{RIGHT}train:\n  workers: 3\n  strategy: single\n")),
        "mnist.yaml:6:13: train.strategy: `single` is one worker, but `workers` is 3
  6 |   strategy: single
    |             ^^^^^^
  hint: `all_reduce` and `average` are for several; `workers: 1` is for `single`"
    );
    assert_eq!(
        error(&format!("{RIGHT}train:\n  strategy: {{ all_reduce: {{}} }}\n")),
        "mnist.yaml:5:15: train.strategy.all_reduce: `all_reduce` has no fields
  5 |   strategy: { all_reduce: {} }
    |               ^^^^^^^^^^
  hint: write it alone: `all_reduce`"
    );
    assert_eq!(
        messages("train: {strategy: allreduce}"),
        ["train.strategy: unknown value `allreduce`; did you mean `all_reduce`?"]
    );
    assert_eq!(messages("train: {workers: 0}"), ["train.workers: expected at least 1, found `0`"]);
}

#[test]
fn workers_meet_by_one_rule() {
    assert_eq!(
        error(&format!(
            "{RIGHT}train:\n  strategy:\n    average:\n      sync_every: 5\n      rounds: 2\n"
        )),
        "mnist.yaml:8:15: train.strategy.average.rounds: `sync_every` and `rounds` are both given
  8 |       rounds: 2
    |               ^
  hint: keep one; `--set train.strategy.average.sync_every=null` leaves one out for this run"
    );
    assert_eq!(
        wrong("sync_every: 0, rounds: 0", "epochs: 1"),
        [
            "train.strategy.average.sync_every: expected at least 1, found `0`",
            "train.strategy.average.rounds: expected at least 1, found `0`",
        ]
    );
    assert_eq!(
        wrong("rounds: 11", "steps: 10"),
        [
            "train.strategy.average.rounds: expected at most one for each of the 10 steps, found `11`"
        ]
    );
    assert_eq!(
        wrong("rounds: 5000000000", "epochs: 1"),
        ["train.strategy.average.rounds: expected at most 1,000,000,000, found `5000000000`"]
    );
    assert_eq!(wrong("sync: 5", "epochs: 1"), ["train.strategy.average.sync: unknown field"]);
}

#[test]
fn models_that_vote_never_meet() {
    let nothing = "workers that vote never meet, so there is nothing to do in between";
    assert_eq!(
        wrong("combine: vote, sync_every: 5", "epochs: 1"),
        [format!("train.strategy.average.sync_every: {nothing}")]
    );
    assert_eq!(
        wrong("combine: vote, rounds: 2, outer: {}", "epochs: 1"),
        [
            format!("train.strategy.average.rounds: {nothing}"),
            "train.strategy.average.outer: workers that vote never meet, so there are no rounds to \
             have momentum over"
                .into(),
        ]
    );
    let vote = trained("workers: 5, steps: 0, strategy: {average: {combine: vote, rounds: 1}}");
    assert_eq!(vote.workers, 5);
}

#[test]
fn weights_of_ones_own_go_neither_with_momentum_nor_with_a_file() {
    assert_eq!(
        wrong("shared_init: false, outer: {}", "epochs: 1"),
        [
            "train.strategy.average.outer: what a round changed is only known where all began from the \
          same weights"
        ]
    );
    let file = "name: a\ndata: mnist\nmodel: m.safetensors\ntrain:\n  strategy:\n    average:\n      \
                shared_init: false\n";
    assert_eq!(
        error(file),
        "mnist.yaml:7:20: train.strategy.average.shared_init: all workers begin from the weights in \
         `m.safetensors`
  7 |       shared_init: false
    |                    ^^^^^
  hint: take it away, or name a network instead of a model file"
    );
}

/// A run file cannot say it yet; a spec as JSON can.
#[test]
fn servers_are_checked_too() {
    let spec = |servers: ParameterServer, workers: usize| {
        let mut spec = set(RIGHT, &[]);
        for step in &mut spec.steps {
            match &mut step.action {
                spec::Action::Prepare(prepare) => prepare.shards = workers,
                spec::Action::Train(train) => {
                    train.workers = workers;
                    train.strategy = Strategy::ParameterServer(servers);
                }
                spec::Action::Evaluate(_) | spec::Action::Serve(_) => {}
            }
        }
        let json = serde_json::to_string(&spec).expect("a spec is JSON");
        serde_json::from_str::<RunSpec>(&json).map_err(|error| error.to_string())
    };
    let servers = ParameterServer::default();
    assert_eq!((servers.servers, servers.mode), (1, Mode::Async));
    assert!(spec(servers, 2).is_ok());
    let some = ParameterServer { replicas_to_aggregate: Some(2), ..servers };
    let found = spec(some, 2).expect_err("nothing is aggregated");
    let path = "train.strategy.parameter_server.replicas_to_aggregate";
    let message = "with `mode: async` every gradient is an update of its own";
    assert!(found.contains(&format!("{path}: {message}")), "{found}");
    let some = ParameterServer { mode: Mode::Sync, ..some };
    assert!(spec(some, 2).is_ok());
    let found = spec(some, 1).expect_err("one worker cannot give two gradients");
    assert!(found.contains("expected at most the 1 `workers`, found `2`"), "{found}");
}

#[test]
fn a_strategy_can_be_read_from_a_word() {
    let read = |text: &str| Strategy::parse(text, 2).map_err(|error| error.to_string());
    assert_eq!(read(" all_reduce"), Ok(Strategy::AllReduce));
    assert_eq!(read("average"), Ok(Strategy::Average(Average::default())));
    let every_50 = Strategy::Average(Average { sync: Sync::Steps(50), ..Average::default() });
    assert_eq!(read("average:50"), Ok(every_50));
    assert_eq!(read("{average: {sync_every: 50}}"), Ok(every_50));
    let vote = Average { combine: Combine::Vote, ..Average::default() };
    assert_eq!(read("average:vote"), Ok(Strategy::Average(vote)));
    let servers = |mode| ParameterServer { mode, ..ParameterServer::default() };
    assert_eq!(read("parameter_server"), Ok(Strategy::ParameterServer(servers(Mode::Async))));
    assert_eq!(read("parameter_server:sync"), Ok(Strategy::ParameterServer(servers(Mode::Sync))));
    assert_eq!(Strategy::parse("single", 1).ok(), Some(Strategy::Single));
    for (wrong, part) in [
        ("single", "`workers` is 2"),
        ("averge", "average"),
        ("average:", "average"),
        ("average:0", "sync_every"),
        ("parameter_server:often", "mode"),
        ("all_reduce:3", "all_reduce"),
        ("{average: {rounds: 1, sync_every: 1}}", "both given"),
    ] {
        let error = read(wrong).expect_err(wrong);
        assert!(error.contains(part) && error.starts_with("train.strategy"), "{wrong}: {error}");
    }
}
