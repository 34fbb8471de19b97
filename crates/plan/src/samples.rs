//! Whether the data has the samples that a task will want: better said before hours of training
//! than after.

use spec::{Action, Assign, Combine, Split, Step, Strategy, Sync, Train};

use crate::explain::counted;
use crate::{DataFacts, Facts, PlanError, Role, together};

/// Refuses a role whose data, as far as it is known, has nothing in a split it uses, or not enough.
pub(crate) fn check(
    steps: &[Step],
    step: &str,
    role: &Role,
    facts: &Facts,
) -> Result<(), PlanError> {
    let wrong = |problem: &str| PlanError::NoSamples { step: step.into(), problem: problem.into() };
    let known = |data: &String| facts.data.get(data).cloned();
    match role {
        Role::Prepare(_) => Ok(()),
        Role::Worker { train, data } => match (train.early_stop, known(data)) {
            (Some(rule), Some(DataFacts { validation: 0, .. }))
                if rule.monitor.needs_validation() =>
            {
                Err(wrong(
                    "it stops early by a validation metric, and no samples are held out; \
                           set `validation` in `data`, or monitor `loss`",
                ))
            }
            (_, Some(facts)) => {
                enough(train, assigned(steps, data), &facts).map_err(|problem| wrong(&problem))
            }
            _ => Ok(()),
        },
        Role::Evaluate { evaluate, data, .. } => match (evaluate.split, known(data)) {
            (Split::Test, Some(DataFacts { test: 0, .. })) => Err(wrong(
                "it evaluates on the test split, and the data has none; set \
                           `evaluate: false`, or `evaluate: { split: train }`",
            )),
            (Split::Validation, Some(DataFacts { validation: 0, .. })) => Err(wrong(
                "it evaluates on the validation split, and no samples are held out; set \
                           `validation` in `data`",
            )),
            _ => Ok(()),
        },
    }
}

/// Whether there are samples for every worker, and steps for every round.
fn enough(train: &Train, assign: Assign, facts: &DataFacts) -> Result<(), String> {
    let (workers, samples) = (train.workers as u64, facts.train);
    if assign == Assign::Split && samples < workers {
        let (workers, count) = (counted(workers, "worker"), counted(samples, "sample"));
        return Err(format!(
            "it has {workers}, but only {count} to train on, and each worker needs one of its own; \
             set `workers: {samples}`, or `assign: copy` in `data`"
        ));
    }
    if let Strategy::Average(average) = &train.strategy
        && let (Sync::Rounds(rounds), Combine::Mean) = (average.sync, average.combine)
        && let Some(steps) = together::steps(train, assign, samples)
        && u64::from(rounds) > steps
    {
        let count = counted(steps, "step");
        return Err(format!(
            "it has {count}, too few for {rounds} rounds; set `rounds: {steps}` or less"
        ));
    }
    Ok(())
}

/// Which samples of a step that prepares each worker sees.
fn assigned(steps: &[Step], data: &str) -> Assign {
    let prepare = steps.iter().find_map(|step| match &step.action {
        Action::Prepare(prepare) if step.id == data => Some(prepare),
        _ => None,
    });
    prepare.map(|prepare| prepare.data.assign).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(file: &str, test: u64, validation: u64) -> Result<crate::Plan, PlanError> {
        let spec = spec::parse(file, "run.yaml", &[]).expect("the file is right");
        let mut facts = Facts::default();
        let data = DataFacts { train: 10, test, validation, ..DataFacts::default() };
        facts.data.insert("prepare".into(), data);
        crate::plan(&spec, &facts)
    }

    #[test]
    fn a_split_without_samples_is_found_before_anything_runs() {
        let file = "name: a\ndata: { from: d.npz, validation: 0.001 }\nmodel: mnist-mlp\n";
        assert!(planned(file, 5, 5).is_ok());
        let error = planned(file, 0, 5).unwrap_err().to_string();
        assert!(error.contains("`evaluate`") && error.contains("evaluate: false"), "{error}");
        assert!(planned(&format!("{file}evaluate: false\n"), 0, 5).is_ok());
        let early = format!("{file}train: {{ early_stop: {{}} }}\n");
        let error = planned(&early, 5, 0).unwrap_err().to_string();
        assert!(error.contains("`train`") && error.contains("held out"), "{error}");
        let on_validation = format!("{file}evaluate: {{ split: validation }}\n");
        let error = planned(&on_validation, 5, 0).unwrap_err().to_string();
        assert!(error.contains("held out"), "{error}");
    }

    #[test]
    fn every_worker_has_a_sample_and_every_round_a_step() {
        let file = |data: &str, train: &str| {
            format!(
                "name: a\ndata: {{ from: d.npz, {data} }}\nmodel: mnist-mlp\ntrain: {{ {train} }}\n"
            )
        };
        assert!(planned(&file("assign: split", "workers: 10"), 5, 0).is_ok());
        assert_eq!(
            planned(&file("assign: split", "workers: 11"), 5, 0).unwrap_err().to_string(),
            "step `train`: it has 11 workers, but only 10 samples to train on, and each worker needs \
             one of its own; set `workers: 10`, or `assign: copy` in `data`"
        );
        assert!(planned(&file("assign: copy", "workers: 11"), 5, 0).is_ok());
        let rounds = |rounds: u32, assign: &str| {
            let average =
                format!("workers: 5, batch: 1, strategy: {{ average: {{ rounds: {rounds} }} }}");
            planned(&file(&format!("assign: {assign}"), &average), 5, 0)
        };
        assert!(rounds(2, "split").is_ok() && rounds(10, "copy").is_ok());
        assert_eq!(
            rounds(3, "split").unwrap_err().to_string(),
            "step `train`: it has 2 steps, too few for 3 rounds; set `rounds: 2` or less"
        );
    }
}
