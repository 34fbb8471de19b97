//! What each step becomes, and where it finds what it works on.

use std::collections::BTreeSet;

use spec::{Action, Assign, Prepare, Serve, Step, Train};

use crate::explain::counted;
use crate::{PlanError, Role, Serving};

/// The role of a step that is a task. The steps are known to have no cycle and no unknown needs.
pub(crate) fn role(steps: &[Step], step: &Step) -> Result<Role, PlanError> {
    find(steps, step).map_err(|problem| wrong(step, problem))
}

/// What a step serves.
pub(crate) fn serving(steps: &[Step], step: &Step, serve: &Serve) -> Result<Serving, PlanError> {
    let model = match &serve.model {
        // The file was checked to have a step of this name that trains.
        Some(model) => model.clone(),
        None => {
            let found = reached(steps, step, "train");
            if let [_, _, ..] = found.as_slice() {
                let problem = format!(
                    "it serves one model, but needs {}; say which with `model`",
                    names(&found, " and ")
                );
                return Err(wrong(step, problem));
            }
            only(steps, "train", found).map_err(|problem| wrong(step, problem))?.id.clone()
        }
    };
    let (id, needs) = (step.id.clone(), step.needs.clone());
    Ok(Serving { id, needs, serve: serve.clone(), model })
}

/// Refuses a step that waits for something without an end.
pub(crate) fn check_needs(steps: &[Step], step: &Step) -> Result<(), PlanError> {
    let mut needs = steps.iter().filter(|other| step.needs.contains(&other.id));
    match needs.find(|need| is(need, "serve")) {
        None => Ok(()),
        Some(need) => {
            let id = &need.id;
            let problem =
                format!("it needs `{id}`, which serves when all else is done; take that need away");
            Err(wrong(step, problem))
        }
    }
}

fn wrong(step: &Step, problem: String) -> PlanError {
    PlanError::WrongNeeds { step: step.id.clone(), problem }
}

fn find(steps: &[Step], step: &Step) -> Result<Role, String> {
    match &step.action {
        Action::Prepare(prepare) => Ok(Role::Prepare(prepare.clone())),
        Action::Train(train) => {
            let data = only(steps, "prepare", reached(steps, step, "prepare"))?;
            if let Action::Prepare(prepare) = &data.action {
                one_shard_each(train, prepare, &data.id)?;
            }
            Ok(Role::Worker { train: train.clone(), data: data.id.clone() })
        }
        Action::Evaluate(evaluate) => {
            let model = only(steps, "train", reached(steps, step, "train"))?;
            // Data of its own where it names some, otherwise what the model was trained on.
            let needs = steps.iter().filter(|other| step.needs.contains(&other.id));
            let mut data: Vec<&Step> = needs.filter(|need| is(need, "prepare")).collect();
            if data.is_empty() {
                data = reached(steps, model, "prepare");
            }
            Ok(Role::Evaluate {
                evaluate: *evaluate,
                model: model.id.clone(),
                data: only(steps, "prepare", data)?.id.clone(),
            })
        }
        Action::Serve(_) => Err("it serves, and is no task".into()),
    }
}

/// The steps of a kind among a step's needs and, through steps of other kinds, their needs.
fn reached<'a>(steps: &'a [Step], step: &'a Step, kind: &str) -> Vec<&'a Step> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = step.needs.iter().rev().map(String::as_str).collect();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match steps.iter().find(|other| other.id == id) {
            Some(need) if is(need, kind) => found.push(need),
            Some(need) => open.extend(need.needs.iter().rev().map(String::as_str)),
            None => {}
        }
    }
    found
}

/// The single step that was found, or why there is not one.
fn only<'a>(steps: &[Step], kind: &str, found: Vec<&'a Step>) -> Result<&'a Step, String> {
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let all: Vec<&Step> = steps.iter().filter(|step| is(step, kind)).collect();
            Err(match all.as_slice() {
                [] => format!("it needs a `{kind}` step, and there is none"),
                [one] => format!("it needs no `{kind}` step; add `needs: [{}]`", one.id),
                many => format!(
                    "it needs no `{kind}` step; name one of {} in `needs`",
                    names(many, ", ")
                ),
            })
        }
        many => Err(format!(
            "it can use one `{kind}` step, but needs {}; keep one",
            names(many, " and ")
        )),
    }
}

fn one_shard_each(train: &Train, prepare: &Prepare, data: &str) -> Result<(), String> {
    if prepare.shards == train.workers {
        return Ok(());
    }
    let (workers, shards) = (train.workers, prepare.shards as u64);
    let makes = match prepare.data.assign {
        Assign::Split => format!("makes {}", counted(shards, "shard")),
        Assign::Copy => format!("is for {}", counted(shards, "worker")),
    };
    let has = counted(workers as u64, "worker");
    Err(format!("it has {has}, but `{data}` {makes}; set `shards: {workers}` there"))
}

fn is(step: &Step, kind: &str) -> bool {
    step.action.name() == kind
}

fn names(steps: &[&Step], between: &str) -> String {
    let names: Vec<String> = steps.iter().map(|step| format!("`{}`", step.id)).collect();
    names.join(between)
}
