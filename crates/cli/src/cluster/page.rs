//! The page of a run that is begun on a cluster: what it takes, and whether it can be shown there.

use anyhow::anyhow;
use exec::kubernetes::{MOST_WITHOUT_VOLUME, Page, Request, Volume};
use plan::{Facts, Plan, Role};
use spec::{Action, Combine, RunSpec, Serve, Strategy};

use crate::failure::{Failure, OrUsage};

/// Leaves out of a file what it says of serving on this machine: pods listen to all, have a token of their own, and
/// not the user's pictures.
pub(super) fn leave_out_what_is_of_this_machine(spec: &mut RunSpec) {
    for step in &mut spec.steps {
        if let Action::Serve(serve) = &mut step.action {
            let host = Serve::default().host;
            *serve = Serve { host, token_file: None, examples: None, ..serve.clone() };
        }
    }
}

/// The page that a run ends with. Files that it reads are those of the spec, as pods find them.
pub(super) fn of(spec: &RunSpec, plan: &Plan, facts: &Facts) -> Option<Page> {
    let mut serving = plan.serving.clone()?;
    serving.serve = spec.steps.iter().find_map(|step| match &step.action {
        Action::Serve(serve) => Some(serve.clone()),
        _ => None,
    })?;
    let trains = plan.tasks.iter().find(|task| task.id == serving.model);
    let members = trains.map_or(1, |task| match &task.role {
        Role::Worker { train, .. } => match &train.strategy {
            Strategy::Average(average) if average.combine == Combine::Vote => train.workers,
            _ => 1,
        },
        _ => 1,
    });
    let weights = facts.weights.get(&serving.model).copied().unwrap_or(0);
    let weights = weights.saturating_mul(4).saturating_mul(members as u64);
    let token = serve::Token::fresh().reveal().to_owned();
    Some(Page { serving, token, weights })
}

/// Refuses a page that could not be shown without a volume: better before the run than after.
pub(super) fn check(request: &Request, volume: &Volume) -> Result<(), Failure> {
    let (Some(page), Volume::None) = (&request.page, volume) else { return Ok(()) };
    let problem = if page.weights > MOST_WITHOUT_VOLUME as u64 {
        format!("the model has {}, and can have 1 MiB", train::bytes(page.weights))
    } else if page.serving.serve.gallery.is_some() {
        "its gallery is in the driver's pod, which goes away".to_owned()
    } else {
        return Ok(());
    };
    Err(anyhow!(
        "the page could not be shown without a volume: {problem}; set `on.kubernetes.storage: pvc`, or leave the \
         page out with `--no-serve`"
    ))
    .or_usage()
}
