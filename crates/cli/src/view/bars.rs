//! Live bars on a terminal: one for each running task and one for each process of a group, finished
//! lines above.

use std::collections::BTreeMap;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use train::{Event, Kind, Progress, bytes, describe, duration, of_all};

use super::workers::Workers;

pub(crate) struct Bars {
    all: MultiProgress,
    tasks: BTreeMap<String, Task>,
    color: bool,
}

/// A running task.
struct Task {
    bar: ProgressBar,
    workers: Workers,
}

impl Bars {
    pub(crate) fn new(color: bool) -> Self {
        Bars { all: MultiProgress::new(), tasks: BTreeMap::new(), color }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        let task = event.task.as_deref().unwrap_or("");
        match &event.kind {
            Kind::TaskStarted { .. } => {
                self.task(task);
            }
            Kind::Progress(progress) => self.progress(task, progress),
            Kind::Fetching { file, bytes: done, total } => {
                let total = total.map_or(String::new(), |total| format!(" of {}", bytes(total)));
                let message = format!("fetching {file}: {}{total}", bytes(*done));
                self.task(task).bar.set_message(message);
            }
            kind => {
                if ends(kind)
                    && let Some(task) = self.tasks.remove(task)
                {
                    task.clear();
                }
                if let Some(line) = describe(event) {
                    // A terminal that went away must not end the run.
                    let _ = self.all.println(self.paint(kind, line));
                }
            }
        }
    }

    pub(crate) fn close(&mut self) {
        std::mem::take(&mut self.tasks).into_values().for_each(Task::clear);
    }

    /// The bar of a task, which runs from now on.
    fn task(&mut self, task: &str) -> &mut Task {
        let Bars { all, tasks, color } = self;
        tasks.entry(task.to_owned()).or_insert_with(|| {
            let template = match color {
                true => "{prefix:>10} {spinner} {bar:20.cyan/dim} {wide_msg}",
                false => "{prefix:>10} {spinner} {bar:20} {wide_msg}",
            };
            let style = ProgressStyle::with_template(template).expect("the template is a constant");
            let bar = all.add(ProgressBar::new(1).with_style(style.progress_chars("━━─")));
            bar.set_prefix(task.to_owned());
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            Task { bar, workers: Workers::default() }
        })
    }

    fn progress(&mut self, task: &str, progress: &Progress) {
        let all = self.all.clone();
        let Task { bar, workers } = self.task(task);
        bar.set_message(message(progress));
        // Where there is no end the bar stays empty, and the spinner tells that work goes on.
        bar.set_length(progress.steps.max(1));
        bar.set_position(if progress.steps == 0 { 0 } else { progress.step });
        workers.show(&all, bar, progress);
    }

    fn paint(&self, kind: &Kind, line: String) -> String {
        let code = match kind {
            Kind::TaskFailed { .. } | Kind::RunFailed { .. } => "31",
            Kind::ProcessLost { .. } | Kind::RunStopped { .. } => "33",
            Kind::TaskDone { .. } | Kind::RunDone {} => "32",
            _ => return line,
        };
        if self.color { format!("\x1b[{code}m{line}\x1b[0m") } else { line }
    }
}

impl Task {
    fn clear(mut self) {
        self.workers.clear();
        self.bar.finish_and_clear();
    }
}

fn message(p: &Progress) -> String {
    let time = match p.steps {
        0 => format!("step {}, until stopped", p.step),
        _ => format!("{} left", duration(p.eta_seconds)),
    };
    format!(
        "epoch {}  loss {:.4}  accuracy {:.4}  {:.0} samples/s  {time}",
        of_all(p.epoch, p.epochs),
        p.metrics.loss,
        p.metrics.accuracy,
        p.samples_per_second
    )
}

/// Whether a task's processes have ended.
fn ends(kind: &Kind) -> bool {
    matches!(kind, Kind::TaskDone { .. } | Kind::TaskFailed { .. } | Kind::TaskStopped { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_without_an_end_promises_none() {
        let mut progress = Progress {
            epoch: 3,
            epochs: 0,
            step: 250,
            steps: 0,
            metrics: train::Metrics { loss: 0.25, accuracy: 0.9 },
            samples_per_second: 1000.4,
            eta_seconds: 0.0,
            workers: vec![],
        };
        let start = "loss 0.2500  accuracy 0.9000  1000 samples/s";
        assert_eq!(message(&progress), format!("epoch 3  {start}  step 250, until stopped"));
        (progress.epochs, progress.steps, progress.eta_seconds) = (4, 400, 61.0);
        assert_eq!(message(&progress), format!("epoch 3/4  {start}  1m 01s left"));
    }
}
