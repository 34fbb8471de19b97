//! Events as lines for people: what the plain terminal view prints and what a task's log holds.

use crate::event::{Epoch, Event, Kind, Metrics, Progress, Published, WorkerProgress};

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
        Kind::TaskStarted { process, pid, place, serves, adopted, .. } => {
            let name = place.clone().unwrap_or_else(|| format!("pid {pid}"));
            match (adopted, serves) {
                (true, _) => format!("goes on with process {process} ({name})"),
                (false, true) => format!("process {process} started as a server ({name})"),
                (false, false) => format!("process {process} started ({name})"),
            }
        }
        Kind::Delayed { process, reason } => format!("process {process} cannot start: {reason}"),
        Kind::Fetching { file, bytes, total } => fetching(file, *bytes, *total),
        Kind::Prepared { train, validation, test, skipped, .. } => {
            let ready =
                format!("{train} samples to train, {validation} to validate, {test} to test");
            match skipped.files {
                0 => ready,
                files => format!("{ready}; {files} skipped: {}", skipped.first.join("; ")),
            }
        }
        Kind::Resumed { step, .. } => format!("goes on after step {step}"),
        Kind::Progress(progress) => progress_line(progress),
        Kind::Epoch(epoch) => epoch_line(epoch),
        Kind::Checkpoint { .. } | Kind::Unknown => return None,
        Kind::CheckpointDamaged { step, problem } => {
            format!("the checkpoint of step {step} cannot be used: {problem}")
        }
        Kind::EarlyStop { reason, .. } => reason.clone(),
        Kind::Published(published) => published_line(published),
        Kind::Evaluated { split, metrics, samples, faces, .. } => {
            let faces = faces.map_or_else(String::new, |faces| format!("; {faces}"));
            format!("{split}: {} on {samples} samples{faces}", pair(metrics))
        }
        Kind::Formed { generation: 1, .. } => return None,
        Kind::Formed { processes, step, saved, reason, .. } => {
            formed(processes.len(), (*step, *saved), reason)
        }
        Kind::Awaiting { address } => {
            format!("waits at {address} for workers: `trainyard worker --join` the run's join.json")
        }
        Kind::ProcessLost { reason, .. } => reason.clone(),
        Kind::ProcessLeft { process } => format!("process {process} left, and others go on"),
        Kind::TaskStopped { saved: true, .. } => "stopped; everything so far is saved".into(),
        Kind::TaskStopped { saved: false, .. } => {
            "stopped at once; the last checkpoint is kept".into()
        }
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

/// `process 2 is gone; 2 processes go on from step 40`.
fn formed(count: usize, (step, saved): (Option<u64>, Option<u64>), reason: &str) -> String {
    let (who, goes, begins) = match count {
        1 => ("1 process".to_owned(), "goes", "begins"),
        _ => (format!("{count} processes"), "go", "begin"),
    };
    let does = match (step, saved) {
        (Some(step), _) => format!("{goes} on from step {step}"),
        (None, Some(_)) => format!("{goes} on from the newest checkpoint"),
        // Whoever finds a checkpoint all the same says so next.
        (None, None) => begins.to_owned(),
    };
    format!("{reason}; {who} {does}")
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
        "epoch {}, step {}: {}, {:.0} samples/s{}{}",
        of_all(p.epoch, p.epochs),
        of_all(p.step, p.steps),
        pair(&p.metrics),
        p.samples_per_second,
        if p.steps == 0 { String::new() } else { format!(", {} left", duration(p.eta_seconds)) },
        processes(&p.workers).map_or(String::new(), |processes| format!("; {processes}"))
    )
}

/// `3 processes at steps 118 to 121`; nothing where there is only one.
pub fn processes(workers: &[WorkerProgress]) -> Option<String> {
    let steps = || workers.iter().map(|worker| worker.step);
    let (least, most) = (steps().min()?, steps().max()?);
    match workers.len() {
        1 => None,
        count if least == most => Some(format!("{count} processes at step {most}")),
        count => Some(format!("{count} processes at steps {least} to {most}")),
    }
}

/// `3/40`, or `3` where there is no end.
pub fn of_all(count: u64, all: u64) -> String {
    if all == 0 { count.to_string() } else { format!("{count}/{all}") }
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

    #[test]
    fn a_group_begins_where_there_is_nothing_to_go_on_from() {
        let line = |count: usize, step, saved| {
            let (processes, ranks) = ((0..count as u32).collect(), vec![vec![]; count]);
            let (generation, source, reason) = (2, 0, "process 2 is gone".to_owned());
            let kind = Kind::Formed { generation, processes, ranks, step, saved, source, reason };
            describe_kind(&kind).unwrap_or_default()
        };
        assert_eq!(line(2, None, None), "process 2 is gone; 2 processes begin");
        assert_eq!(line(1, None, None), "process 2 is gone; 1 process begins");
        assert_eq!(line(2, Some(40), None), "process 2 is gone; 2 processes go on from step 40");
        let saved = "process 2 is gone; 1 process goes on from the newest checkpoint";
        assert_eq!(line(1, None, Some(40)), saved);
    }

    #[test]
    fn progress_tells_where_processes_are_and_makes_up_no_end() {
        let worker = |(rank, &step): (usize, &u64)| WorkerProgress {
            process: rank as u32 + 1,
            ranks: vec![rank],
            step,
        };
        let progress = |steps: u64, at: &[u64]| {
            describe_kind(&Kind::Progress(Progress {
                epoch: 1,
                epochs: steps.min(2),
                step: 120,
                steps,
                metrics: Metrics { loss: 0.5, accuracy: 0.75 },
                samples_per_second: 1234.0,
                eta_seconds: if steps == 0 { 0.0 } else { 3.0 },
                workers: at.iter().enumerate().map(worker).collect(),
            }))
        };
        let line = |rest: &str| Some(rest.to_owned());
        assert_eq!(
            progress(400, &[120, 118, 121]),
            line(
                "epoch 1/2, step 120/400: loss 0.5000, accuracy 0.7500, 1234 samples/s, 3.0 s left; \
                 3 processes at steps 118 to 121"
            )
        );
        assert_eq!(
            progress(0, &[120]),
            line("epoch 1, step 120: loss 0.5000, accuracy 0.7500, 1234 samples/s")
        );
        let same = progress(0, &[7; 64]).unwrap_or_default();
        assert!(same.ends_with("samples/s; 64 processes at step 7"), "{same}");
    }
}
