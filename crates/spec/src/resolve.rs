//! From the file as written to what it means: defaults, the short form's steps, and the checks
//! that no single field can make.

use crate::file::{EvaluateForm, RunFile, StepForm, Steps};
use crate::{Action, Evaluate, Prepare, RunSpec, Step};

/// Something a file says that makes no sense, at a path in it.
#[derive(Debug, PartialEq)]
pub(crate) struct Complaint {
    /// Where, as keys and numbers from the top.
    pub(crate) path: Vec<String>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl TryFrom<RunFile> for RunSpec {
    type Error = String;

    fn try_from(file: RunFile) -> Result<Self, String> {
        let steps = match file.steps {
            Some(Steps(steps)) => steps,
            None => short(file.data, file.model, file.train, file.evaluate)?,
        };
        let steps = steps.into_iter().map(step).collect::<Result<_, _>>()?;
        Ok(RunSpec {
            name: file.name,
            seed: file.seed,
            steps,
        })
    }
}

fn short(
    data: Option<crate::Data>,
    model: Option<crate::Model>,
    train: Option<crate::train::TrainForm>,
    evaluate: Option<EvaluateForm>,
) -> Result<Vec<(String, StepForm)>, String> {
    let mut train = train.ok_or("`train` is missing")?;
    train.model = train.model.or(model);
    let data = data.ok_or("`data` is missing")?;
    let empty = || StepForm {
        needs: vec![],
        prepare: None,
        train: None,
        evaluate: None,
    };
    let mut steps = vec![
        (
            "prepare".to_string(),
            StepForm {
                prepare: Some(Prepare { data, shards: 1 }),
                ..empty()
            },
        ),
        (
            "train".to_string(),
            StepForm {
                needs: vec!["prepare".into()],
                train: Some(train),
                ..empty()
            },
        ),
    ];
    let evaluate = match evaluate {
        Some(EvaluateForm::Whether(false)) => None,
        Some(EvaluateForm::How(evaluate)) => Some(evaluate),
        _ => Some(Evaluate::default()),
    };
    if let Some(evaluate) = evaluate {
        steps.push((
            "evaluate".to_string(),
            StepForm {
                needs: vec!["train".into()],
                evaluate: Some(evaluate),
                ..empty()
            },
        ));
    }
    Ok(steps)
}

fn step((id, form): (String, StepForm)) -> Result<Step, String> {
    let action = match (form.prepare, form.train, form.evaluate) {
        (Some(prepare), None, None) => Action::Prepare(prepare),
        (None, Some(train), None) => Action::Train(train.try_into()?),
        (None, None, Some(evaluate)) => Action::Evaluate(evaluate),
        _ => return Err(format!("step `{id}` needs one of prepare, train, evaluate")),
    };
    Ok(Step {
        id,
        needs: form.needs,
        action,
    })
}

impl From<RunSpec> for RunFile {
    fn from(spec: RunSpec) -> Self {
        let steps = spec.steps.into_iter().map(|step| {
            let mut form = StepForm {
                needs: step.needs,
                prepare: None,
                train: None,
                evaluate: None,
            };
            match step.action {
                Action::Prepare(prepare) => form.prepare = Some(prepare),
                Action::Train(train) => form.train = Some(train.into()),
                Action::Evaluate(evaluate) => form.evaluate = Some(evaluate),
            }
            (step.id, form)
        });
        RunFile {
            name: spec.name,
            seed: spec.seed,
            data: None,
            model: None,
            train: None,
            evaluate: None,
            steps: Some(Steps(steps.collect())),
        }
    }
}
