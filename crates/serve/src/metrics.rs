//! Counts for Prometheus: requests, answers, batches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Bounds of the buckets, in seconds.
const SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Bounds of the buckets, in samples.
const SAMPLES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// What a server counts. All counts only grow.
pub(crate) struct Metrics {
    /// By route and status. Routes are the server's own, so that there are few.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    seconds: Histogram<12>,
    batches: Histogram<7>,
    swaps: AtomicU64,
}

/// How many values are not above each bound, and their sum in millionths.
struct Histogram<const N: usize> {
    bounds: [f64; N],
    counts: [AtomicU64; N],
    all: AtomicU64,
    millionths: AtomicU64,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        Metrics {
            requests: Mutex::default(),
            seconds: Histogram::new(SECONDS),
            batches: Histogram::new(SAMPLES),
            swaps: AtomicU64::new(0),
        }
    }

    /// A request was answered.
    pub(crate) fn answered(&self, route: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route, status)).or_default() += 1;
        drop(requests);
        self.seconds.add(took.as_secs_f64());
    }

    /// A batch is computed.
    pub(crate) fn computed(&self, samples: usize) {
        self.batches.add(samples as f64);
    }

    /// Another model is served.
    pub(crate) fn swapped(&self) {
        self.swaps.fetch_add(1, Ordering::Relaxed);
    }

    /// All counts as Prometheus reads them.
    pub(crate) fn text(&self, waiting: usize, model: &str, weights: &str) -> String {
        let mut text = String::new();
        text.push_str("# TYPE trainyard_requests_total counter\n");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((route, status), count) in requests {
            let labels = format!("route=\"{route}\",code=\"{status}\"");
            line(&mut text, &format!("trainyard_requests_total{{{labels}}}"), count as f64);
        }
        self.seconds.text("trainyard_request_seconds", &mut text);
        self.batches.text("trainyard_batch_samples", &mut text);
        text.push_str("# TYPE trainyard_queue_length gauge\n");
        line(&mut text, "trainyard_queue_length", waiting as f64);
        text.push_str("# TYPE trainyard_model_swaps_total counter\n");
        let swaps = self.swaps.load(Ordering::Relaxed);
        line(&mut text, "trainyard_model_swaps_total", swaps as f64);
        text.push_str("# TYPE trainyard_model_info gauge\n");
        let labels = format!("name=\"{}\",weights_sha256=\"{weights}\"", escaped(model));
        line(&mut text, &format!("trainyard_model_info{{{labels}}}"), 1.0);
        text
    }
}

impl<const N: usize> Histogram<N> {
    fn new(bounds: [f64; N]) -> Self {
        let zero = || AtomicU64::new(0);
        let counts = std::array::from_fn(|_| zero());
        Histogram { bounds, counts, all: zero(), millionths: zero() }
    }

    fn add(&self, value: f64) {
        if let Some(bucket) = self.bounds.iter().position(|bound| value <= *bound) {
            self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        }
        self.all.fetch_add(1, Ordering::Relaxed);
        self.millionths.fetch_add((value * 1e6) as u64, Ordering::Relaxed);
    }

    fn text(&self, name: &str, text: &mut String) {
        writeln!(text, "# TYPE {name} histogram").expect("a string takes all");
        let mut below = 0;
        for (bound, count) in self.bounds.iter().zip(&self.counts) {
            below += count.load(Ordering::Relaxed);
            line(text, &format!("{name}_bucket{{le=\"{bound}\"}}"), below as f64);
        }
        // Counted by others meanwhile: the whole is never below a part.
        let all = self.all.load(Ordering::Relaxed).max(below);
        line(text, &format!("{name}_bucket{{le=\"+Inf\"}}"), all as f64);
        line(text, &format!("{name}_sum"), self.millionths.load(Ordering::Relaxed) as f64 / 1e6);
        line(text, &format!("{name}_count"), all as f64);
    }
}

fn line(text: &mut String, name: &str, value: f64) {
    writeln!(text, "{name} {value}").expect("a string takes all that is written to it");
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told() {
        let metrics = Metrics::new();
        metrics.answered("/v1/predict", 200, Duration::from_micros(700));
        metrics.answered("/v1/predict", 200, Duration::from_secs(9));
        metrics.computed(3);
        let text = metrics.text(7, "a\"b", "00ff");
        for line in [
            "trainyard_requests_total{route=\"/v1/predict\",code=\"200\"} 2",
            "trainyard_request_seconds_bucket{le=\"0.0005\"} 0",
            "trainyard_request_seconds_bucket{le=\"0.001\"} 1",
            "trainyard_request_seconds_bucket{le=\"5\"} 1",
            "trainyard_request_seconds_bucket{le=\"+Inf\"} 2",
            "trainyard_request_seconds_sum 9.0007",
            "trainyard_batch_samples_bucket{le=\"4\"} 1",
            "trainyard_queue_length 7",
            "trainyard_model_info{name=\"a\\\"b\",weights_sha256=\"00ff\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
