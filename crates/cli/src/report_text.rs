//! A report for people, with a small loss curve and what to type next.

use train::{Metrics, ModelReport, Report, Results, State, bytes, duration};

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

fn next(report: &Report, run: &str) -> String {
    let mut lines = vec![format!("trainyard report {run} --json")];
    match (report.state, &report.newest.model) {
        (State::Done, Some(_)) => {
            lines.insert(0, format!("trainyard inspect {run}"));
            lines.insert(1, format!("trainyard predict {run} INPUT.npz"));
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

    #[test]
    fn a_curve_goes_down_as_the_loss_does() {
        let points: Vec<(u64, f64)> = (0..80).map(|i| (i, 2.0 / (1 + i) as f64)).collect();
        let curve = curve(&points).unwrap();
        assert!(curve.starts_with("2.0000 ▇▃▂") && curve.ends_with("▁ 0.0250"), "{curve}");
        assert_eq!(curve.chars().filter(|c| BLOCKS.contains(c)).count(), CURVE_WIDTH);
        assert_eq!(super::curve(&[]), None);
    }
}
