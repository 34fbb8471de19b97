//! What makes no sense about serving: it is checked here, where the line is known.

use crate::error::Complaint;
use crate::nearest;
use crate::resolve::Placed;
use crate::words;
use crate::{Action, Serve};

/// A wait that is longer than a request may take in all.
const LONGEST_WAIT: crate::Duration = crate::Duration::from_secs(10);

/// Everything that makes no sense in the steps that serve.
pub(crate) fn check(steps: &[Placed]) -> Vec<Complaint> {
    let mut complaints = vec![];
    let mut first: Option<&str> = None;
    for placed in steps {
        let Action::Serve(serve) = &placed.step.action else { continue };
        if let Some(first) = first {
            let message = format!("`{first}` serves already, and a run ends with one page");
            let hint = "keep one of them; `trainyard serve RUN` shows another model";
            complaints.push(Complaint::new(placed.path.clone(), message).with_hint(hint));
        }
        first = first.or(Some(&placed.step.id));
        complaints.extend(one(serve, placed, steps));
    }
    complaints
}

fn one(serve: &Serve, placed: &Placed, steps: &[Placed]) -> Vec<Complaint> {
    let mut complaints = vec![];
    let mut complain = |field: &str, message: String, hint: String| {
        complaints.push(Complaint::new(placed.path.join([field]), message).with_hint(hint));
    };
    let trains = |it: &&Placed| matches!(it.step.action, Action::Train(_));
    let known = steps.iter().filter(trains).map(|it| it.step.id.as_str());
    if let Some(model) = &serve.model
        && !known.clone().any(|id| id == model)
    {
        let hint = match nearest(model, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the steps that train are {}", words::list(known)),
        };
        complain("model", format!("`{}` is no step that trains", words::shortened(model)), hint);
    }
    if !serve.is_private() && serve.token_file.is_none() {
        let message =
            format!("`{}` lets others ask, and these need a token", words::shortened(&serve.host));
        let hint = "add `token_file: token`, a file that is made where there is none";
        complain("host", message, hint.into());
    }
    if serve.wait.get() > LONGEST_WAIT.get() {
        let message = format!("expected at most {LONGEST_WAIT}, found `{}`", serve.wait);
        complain("wait", message, "requests gather under load anyway; `5ms` is much".into());
    }
    complaints
}
