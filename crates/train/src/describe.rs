//! Events as lines for people: what the plain terminal view prints and what a task's log holds.

use crate::event::{Epoch, Event, Kind, Metrics, Progress, Published};

/// The event as one line without time stamp. `None` for what only machines want to know.
pub fn describe(event: &Event) -> Option<String> {
    let line = describe_kind(&event.kind)?;
    Some(match &event.task {
        Some(task) => format!("{task}: {line}"),
        None => line,
    })
}

/// The same without naming the task, for the task's own log.
pub fn describe_kind(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::RunStarted { run, resumed: false, .. } => format!("run {run} started"),
        Kind::RunStarted { run, resumed: true, .. } => format!("run {run} goes on"),
        Kind::TaskStarted { process: 0, .. } => "started".into(),
        Kind::TaskStarted { process, pid } => {
            format!("started again (process {process}, pid {pid})")
        }
        Kind::Fetching { file, bytes, total } => fetching(file, *bytes, *total),
        Kind::Prepared { train, validation, test, .. } => {
            format!("{train} samples to train, {validation} to validate, {test} to test")
        }
        Kind::Resumed { step } => format!("goes on after step {step}"),
        Kind::Progress(progress) => progress_line(progress),
        Kind::Epoch(epoch) => epoch_line(epoch),
        Kind::Checkpoint { .. } | Kind::Unknown => return None,
        Kind::CheckpointDamaged { step, problem } => {
            format!("the checkpoint of step {step} cannot be used: {problem}")
        }
        Kind::EarlyStop { reason, .. } => reason.clone(),
        Kind::Published(published) => published_line(published),
        Kind::Evaluated { split, metrics, samples, .. } => {
            format!("{split}: {} on {samples} samples", pair(metrics))
        }
        Kind::TaskRestarted { reason } => format!("{reason}; starting it again"),
        Kind::TaskStopped { saved: true } => "stopped; everything so far is saved".into(),
        Kind::TaskStopped { saved: false } => "stopped at once; the last checkpoint is kept".into(),
        Kind::TaskDone { seconds, .. } => format!("done in {}", duration(*seconds)),
        Kind::TaskFailed { reason } => format!("failed: {reason}"),
        Kind::RunStopping {} => {
            "stopping; everything so far is being saved (again: at once)".into()
        }
        Kind::RunStopped { reason } => format!("run stopped: {reason}"),
        // The task that failed has just said why.
        Kind::RunFailed { .. } => "run failed".into(),
        Kind::RunDone {} => "run done".into(),
    })
}

/// `1m 20s`, `3.2 s`, `2h 05m`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match whole {
        0..10 => format!("{seconds:.1} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// `12.3 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

fn pair(metrics: &Metrics) -> String {
    format!("loss {:.4}, accuracy {:.4}", metrics.loss, metrics.accuracy)
}

fn fetching(file: &str, done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("fetching {file}: {} of {}", bytes(done), bytes(total)),
        None => format!("fetching {file}: {}", bytes(done)),
    }
}

fn progress_line(p: &Progress) -> String {
    format!(
        "epoch {}/{}, step {}/{}: {}, {:.0} samples/s, {} left",
        p.epoch,
        p.epochs,
        p.step,
        p.steps,
        pair(&p.metrics),
        p.samples_per_second,
        duration(p.eta_seconds)
    )
}

fn epoch_line(epoch: &Epoch) -> String {
    let validation =
        epoch.validation.map_or(String::new(), |m| format!("; validation {}", pair(&m)));
    format!("epoch {} ended: {}{validation}", epoch.epoch, pair(&epoch.train))
}

fn published_line(published: &Published) -> String {
    format!(
        "model {} published, {} parameters, {:.0} samples/s, weights {}",
        published.path,
        published.parameters,
        published.samples_per_second,
        &published.weights_sha256[..12.min(published.weights_sha256.len())]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_as_people_write_them() {
        assert_eq!([3.21, 12.4, 80.0, 7500.0].map(duration), ["3.2 s", "12 s", "1m 20s", "2h 05m"]);
        assert_eq!([512, 1 << 20, 3 << 29].map(bytes), ["512 B", "1.0 MiB", "1.5 GiB"]);
    }
}
