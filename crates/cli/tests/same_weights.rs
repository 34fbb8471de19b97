//! The same file gives the same weights on every machine: here is what each strategy ends with.

mod yard;

use yard::Yard;

/// Strategy, workers, and how the hash of the weights begins. It changes when what is computed does,
/// and only then: say so in the changelog.
const ENDS: [(&str, usize, &str); 8] = [
    ("single", 1, "21286f524477"),
    ("all_reduce", 3, "7aff8d395130"),
    ("average", 3, "1ef359f05b4b"),
    ("{ average: { sync_every: 7, outer: {} } }", 3, "662e964a9438"),
    ("{ average: { rounds: 1, shared_init: false } }", 3, "26c137014e01"),
    ("{ average: { combine: vote } }", 3, "14ef2343fb96"),
    ("{ parameter_server: { servers: 2, mode: sync } }", 3, "7aff8d395130"),
    (
        "{ parameter_server: { servers: 1, mode: sync, replicas_to_aggregate: 2 } }",
        3,
        "f7dfc99e2f33",
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
