//! A report for people, with a small loss curve and what to type next.

use train::{Faces, Metrics, ModelReport, Recognition, Report, Results, State, bytes, duration};

use crate::output::{table, thousands};

/// How many columns the curve has.
const CURVE_WIDTH: usize = 40;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The report as text. `run` is what the user calls it.
pub(crate) fn closing(report: &Report, run: &str) -> String {
    let why = report.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let mut text = format!(
        "\n{} is {} after {}{why}\n\n",
        report.run,
        report.state.as_str(),
        duration(report.seconds)
    );
    if report.models.is_empty() {
        text.push_str(&table(&rows(&report.newest)));
    }
    for (task, model) in &report.models {
        text.push_str(&format!("{task}\n{}", table(&rows(model))));
    }
    if report.workers > 1 {
        text.push_str(&format!("\n{}", table(&together(report))));
    }
    let memory = bytes(report.peak_rss_bytes);
    text.push_str(&format!("\nNo process held more than {memory} of memory.\n"));
    text.push_str(&next(report, run));
    text
}

fn rows(report: &ModelReport) -> Vec<Vec<String>> {
    let mut rows = vec![];
    let mut row = |name: &str, value: String| rows.push(vec![format!("  {name}"), value]);
    let Results { test, validation, train } = &report.metrics;
    for (name, metrics) in [("test", test), ("validation", validation), ("train", train)] {
        if let Some(Metrics { loss, accuracy }) = metrics {
            row(name, format!("accuracy {accuracy:.4}, loss {loss:.4}"));
        }
    }
    for (split, faces) in &report.faces {
        recognized(faces)
            .into_iter()
            .for_each(|(way, found)| row(&format!("{split} {way}"), found));
    }
    if let Some(curve) = curve(&report.curve) {
        row("loss", curve);
    }
    if let Some(speed) = report.samples_per_second {
        row("speed", format!("{} samples/s", thousands(speed as u64)));
    }
    if let (Some(model), Some(parameters)) = (&report.model, report.parameters) {
        row("model", format!("{} ({} parameters)", short(model), thousands(parameters)));
    }
    if let Some(sha256) = &report.weights_sha256 {
        row("weights", sha256.clone());
    }
    rows
}

/// How well faces are recognized, in each way: by the model, before training, by pixels.
pub(crate) fn recognized(faces: &Faces) -> [(&'static str, String); 3] {
    let found = |way: &Recognition| {
        let top_1 = way.top_1.map_or_else(String::new, |top_1| format!("top-1 {top_1:.4}, "));
        format!(
            "{top_1}verification {:.4} at {} ({:.4} at {:.3})",
            way.verification, faces.threshold, way.best_verification, way.best_threshold
        )
    };
    let Faces { trained, untrained, pixels, .. } = faces;
    [("faces", found(trained)), ("untrained", found(untrained)), ("pixels", found(pixels))]
}

/// How several workers fared: one line under its heads. `train::Report` says how the speed-up is found.
fn together(report: &Report) -> Vec<Vec<String>> {
    let time = report.newest.train_seconds.unwrap_or(report.seconds);
    let through = match report.link.as_str() {
        "" | "none" => String::new(),
        link => format!(" ({link})"),
    };
    let columns = [
        ("  STRATEGY", format!("  {}", report.strategy)),
        ("WORKERS", report.workers.to_string()),
        ("TRAIN TIME", duration(time)),
        ("SPEED-UP", report.speed_up.map_or("-".into(), |times| format!("{times:.2} ×"))),
        ("EXCHANGED", format!("{}{through}", bytes(report.bytes_sent))),
        ("WAITING", percent(report.waiting_share)),
        ("PROCESSES LOST", report.faults_survived.to_string()),
    ];
    let (heads, values) = columns.into_iter().map(|(head, value)| (head.to_owned(), value)).unzip();
    vec![heads, values]
}

/// `0.073` as `7.3 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn next(report: &Report, run: &str) -> String {
    let mut lines = vec![format!("trainyard report {run} --json")];
    match (report.state, &report.newest.model) {
        (State::Done, Some(_)) => {
            lines.insert(0, format!("trainyard inspect {run}"));
            lines.insert(1, format!("trainyard predict {run} INPUT.npz"));
            lines.insert(2, format!("trainyard serve {run}"));
        }
        (State::Failed, _) => lines.insert(0, format!("trainyard logs {run}")),
        _ => {}
    }
    format!("\nNext:\n  {}\n", lines.join("\n  "))
}

/// `0.8123 ▇▅▃▂▁▁ 0.0456`, the height on a scale from nothing to the largest loss.
fn curve(points: &[(u64, f64)]) -> Option<String> {
    let (first, last) = (points.first()?.1, points.last()?.1);
    let columns = points.len().min(CURVE_WIDTH);
    let largest = points.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max);
    let block = |column: usize| {
        let range = column * points.len() / columns..(column + 1) * points.len() / columns;
        let mean =
            points[range.clone()].iter().map(|point| point.1).sum::<f64>() / range.len() as f64;
        BLOCKS[((mean / largest * 8.0) as usize).min(7)]
    };
    let line: String = (0..columns).map(block).collect();
    Some(format!("{first:.4} {line} {last:.4}"))
}

/// A path as one would type it here.
fn short(path: &str) -> &str {
    let here = std::env::current_dir().ok();
    here.and_then(|here| {
        let here = format!("{}/", here.display());
        path.strip_prefix(here.as_str())
    })
    .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(workers: usize) -> Report {
        let newest = train::ModelReport { train_seconds: Some(12.3), ..Default::default() };
        Report {
            run: "mnist-1".into(),
            state: State::Done,
            reason: None,
            newest,
            seconds: 14.0,
            peak_rss_bytes: 3 << 20,
            workers,
            strategy: "average".into(),
            bytes_sent: 5 << 20,
            link: "shm".into(),
            waiting_share: 0.073,
            speed_up: Some(2.781),
            faults_survived: 1,
            models: Default::default(),
        }
    }

    #[test]
    fn several_workers_get_a_table_and_one_does_not() {
        let text = closing(&report(3), "mnist");
        let expected = "
  STRATEGY  WORKERS  TRAIN TIME  SPEED-UP  EXCHANGED      WAITING  PROCESSES LOST
  average   3        12 s        2.78 ×    5.0 MiB (shm)  7.3 %    1

No process held more than 3.0 MiB of memory.
";
        assert!(text.contains(expected), "{text}");
        assert!(!closing(&report(1), "mnist").contains("SPEED-UP"));
    }

    #[test]
    fn a_curve_goes_down_as_the_loss_does() {
        let points: Vec<(u64, f64)> = (0..80).map(|i| (i, 2.0 / (1 + i) as f64)).collect();
        let curve = curve(&points).unwrap();
        assert!(curve.starts_with("2.0000 ▇▃▂") && curve.ends_with("▁ 0.0250"), "{curve}");
        assert_eq!(curve.chars().filter(|c| BLOCKS.contains(c)).count(), CURVE_WIDTH);
        assert_eq!(super::curve(&[]), None);
    }
}
