//! The report of a run: what came out of it, in one JSON document.

use std::collections::BTreeMap;
use std::path::Path;

use plan::{Plan, Role};
use serde::{Deserialize, Serialize};

use crate::event::{Epoch, Metrics};
use crate::faces::Faces;
use crate::standing::{ModelStanding, Standing, State, TaskStanding};

/// What came out of a run. `report.json` holds it, and `trainyard report --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// `mnist-1`.
    pub run: String,
    /// Whether it is done.
    pub state: State,
    /// Why it failed or stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The model; of several, the one published last.
    #[serde(flatten)]
    pub newest: ModelReport,
    /// How long drivers were at work.
    pub seconds: f64,
    /// The most memory any process of the run held.
    pub peak_rss_bytes: u64,
    /// How many logical workers trained.
    pub workers: usize,
    /// How they worked together.
    #[serde(default)]
    pub strategy: String,
    /// What processes sent to each other.
    #[serde(default)]
    pub bytes_sent: u64,
    /// What they sent it through: `none`, `shm` or `tcp`; empty where it is not known.
    #[serde(default)]
    pub link: String,
    /// The share of their time that processes of a group waited for each other.
    #[serde(default)]
    pub waiting_share: f64,
    /// How many times as fast as one worker all of them trained; none for one worker.
    #[serde(default)]
    pub speed_up: Option<f64>,
    /// How many processes died or hung while the run went on.
    #[serde(default)]
    pub faults_survived: u64,
    /// Where a run trains several models: each, by the task that trained it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelReport>,
}

/// What came out of training one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// Its file.
    pub model: Option<String>,
    /// SHA-256 over its weights.
    pub weights_sha256: Option<String>,
    /// How many numbers the weights are.
    pub parameters: Option<u64>,
    /// The results of the epoch whose weights the model has, and of the evaluation.
    pub metrics: Results,
    /// How well it recognizes faces, by the split it was measured on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faces: BTreeMap<String, Faces>,
    /// Samples trained on a second.
    pub samples_per_second: Option<f64>,
    /// How long training took.
    #[serde(default)]
    pub train_seconds: Option<f64>,
    /// Each epoch's results.
    pub epochs: Vec<Epoch>,
    /// The loss along the way: pairs of step and loss.
    pub curve: Vec<(u64, f64)>,
}

/// Metrics by split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Over that epoch's batches, as they were trained on.
    pub train: Option<Metrics>,
    /// After that epoch, on the samples held out.
    pub validation: Option<Metrics>,
    /// Of the evaluation, on the samples never used in training.
    pub test: Option<Metrics>,
}

impl Report {
    /// The report of a run as it stands. `folder` is the run directory.
    pub fn of(run: &str, folder: &Path, standing: &Standing, plan: &Plan) -> Self {
        let report = |(id, model): (&String, &_)| (id.clone(), ModelReport::of(folder, model));
        let models: BTreeMap<_, _> = standing.models.iter().map(report).collect();
        let newest = standing.newest_model.as_ref().and_then(|id| models.get(id));
        Report {
            run: run.to_owned(),
            state: standing.state,
            reason: standing.reason.clone(),
            newest: newest.or(models.values().next()).cloned().unwrap_or_default(),
            seconds: standing.seconds(),
            peak_rss_bytes: standing.tasks.values().map(|t| t.peak_rss_bytes).max().unwrap_or(0),
            workers: plan.workers(),
            strategy: strategy(plan).to_owned(),
            bytes_sent: standing.tasks.values().map(|task| task.bytes_sent).sum(),
            link: newest_task(standing).map_or_else(String::new, |task| task.link.clone()),
            waiting_share: standing.tasks.values().map(|t| t.waiting_share).fold(0.0, f64::max),
            speed_up: speed_up(standing, plan.workers()),
            faults_survived: standing.tasks.values().map(|task| task.faults).sum(),
            models: if models.len() > 1 { models } else { BTreeMap::new() },
        }
    }
}

/// The task that published a model last.
fn newest_task(standing: &Standing) -> Option<&TaskStanding> {
    standing.tasks.get(standing.newest_model.as_ref()?)
}

/// How many times as fast as one worker all of them trained, from what the run itself measured:
///
///   samples that all train on in a second / samples that one trains on in a second of computing
///
/// One worker alone would do nothing but compute, on cores that nobody else uses. So a second of
/// computing is one of a processor's time, not of a clock's, and what several lose by waiting, by
/// exchanging numbers and by sharing cores counts against them. What they lose by sharing caches and
/// memory does not, for that cannot be told; it could seem as if each brought more than itself.
/// Several ranks in one process compute in turn, and count as one.
fn speed_up(standing: &Standing, workers: usize) -> Option<f64> {
    let published = standing.models.get(standing.newest_model.as_ref()?)?.published.as_ref()?;
    let one = newest_task(standing)?.computing_speed;
    (workers > 1 && one > 0.0).then(|| (published.samples_per_second / one).min(workers as f64))
}

/// The strategy of the last task that trains.
fn strategy(plan: &Plan) -> &'static str {
    let of = |role: &Role| match role {
        Role::Worker { train, .. } => Some(train.strategy.name()),
        _ => None,
    };
    plan.tasks.iter().rev().find_map(|task| of(&task.role)).unwrap_or("none")
}

impl ModelReport {
    fn of(folder: &Path, standing: &ModelStanding) -> Self {
        let published = standing.published.as_ref();
        let of_model = |epoch: &&Epoch| published.is_some_and(|model| model.epoch == epoch.epoch);
        let epoch = standing.epochs.iter().find(of_model).or(standing.epochs.last());
        let measured = |split: &str| standing.evaluated.get(split).copied();
        ModelReport {
            model: published.map(|model| folder.join(&model.path).display().to_string()),
            weights_sha256: published.map(|model| model.weights_sha256.clone()),
            parameters: published.map(|model| model.parameters),
            metrics: Results {
                train: measured("train").or(epoch.map(|epoch| epoch.train)),
                validation: measured("validation").or(epoch.and_then(|epoch| epoch.validation)),
                test: measured("test"),
            },
            faces: standing.faces.clone(),
            samples_per_second: published.map(|model| model.samples_per_second),
            train_seconds: published.map(|model| model.seconds),
            epochs: standing.epochs.clone(),
            curve: standing.curve.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Kind, Published};

    /// Where a run stands whose workers together train on 1900 samples a second.
    fn trained(computing_speed: f64) -> Standing {
        let published = Published {
            path: "models/train/model.safetensors".into(),
            weights_sha256: String::new(),
            parameters: 1,
            epoch: 1,
            samples_per_second: 1900.0,
            seconds: 10.0,
        };
        let done = Kind::TaskDone {
            seconds: 11.0,
            peak_rss_bytes: 0,
            bytes_sent: 64,
            waiting_share: 0.05,
            computing_speed,
            link: "shm".into(),
        };
        let event = |kind| Event { v: 1, seq: 0, ms: 0, task: Some("train".into()), kind };
        Standing::of(&[Kind::Published(published), done].map(event))
    }

    fn report(standing: &Standing, workers: usize) -> Report {
        let file = "name: a\ndata: mnist-sample\nmodel: mnist-mlp\n";
        let sets = [format!("train.workers={workers}")];
        let spec = spec::parse(file, "a.yaml", &sets).expect("the file is right");
        let plan = plan::plan(&spec, &plan::Facts::default()).expect("it can be planned");
        Report::of("a-1", Path::new("runs/a-1"), standing, &plan)
    }

    #[test]
    fn speed_up_is_what_all_do_over_what_one_computes() {
        let two = report(&trained(1000.0), 2);
        assert_eq!((two.speed_up, two.link.as_str()), (Some(1.9), "shm"));
        assert_eq!((two.bytes_sent, two.newest.train_seconds), (64, Some(10.0)));
        let text = serde_json::to_value(&two).expect("a report is plain data");
        assert_eq!((&text["speed_up"], &text["strategy"]), (&1.9.into(), &"all_reduce".into()));
    }

    #[test]
    fn one_worker_has_no_speed_up_and_neither_has_a_run_that_did_not_measure() {
        assert_eq!(report(&trained(1000.0), 1).speed_up, None);
        assert_eq!(report(&trained(0.0), 2).speed_up, None);
        assert_eq!(report(&trained(10.0), 2).speed_up, Some(2.0), "no more than there are");
        assert_eq!(report(&Standing::default(), 2).speed_up, None);
        let text = serde_json::to_value(report(&trained(1.0), 1)).expect("a report is plain data");
        assert!(text["speed_up"].is_null() && text.get("speed_up").is_some());
    }
}
