//! How good a model turned out to be. Its file is written before it is measured, so that what a run found out
//! later is in the run's report; the hash of the weights tells that the report is about this very model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Metrics;
use train::Report;

/// A report holds a curve and some numbers; anything larger is not one.
const MOST_BYTES: u64 = 64 << 20;
/// How far above a model's folder its report lies, at most: `models/train` in the run's folder.
const LEVELS: usize = 2;

/// The report of the run that a model is of, if it lies where runs have it, or beside the model.
pub(super) fn report_of(model: &Path) -> Option<PathBuf> {
    let folder = if model.is_dir() { model } else { model.parent()? };
    let mut above = folder.ancestors().take(LEVELS + 1).map(|folder| folder.join("report.json"));
    above.find(|report| report.is_file())
}

/// What a report says of the model with these weights, by split.
pub(super) fn results(report: &Path, weights_sha256: &str) -> BTreeMap<String, Metrics> {
    let small = report.metadata().is_ok_and(|about| about.len() <= MOST_BYTES);
    let text = small.then(|| std::fs::read(report).ok()).flatten();
    // What cannot be read is another version's, and then nothing is known.
    let read = text.and_then(|text| serde_json::from_slice::<Report>(&text).ok());
    let Some(Report { newest, models, .. }) = read else { return BTreeMap::new() };
    let is_this = |it: &&train::ModelReport| it.weights_sha256.as_deref() == Some(weights_sha256);
    let Some(found) = std::iter::once(&newest).chain(models.values()).find(is_this) else {
        return BTreeMap::new();
    };
    let train::Results { train, validation, test } = &found.metrics;
    let splits = [("train", train), ("validation", validation), ("test", test)];
    let known = splits.into_iter().filter_map(|(split, metrics)| {
        let train::Metrics { loss, accuracy } = (*metrics)?;
        Some((split.to_owned(), Metrics { loss, accuracy }))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_found_from_the_model_and_believed_for_its_weights_alone() {
        let run = tempfile::tempdir().expect("a temporary folder can be made");
        let folder = run.path().join("models/train");
        std::fs::create_dir_all(&folder).expect("it can be made");
        let model = folder.join("model.safetensors");
        std::fs::write(&model, "").expect("it can be written");
        assert_eq!(report_of(&model), None);

        let test = serde_json::json!({ "loss": 0.25, "accuracy": 0.9 });
        let report = serde_json::json!({
            "run": "a-1", "state": "done", "seconds": 1.0, "peak_rss_bytes": 0, "workers": 1,
            "model": "models/train/model.safetensors", "weights_sha256": "abc", "parameters": 1,
            "metrics": { "train": null, "validation": null, "test": test },
            "samples_per_second": null, "epochs": [], "curve": [],
        });
        let path = run.path().join("report.json");
        std::fs::write(&path, report.to_string()).expect("it can be written");
        assert_eq!(report_of(&model).as_ref(), Some(&path));
        assert_eq!(report_of(&folder).as_ref(), Some(&path));
        let found = results(&path, "abc");
        assert_eq!(found.keys().collect::<Vec<_>>(), ["test"]);
        assert_eq!(found["test"], Metrics { loss: 0.25, accuracy: 0.9 });
        assert!(results(&path, "abd").is_empty());
        std::fs::write(&path, "{}").expect("it can be written");
        assert!(results(&path, "abc").is_empty());
    }
}
