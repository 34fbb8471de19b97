//! What each step becomes, and where it finds what it works on.

use std::collections::BTreeMap;

use spec::{Action, Step};

use crate::{PlanError, Role};

/// The role of a step. The steps are known to have no cycle and no unknown needs.
pub(crate) fn role(steps: &[Step], step: &Step) -> Result<Role, PlanError> {
    let wrong = |problem: String| PlanError::WrongNeeds {
        step: step.id.clone(),
        problem,
    };
    match &step.action {
        Action::Prepare(prepare) => Ok(Role::Prepare(prepare.clone())),
        Action::Train(train) => {
            let data = the_one(steps, step, "prepare", "trains on").map_err(wrong)?;
            if let Action::Prepare(prepare) = &data.action
                && prepare.shards != train.workers
            {
                return Err(wrong(format!(
                    "it has {} worker(s), but `{}` makes {} shards; set `shards: {}` there",
                    train.workers, data.id, prepare.shards, train.workers
                )));
            }
            Ok(Role::Worker {
                train: train.clone(),
                data: data.id.clone(),
            })
        }
        Action::Evaluate(evaluate) => {
            let model = the_one(steps, step, "train", "evaluates").map_err(wrong)?;
            // Data of its own where it names some, otherwise what the model was trained on.
            let direct = step.needs.iter().any(|need| kind(steps, need) == "prepare");
            let asker = if direct { step } else { model };
            let data = the_one(steps, asker, "prepare", "evaluates on").map_err(wrong)?;
            Ok(Role::Evaluate {
                evaluate: *evaluate,
                model: model.id.clone(),
                data: data.id.clone(),
            })
        }
    }
}

/// The single step of a kind among a step's needs and, through other kinds, their needs.
fn the_one<'a>(
    steps: &'a [Step],
    step: &Step,
    wanted: &str,
    verb: &str,
) -> Result<&'a Step, String> {
    let by_id: BTreeMap<&str, &Step> = steps.iter().map(|s| (s.id.as_str(), s)).collect();
    let mut found: Vec<&Step> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut open: Vec<&str> = step.needs.iter().rev().map(String::as_str).collect();
    while let Some(id) = open.pop() {
        let Some(need) = by_id.get(id).copied().filter(|_| seen.insert(id)) else {
            continue;
        };
        if need.action.name() == wanted {
            found.push(need);
        } else {
            open.extend(need.needs.iter().rev().map(String::as_str));
        }
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let candidates = steps.iter().filter(|s| s.action.name() == wanted);
            let names: Vec<String> = candidates.map(|s| format!("`{}`", s.id)).collect();
            Err(match names.as_slice() {
                [] => format!("it needs a `{wanted}` step, and there is none"),
                [one] => format!(
                    "it needs no `{wanted}` step; add `needs: [{}]`",
                    one.trim_matches('`')
                ),
                _ => format!(
                    "it needs no `{wanted}` step; name one of {} in `needs`",
                    names.join(", ")
                ),
            })
        }
        many => {
            let names: Vec<String> = many.iter().map(|s| format!("`{}`", s.id)).collect();
            Err(format!(
                "it {verb} one `{wanted}` step, but needs {}; keep one",
                names.join(" and ")
            ))
        }
    }
}

fn kind(steps: &[Step], id: &str) -> &'static str {
    let step = steps.iter().find(|step| step.id == id);
    step.map_or("", |step| step.action.name())
}
