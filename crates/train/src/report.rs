//! The report of a run: what came out of it, in one JSON document.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::event::{Epoch, Metrics};
use crate::standing::{ModelStanding, Standing, State};

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
    /// Samples trained on a second.
    pub samples_per_second: Option<f64>,
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
    pub fn of(run: &str, folder: &Path, standing: &Standing, workers: usize) -> Self {
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
            workers,
            models: if models.len() > 1 { models } else { BTreeMap::new() },
        }
    }
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
            samples_per_second: published.map(|model| model.samples_per_second),
            epochs: standing.epochs.clone(),
            curve: standing.curve.clone(),
        }
    }
}
