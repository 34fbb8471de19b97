//! Whether the data has the samples that a task will want: better said before hours of training
//! than after.

use spec::Split;

use crate::{DataFacts, Facts, PlanError, Role};

/// Refuses a role whose data, as far as it is known, has nothing in a split it uses.
pub(crate) fn check(step: &str, role: &Role, facts: &Facts) -> Result<(), PlanError> {
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
}
