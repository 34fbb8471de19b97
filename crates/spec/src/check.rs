//! Checks that take more than one field, or knowledge beyond a field's type.

use std::collections::BTreeSet;

use crate::data::BUILTIN_DATA;
use crate::error::{Complaint, Path};
use crate::rate;
use crate::resolve::Placed;
use crate::train_form::TrainForm;
use crate::words::{self, LATER};
use crate::{
    Action, Data, Duration, Holdout, Length, LossName, Model, NodeSelector, On, Schedule, Split,
    Train, nearest, serve_check, strategy_check,
};

/// How many steps a run may have. Planning takes time that grows with their square.
pub(crate) const MOST_STEPS: usize = 1000;

/// Training with its length and model settled. The model may have been written elsewhere.
pub(crate) fn complete(form: TrainForm, path: &Path, model: &Path) -> Result<Train, Complaint> {
    if form.epochs.is_some() && form.steps.is_some() {
        let message = "`epochs` and `steps` are both given";
        let hint = format!("keep one; `--set {path}.epochs=null` leaves one out for this run");
        return Err(Complaint::new(path.join(["steps"]), message).with_hint(hint));
    }
    strategy_check::one_sync(form.strategy.as_ref(), path)?;
    match form.model.as_ref().map(Model::thawed) {
        Some(Model::File(file)) => model_file(file, model.join(["file"]))?,
        Some(Model::Fresh(file)) => model_file(file, model.join(["layers_of"]))?,
        Some(_) => {}
        None => {
            return Err(Complaint::new(path.clone(), "`model` is missing")
                .with_hint("such as `model: mnist-cnn`"));
        }
    }
    Train::try_from(form).map_err(|message| Complaint::new(path.clone(), message))
}

fn model_file(file: &str, path: Path) -> Result<(), Complaint> {
    let lower = file.to_lowercase();
    let shown = words::shortened(file);
    if [".safetensors", ".h5", ".hdf5", ".keras"].iter().any(|ending| lower.ends_with(ending)) {
        return Ok(());
    }
    let message = format!("`{shown}`: a model file ends in `.safetensors`, `.h5` or `.keras`");
    Err(Complaint::new(path, message))
}

/// Everything that makes no sense in what the run is given elsewhere.
pub(crate) fn on(on: &On) -> Vec<Complaint> {
    let Some(kubernetes) = &on.kubernetes else { return vec![] };
    let roles = [
        ("driver", &kubernetes.driver),
        ("workers", &kubernetes.workers),
        ("servers", &kubernetes.servers),
        ("serve", &kubernetes.serve),
    ];
    let mut complaints = vec![];
    for (role, pods) in roles {
        for (field, amounts) in [("requests", &pods.requests), ("limits", &pods.limits)] {
            for (name, amount) in amounts.iter().filter(|(_, amount)| !words::is_quantity(amount)) {
                let path = Path::from(["on", "kubernetes", role, field, name]);
                complaints.push(Complaint::new(path, words::not_a_quantity(amount)));
            }
        }
        let alike = match role {
            "driver" => "there is one driver, but a list is given",
            "serve" => "pods that serve are all alike, but a list is given",
            _ => continue,
        };
        if let Some(NodeSelector::Each(_)) = &pods.node_selector {
            let path = Path::from(["on", "kubernetes", role, "node_selector"]);
            let complaint = Complaint::new(path, alike);
            complaints.push(complaint.with_hint("write the labels alone: `{disktype: ssd}`"));
        }
    }
    complaints
}

/// Everything that makes no sense in the steps.
pub(crate) fn steps(steps: &[Placed]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for Placed { step, path } in steps {
        match &step.action {
            Action::Prepare(prepare) => data(&prepare.data, path, &mut complaints),
            Action::Train(train) => {
                training(train, path, &mut complaints);
                let monitor = train.early_stop.map(|stop| stop.monitor);
                if monitor.is_some_and(|monitor| monitor.needs_validation())
                    && nothing_held_out(&step.needs, steps)
                {
                    complaints.push(
                        Complaint::new(
                            path.join(["early_stop", "monitor"]),
                            "it watches validation samples, but none are held out",
                        )
                        .with_hint("add `validation: 0.1` to the data, or watch `loss`"),
                    );
                }
            }
            Action::Evaluate(evaluate) => {
                if evaluate.split == Split::Validation && nothing_held_out(&step.needs, steps) {
                    complaints.push(
                        Complaint::new(
                            path.join(["split"]),
                            "there are no validation samples: none are held out",
                        )
                        .with_hint("add `validation: 0.1` to the data, or evaluate on `test`"),
                    );
                }
            }
            // Seen to below: a page is one of all steps.
            Action::Serve(_) => {}
        }
    }
    complaints.extend(serve_check::check(steps));
    complaints
}

fn data(data: &Data, path: &Path, complaints: &mut Vec<Complaint>) {
    let from = data.from.as_str();
    let mut complain = |field: &str, message: String, hint: Option<String>| {
        let complaint = Complaint::new(path.join([field]), message);
        complaints.push(Complaint { hint, ..complaint });
    };
    let builtin = BUILTIN_DATA.contains(&from);
    if from.starts_with("s3://") {
        complain("from", format!("`{}` is {LATER}", words::shortened(from)), None);
    } else if !builtin && !crate::rule::looks_like_path(from) {
        let (message, hint) = match nearest(from, BUILTIN_DATA) {
            Some(name) => (
                format!("unknown dataset `{}`; did you mean `{name}`?", words::shortened(from)),
                None,
            ),
            None => {
                let known = words::list(BUILTIN_DATA);
                (
                    format!("unknown dataset `{}`", words::shortened(from)),
                    Some(format!(
                        "built in: {known}; a path has a slash: `./{}`",
                        words::shortened(from)
                    )),
                )
            }
        };
        complain("from", message, hint);
    }
    if data.mirror.is_some() && from == "mnist-sample" {
        let message = "`mnist-sample` is part of the program and needs no mirror";
        complain("mirror", message.into(), None);
    } else if data.mirror.is_some() && !builtin {
        let message = "a mirror is another home of a built-in dataset, but `from` is a path";
        complain("mirror", message.into(), Some("give the mirror's path as `from`".into()));
    }
    if let Some(labels) = &data.labels {
        let mut seen = std::collections::BTreeSet::new();
        if let Some(label) = labels.iter().find(|label| !seen.insert(*label)) {
            complain("labels", format!("`{}` names two classes", words::shortened(label)), None);
        }
    }
}

fn training(train: &Train, path: &Path, complaints: &mut Vec<Complaint>) {
    complaints.extend(strategy_check::check(train, path));
    let mut complain = |complaint| complaints.push(complaint);
    // A fixed rate was checked as it was read; one that grows is known here.
    if let Some(rate) = train.learning_rate.map(|rate| rate.of(train.workers))
        && !(rate > 0.0 && rate <= rate::MOST)
    {
        let bound = if rate > 0.0 { "at most 1000000" } else { "more than 0" };
        let message = format!("expected {bound} with {} workers, found `{rate}`", train.workers);
        complain(Complaint::new(path.join(["learning_rate"]), message));
    }
    if let Some(complaint) = loss(train, &path.join(["loss"])) {
        complain(complaint);
    }
    if train.checkpoint.every == Duration::from_secs(0) {
        complain(Complaint::new(
            path.join(["checkpoint", "every"]),
            "expected more than no time at all, found `0s`",
        ));
    }
    if let Some(complaint) = schedule(&train.schedule, train.length, &path.join(["schedule"])) {
        complain(complaint);
    }
}

/// What only triplets have, and networks that only they can train.
fn loss(train: &Train, path: &Path) -> Option<Complaint> {
    let loss = train.loss?;
    let own = [
        ("alpha", loss.alpha.is_some()),
        ("pairs", loss.pairs.is_some()),
        ("negatives", loss.negatives.is_some()),
    ];
    if loss.name == LossName::Triplet {
        return None;
    }
    if let Some((field, _)) = own.into_iter().find(|(_, given)| *given) {
        let message = format!("`{field}` is a field of the loss `triplet`");
        return Some(Complaint::new(path.join([field]), message).with_hint("take it away"));
    }
    let hint = "leave the loss out, or set `loss: triplet`";
    train.model.embeds().then(|| {
        let message = "the network answers with embeddings, and this loss wants classes";
        Complaint::new(path.join(["name"]), message).with_hint(hint)
    })
}

fn schedule(schedule: &Schedule, length: Length, path: &Path) -> Option<Complaint> {
    match (schedule, length) {
        (Schedule::Cosine { .. }, Length::Endless) => {
            let message = "it falls until the last step, but `steps: 0` has no last one";
            let hint = "say how many steps or epochs, or use `exponential`";
            Some(Complaint::new(path.join(["cosine"]), message).with_hint(hint))
        }
        (Schedule::Cosine { warmup_steps, .. }, Length::Steps(steps)) if *warmup_steps >= steps => {
            let message = format!("expected fewer than all {steps} steps, found `{warmup_steps}`");
            Some(Complaint::new(path.join(["cosine", "warmup_steps"]), message))
        }
        (Schedule::Piecewise { boundaries, rates }, _) => {
            if rates.len() != boundaries.len() + 1 {
                let message = format!(
                    "expected one rate more than boundaries, found {} and {}",
                    rates.len(),
                    boundaries.len()
                );
                return Some(Complaint::new(path.join(["piecewise", "rates"]), message));
            }
            let rising = boundaries.windows(2).all(|pair| pair[0] < pair[1]);
            (!rising).then(|| {
                let path = path.join(["piecewise", "boundaries"]);
                Complaint::new(path, "expected steps that rise from one to the next")
            })
        }
        _ => None,
    }
}

/// Whether the data that a step comes to through its needs has no validation samples. Where the
/// needs make no sense, or the data may have some of its own, that is for the plan to say.
fn nothing_held_out(needs: &[String], steps: &[Placed]) -> bool {
    let mut open: Vec<&String> = needs.iter().collect();
    let mut seen = BTreeSet::new();
    let mut holdouts = Vec::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(Placed { step, .. }) = steps.iter().find(|placed| placed.step.id == *id) else {
            continue;
        };
        match &step.action {
            Action::Prepare(prepare) => {
                let builtin = BUILTIN_DATA.contains(&prepare.data.from.as_str());
                holdouts.push(!builtin || prepare.data.validation != Holdout::None);
            }
            _ => open.extend(&step.needs),
        }
    }
    !holdouts.is_empty() && holdouts.iter().all(|may_have_some| !may_have_some)
}
