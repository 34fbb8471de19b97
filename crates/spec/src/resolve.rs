//! From the file as written to what it means: the short form's steps, defaults, and the checks
//! that no single field can make.

use crate::check;
use crate::error::{Complaint, Path};
use crate::file::{EvaluateForm, RunFile, StepForm, Steps};
use crate::{Action, Evaluate, On, Prepare, RunSpec, Step};

/// A step and where in the file it was written.
pub(crate) struct Placed {
    pub(crate) step: Step,
    /// Of a step that prepares, where its data was written.
    pub(crate) path: Path,
}

/// What a file means, or everything that makes no sense in it.
pub(crate) fn resolve(file: RunFile) -> Result<RunSpec, Vec<Complaint>> {
    let (name, seed) = (file.name.clone(), file.seed);
    let on = file.on.clone().unwrap_or_default();
    let steps = if file.steps.is_some() { long(file)? } else { short(file)? };
    let mut complaints = check::steps(&steps);
    complaints.extend(check::on(&on));
    if complaints.is_empty() {
        let steps = steps.into_iter().map(|placed| placed.step).collect();
        Ok(RunSpec { name, seed, steps, on })
    } else {
        Err(complaints)
    }
}

/// `prepare`, `train`, unless it is turned off `evaluate`, and, if it is asked for, `serve`.
fn short(file: RunFile) -> Result<Vec<Placed>, Vec<Complaint>> {
    let mut complaints = Vec::new();
    let mut train = file.train.unwrap_or_default();
    let train_path = Path::from(["train"]);
    let mut model_path = Path::from(["model"]);
    match (&file.model, &train.model) {
        (Some(_), Some(_)) => complaints.push(
            Complaint::new(["train", "model"], "`model` is given twice")
                .with_hint("it also stands beside `train`; keep one"),
        ),
        (None, None) => complaints.push(
            Complaint::new(Path::default(), "`model` is missing")
                .with_hint("such as `model: mnist-cnn`; or write `steps`, the long form"),
        ),
        (Some(_), None) => train.model = file.model,
        (None, Some(_)) => model_path = train_path.join(["model"]),
    }
    if file.data.is_none() {
        complaints.push(
            Complaint::new(Path::default(), "`data` is missing")
                .with_hint("such as `data: mnist-sample`; or write `steps`, the long form"),
        );
    }
    let (Some(data), true) = (file.data, complaints.is_empty()) else {
        return Err(complaints);
    };
    let train = check::complete(train, &train_path, &model_path).map_err(|wrong| vec![wrong])?;
    let shards = train.workers;
    let mut steps = vec![
        placed("prepare", [], Action::Prepare(Prepare { data, shards }), Path::from(["data"])),
        placed("train", ["prepare"], Action::Train(train), train_path),
    ];
    let evaluate = match file.evaluate {
        Some(EvaluateForm::Whether(false)) => None,
        Some(EvaluateForm::How(evaluate)) => Some(evaluate),
        Some(EvaluateForm::Whether(true)) | None => Some(Evaluate::default()),
    };
    if let Some(evaluate) = evaluate {
        let action = Action::Evaluate(evaluate);
        steps.push(placed("evaluate", ["train"], action, Path::from(["evaluate"])));
    }
    if let Some(serve) = file.serve {
        let last = steps.last().map_or("train", |placed| placed.step.id.as_str()).to_owned();
        steps.push(placed("serve", [&*last], Action::Serve(serve), Path::from(["serve"])));
    }
    Ok(steps)
}

fn placed<const N: usize>(id: &str, needs: [&str; N], action: Action, path: Path) -> Placed {
    let step = Step { id: id.into(), needs: needs.map(String::from).to_vec(), action };
    Placed { step, path }
}

/// The steps as they are written.
fn long(file: RunFile) -> Result<Vec<Placed>, Vec<Complaint>> {
    let given = [
        ("data", file.data.is_some(), "into a `prepare` step"),
        ("model", file.model.is_some(), "into a `train` step"),
        ("train", file.train.is_some(), "into a step"),
        ("evaluate", file.evaluate.is_some(), "into a step"),
        ("serve", file.serve.is_some(), "into a step"),
    ];
    let mut complaints: Vec<Complaint> = given
        .iter()
        .filter(|(_, given, _)| *given)
        .map(|(field, _, place)| Complaint {
            path: Path::from([*field]),
            about_key: true,
            message: "belongs to the short form, but this file has `steps`".into(),
            hint: Some(format!("put it {place}, or take `steps` away")),
        })
        .collect();
    let mut steps = Vec::new();
    for (id, form) in file.steps.into_iter().flat_map(|Steps(steps)| steps) {
        match long_step(id, form) {
            Ok(step) => steps.push(step),
            Err(complaint) => complaints.push(complaint),
        }
    }
    if steps.len() > check::MOST_STEPS {
        let message =
            format!("expected at most {} steps, found {}", check::MOST_STEPS, steps.len());
        complaints.push(Complaint::new(["steps"], message));
    }
    if complaints.is_empty() { Ok(steps) } else { Err(complaints) }
}

fn long_step(id: String, form: StepForm) -> Result<Placed, Complaint> {
    let path = Path::from(["steps", &id]);
    let (action, path) = match (form.prepare, form.train, form.evaluate, form.serve) {
        (Some(prepare), None, None, None) => {
            (Action::Prepare(prepare), path.join(["prepare", "data"]))
        }
        (None, Some(train), None, None) => {
            let path = path.join(["train"]);
            let model = path.join(["model"]);
            (Action::Train(check::complete(train, &path, &model)?), path)
        }
        (None, None, Some(evaluate), None) => (Action::Evaluate(evaluate), path.join(["evaluate"])),
        (None, None, None, Some(serve)) => (Action::Serve(serve), path.join(["serve"])),
        (None, None, None, None) => {
            return Err(Complaint::new(path, "the step does nothing")
                .with_hint("give it one of `prepare`, `train`, `evaluate`, `serve`"));
        }
        _ => {
            return Err(Complaint::new(path, "the step does more than one thing")
                .with_hint("make a step of each, and let one need the other"));
        }
    };
    let needs = form.needs;
    let step = Step { id, needs, action };
    Ok(Placed { step, path })
}

impl TryFrom<RunFile> for RunSpec {
    type Error = String;

    fn try_from(file: RunFile) -> Result<Self, String> {
        resolve(file).map_err(|complaints| {
            let complaints: Vec<String> = complaints.iter().map(ToString::to_string).collect();
            complaints.join("; ")
        })
    }
}

impl From<RunSpec> for RunFile {
    fn from(spec: RunSpec) -> Self {
        let steps = spec.steps.into_iter().map(|step| {
            let mut form = StepForm { needs: step.needs, ..StepForm::default() };
            match step.action {
                Action::Prepare(prepare) => form.prepare = Some(prepare),
                Action::Train(train) => form.train = Some(train.into()),
                Action::Evaluate(evaluate) => form.evaluate = Some(evaluate),
                Action::Serve(serve) => form.serve = Some(serve),
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
            serve: None,
            steps: Some(Steps(steps.collect())),
            on: Some(spec.on).filter(|on| *on != On::default()),
        }
    }
}
