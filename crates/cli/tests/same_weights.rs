//! The same file gives the same weights on every machine: here is what each strategy ends with.

mod yard;

use yard::Yard;

/// Strategy, workers, and how the hash of the weights begins. It changes when what is computed does,
/// and only then: say so in the changelog.
const ENDS: [(&str, usize, &str); 8] = [
    ("single", 1, "0491835a883b"),
    ("all_reduce", 3, "01b209efb54e"),
    ("average", 3, "3db6d563d8dd"),
    ("{ average: { sync_every: 7, outer: {} } }", 3, "67dd876dbc43"),
    ("{ average: { rounds: 1, shared_init: false } }", 3, "4ef6311fba0d"),
    ("{ average: { combine: vote } }", 3, "a7cb1185a6d6"),
    ("{ parameter_server: { servers: 2, mode: sync } }", 3, "01b209efb54e"),
    (
        "{ parameter_server: { servers: 1, mode: sync, replicas_to_aggregate: 2 } }",
        3,
        "3a35b0f8f9d8",
    ),
];

#[test]
fn every_strategy_ends_with_the_weights_written_here() {
    let yard = Yard::new();
    let ended = ENDS.map(|(strategy, workers, _)| {
        let file = format!(
            "name: same\n\
             data: {{ from: mnist-sample, validation: 1000 }}\n\
             model: {{ name: mnist-mlp, hidden_units: 16 }}\n\
             train: {{ workers: {workers}, strategy: {strategy}, epochs: 2, batch: 50, threads: 1 }}\n"
        );
        yard.file("same.yaml", file);
        yard.ok(&["run", "same.yaml", "--fresh"]);
        let report = yard.json(&["report", "same", "--json"]);
        let weights = report["weights_sha256"].as_str().unwrap_or_default();
        (strategy, workers, weights.chars().take(12).collect::<String>())
    });
    assert_eq!(ended, ENDS.map(|(strategy, workers, weights)| (strategy, workers, weights.into())));
}
