//! The order of steps: each after what it needs, as in the file where that leaves a choice.

use std::collections::BTreeMap;

use spec::Step;

use crate::PlanError;

/// The steps' numbers in the order in which they run.
///
/// Again and again, the first step of the file whose needs are all met comes next. When none is
/// left whose needs are met, the rest wait for each other.
pub(crate) fn order(steps: &[Step]) -> Result<Vec<usize>, PlanError> {
    let needs = resolve(steps)?;
    let mut placed = vec![false; steps.len()];
    let mut order = Vec::with_capacity(steps.len());
    while order.len() < steps.len() {
        let ready =
            (0..steps.len()).find(|&i| !placed[i] && needs[i].iter().all(|&need| placed[need]));
        let Some(next) = ready else {
            let cycle = cycle(steps, &needs, &placed);
            return Err(PlanError::Cycle { cycle });
        };
        placed[next] = true;
        order.push(next);
    }
    Ok(order)
}

/// Needs as numbers, after checking that names are unique and known.
fn resolve(steps: &[Step]) -> Result<Vec<Vec<usize>>, PlanError> {
    let mut numbers = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        if numbers.insert(step.id.as_str(), number).is_some() {
            return Err(PlanError::Duplicate { step: step.id.clone() });
        }
    }
    steps
        .iter()
        .map(|step| {
            let mut found: Vec<usize> = Vec::with_capacity(step.needs.len());
            for need in &step.needs {
                match numbers.get(need.as_str()) {
                    Some(number) if found.contains(number) => {
                        return Err(PlanError::RepeatedNeed {
                            step: step.id.clone(),
                            need: need.clone(),
                        });
                    }
                    Some(&number) => found.push(number),
                    None => {
                        return Err(PlanError::UnknownNeed {
                            step: step.id.clone(),
                            need: need.clone(),
                            suggestion: suggestion(need, steps),
                        });
                    }
                }
            }
            Ok(found)
        })
        .collect()
}

/// Follows unmet needs from the first step that is left until a step comes again.
fn cycle(steps: &[Step], needs: &[Vec<usize>], placed: &[bool]) -> String {
    let mut trail = Vec::new();
    let mut at = placed.iter().position(|&done| !done);
    while let Some(step) = at {
        if let Some(start) = trail.iter().position(|&seen| seen == step) {
            trail.drain(..start);
            trail.push(step);
            break;
        }
        trail.push(step);
        at = needs[step].iter().copied().find(|&need| !placed[need]);
    }
    let names: Vec<&str> = trail.iter().map(|&i| steps[i].id.as_str()).collect();
    names.join(" → ")
}

fn suggestion(need: &str, steps: &[Step]) -> String {
    let names = steps.iter().map(|step| step.id.as_str());
    match spec::nearest(need, names.clone()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; its steps are {}", names.collect::<Vec<_>>().join(", ")),
    }
}
