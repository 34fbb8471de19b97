//! What came of a strategy.

use serde::Serialize;
use train::{Report, State, bytes, duration};

use super::candidate::Candidate;
use crate::output::{self, thousands};
use crate::report_text::percent;

/// A line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    strategy: String,
    workers: usize,
    pub(super) state: State,
    /// Why it failed.
    reason: Option<String>,
    run: Option<String>,
    /// On the samples never used in training.
    test_accuracy: Option<f64>,
    train_seconds: Option<f64>,
    samples_per_second: Option<f64>,
    bytes_sent: u64,
    link: String,
    waiting_share: f64,
    faults_survived: u64,
    weights_sha256: Option<String>,
}

impl Row {
    pub(super) fn of(candidate: &Candidate, report: &Report) -> Self {
        let newest = &report.newest;
        Row {
            strategy: candidate.label.clone(),
            workers: candidate.train.workers,
            state: State::Done,
            reason: None,
            run: Some(report.run.clone()),
            test_accuracy: newest.metrics.test.map(|metrics| metrics.accuracy),
            train_seconds: newest.train_seconds,
            samples_per_second: newest.samples_per_second,
            bytes_sent: report.bytes_sent,
            link: report.link.clone(),
            waiting_share: report.waiting_share,
            faults_survived: report.faults_survived,
            weights_sha256: newest.weights_sha256.clone(),
        }
    }

    pub(super) fn failed(candidate: &Candidate, reason: String) -> Self {
        Row {
            strategy: candidate.label.clone(),
            workers: candidate.train.workers,
            state: State::Failed,
            reason: Some(reason),
            run: None,
            test_accuracy: None,
            train_seconds: None,
            samples_per_second: None,
            bytes_sent: 0,
            link: String::new(),
            waiting_share: 0.0,
            faults_survived: 0,
            weights_sha256: None,
        }
    }

    /// `average: test accuracy 0.9555 after 1.4 s`.
    pub(super) fn line(&self) -> String {
        let Row { strategy, .. } = self;
        match (&self.reason, self.train_seconds) {
            (Some(reason), _) => format!("{strategy}: failed: {reason}"),
            (None, Some(seconds)) => {
                let accuracy = self.test_accuracy.map_or(String::new(), |accuracy| {
                    format!("test accuracy {accuracy:.4} after ")
                });
                format!("{strategy}: {accuracy}{}", duration(seconds))
            }
            (None, None) => format!("{strategy}: done"),
        }
    }

    fn cells(&self) -> Vec<String> {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let done = self.state == State::Done;
        let accuracy = or_dash(self.test_accuracy.map(|accuracy| format!("{accuracy:.4}")));
        vec![
            self.strategy.clone(),
            self.workers.to_string(),
            if done { accuracy } else { "failed".into() },
            or_dash(self.train_seconds.map(duration)),
            or_dash(self.samples_per_second.map(|speed| thousands(speed as u64))),
            or_dash(done.then(|| bytes(self.bytes_sent))),
            or_dash(done.then(|| percent(self.waiting_share))),
            or_dash(self.weights_sha256.as_ref().map(|hash| hash.chars().take(12).collect())),
        ]
    }
}

/// All of them side by side.
pub(super) fn table(rows: &[Row]) -> String {
    let heads = [
        "STRATEGY",
        "WORKERS",
        "TEST ACCURACY",
        "TRAIN TIME",
        "SAMPLES/S",
        "EXCHANGED",
        "WAITING",
        "WEIGHTS",
    ];
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(Row::cells));
    output::table(&lines)
}
