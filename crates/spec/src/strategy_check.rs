//! Whether a strategy fits what else is said about training.

use crate::error::{Complaint, Path};
use crate::strategy_form::{AverageForm, StrategyForm};
use crate::{Average, Combine, Length, Mode, Model, ParameterServer, Strategy, Sync, Train, words};

/// What two fields of a strategy that exclude each other are told apart by.
pub(crate) fn one_sync(form: Option<&StrategyForm>, path: &Path) -> Result<(), Complaint> {
    let Some(StrategyForm::Average(AverageForm { sync_every: Some(_), rounds: Some(_), .. })) =
        form
    else {
        return Ok(());
    };
    let path = path.join(["strategy", "average"]);
    let hint = format!("keep one; `--set {path}.sync_every=null` leaves one out for this run");
    let message = "`sync_every` and `rounds` are both given";
    Err(Complaint::new(path.join(["rounds"]), message).with_hint(hint))
}

/// Everything about the strategy that makes no sense.
pub(crate) fn check(train: &Train, path: &Path) -> Vec<Complaint> {
    let path = path.join(["strategy"]);
    match &train.strategy {
        Strategy::Single if train.workers > 1 => {
            let message = format!("`single` is one worker, but `workers` is {}", train.workers);
            let hint = "`all_reduce` and `average` are for several; `workers: 1` is for `single`";
            vec![Complaint::new(path, message).with_hint(hint)]
        }
        Strategy::Single | Strategy::AllReduce => vec![],
        Strategy::Average(average) => check_average(average, train, &path.join(["average"])),
        Strategy::ParameterServer(servers) => {
            let path = path.join(["parameter_server", "replicas_to_aggregate"]);
            check_replicas(servers, train.workers, path).into_iter().collect()
        }
    }
}

fn check_average(average: &Average, train: &Train, path: &Path) -> Vec<Complaint> {
    let mut complaints = vec![];
    let mut complain = |field: &str, message: String, hint: &str| {
        complaints.push(Complaint::new(path.join([field]), message).with_hint(hint));
    };
    let apart = |why: &str| format!("workers that vote never meet, so {why}");
    let sync_field = if matches!(average.sync, Sync::Steps(_)) { "sync_every" } else { "rounds" };
    match (average.combine, average.sync, train.length) {
        (Combine::Vote, Sync::Steps(_) | Sync::Rounds(2..), _) => complain(
            sync_field,
            apart("there is nothing to do in between"),
            "take it away, or set `combine: mean`",
        ),
        (Combine::Mean, Sync::Rounds(_), Length::Endless) => complain(
            "rounds",
            "rounds divide all steps among them, but `steps: 0` has no end".into(),
            "say after how many steps workers meet: `sync_every: 50`",
        ),
        (Combine::Mean, Sync::Rounds(rounds), Length::Steps(steps))
            if u64::from(rounds) > steps =>
        {
            complain(
                "rounds",
                format!("expected at most one for each of the {steps} steps, found `{rounds}`"),
                "`sync_every: 1` averages after every step",
            );
        }
        _ => {}
    }
    if average.combine == Combine::Vote && train.embeds() {
        complain(
            "combine",
            "models vote for classes, and this one answers with embeddings".into(),
            "set `combine: mean`",
        );
    }
    if average.outer.is_some() && average.combine == Combine::Vote {
        complain(
            "outer",
            apart("there are no rounds to have momentum over"),
            "take it away, or set `combine: mean`",
        );
    } else if average.outer.is_some() && !average.shared_init {
        complain(
            "outer",
            "what a round changed is only known where all began from the same weights".into(),
            "take it away, or set `shared_init: true`",
        );
    }
    if let (false, Model::File(file)) = (average.shared_init, train.model.thawed()) {
        complain(
            "shared_init",
            format!("all workers begin from the weights in `{}`", words::shortened(file)),
            "take it away, or name a network instead of a model file",
        );
    }
    complaints
}

fn check_replicas(servers: &ParameterServer, workers: usize, path: Path) -> Option<Complaint> {
    let replicas = servers.replicas_to_aggregate?;
    match servers.mode {
        Mode::Async => Some(
            Complaint::new(path, "with `mode: async` every gradient is an update of its own")
                .with_hint("take it away, or set `mode: sync`"),
        ),
        Mode::Sync if replicas > workers => {
            let message = format!("expected at most the {workers} `workers`, found `{replicas}`");
            Some(Complaint::new(path, message))
        }
        Mode::Sync => None,
    }
}
