//! Any graph of steps without a circle becomes a plan in which each task comes after its needs.

use plan::{self as plan, Facts, Plan};
use proptest::prelude::*;
use spec::{Action, Builtin, Data, Evaluate, Model, Prepare, RunSpec, Step, Train};

/// Steps in an order in which they could run, then shuffled. Needs point to earlier ones, and
/// each step finds one data set and one model.
fn run() -> impl Strategy<Value = RunSpec> {
    let step = (0usize..3, proptest::collection::vec(any::<prop::sample::Index>(), 0..3));
    let steps = proptest::collection::vec(step, 0..20);
    (steps, any::<u64>()).prop_flat_map(|(wanted, seed)| {
        let mut steps = vec![made(
            "load",
            vec![],
            Action::Prepare(Prepare { data: Data::named("mnist"), shards: 1 }),
        )];
        for (number, (kind, needs)) in wanted.into_iter().enumerate() {
            let of_kind = |kind: &str| -> Vec<String> {
                let fitting = steps.iter().filter(|step: &&Step| step.action.name() == kind);
                fitting.map(|step| step.id.clone()).collect()
            };
            let (trains, evaluates) = (of_kind("train"), of_kind("evaluate"));
            let mut picked: Vec<String> = Vec::new();
            let action = match kind {
                0 if !trains.is_empty() => {
                    // One model, whatever else was measured before with the same one.
                    picked
                        .push(needs.first().map_or(&trains[0], |index| index.get(&trains)).clone());
                    Action::Evaluate(Evaluate::default())
                }
                _ => {
                    picked.push("load".into());
                    let others = needs.iter().filter(|_| !evaluates.is_empty());
                    picked.extend(others.map(|index| index.get(&evaluates).clone()));
                    let hidden_units = 3;
                    Action::Train(Train::new(Model::Builtin(Builtin::MnistMlp { hidden_units })))
                }
            };
            picked.sort();
            picked.dedup();
            steps.push(made(&format!("s{number}"), picked, action));
        }
        Just(steps).prop_shuffle().prop_map(move |steps| RunSpec {
            name: "any".into(),
            seed,
            steps,
            on: spec::On::default(),
        })
    })
}

fn made(id: &str, needs: Vec<String>, action: Action) -> Step {
    Step { id: id.into(), needs, action }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_task_comes_after_its_needs(spec in run()) {
        let plan = plan::plan(&spec, &Facts::default()).unwrap();
        prop_assert_eq!(plan.tasks.len(), spec.steps.len());
        for (place, task) in plan.tasks.iter().enumerate() {
            for need in &task.needs {
                prop_assert!(plan.tasks[..place].iter().any(|earlier| earlier.id == *need));
            }
        }
    }

    #[test]
    fn the_same_spec_gives_the_same_bytes(spec in run()) {
        let bytes = |spec: &RunSpec| {
            let plan = plan::plan(spec, &Facts::default()).unwrap();
            serde_json::to_vec(&plan).unwrap()
        };
        let again = spec::parse(&spec.to_yaml(), "again.yaml", &[]).unwrap();
        prop_assert_eq!(bytes(&spec), bytes(&again));
        let plan: Plan = serde_json::from_slice(&bytes(&spec)).unwrap();
        prop_assert_eq!(serde_json::to_vec(&plan).unwrap(), bytes(&spec));
    }

    #[test]
    fn a_circle_anywhere_is_found(spec in run(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let mut spec = spec;
        let plan = plan::plan(&spec, &Facts::default()).unwrap();
        // An earlier task that needs a later one which needs it: a circle of two, at least.
        let late = from.get(&plan.tasks);
        prop_assume!(!late.needs.is_empty());
        let early = to.get(&late.needs).clone();
        let late = late.id.clone();
        let step = spec.steps.iter_mut().find(|step| step.id == early).unwrap();
        step.needs.push(late);
        let error = plan::plan(&spec, &Facts::default()).unwrap_err().to_string();
        prop_assert!(error.starts_with("steps wait for each other: "), "{}", error);
    }
}
