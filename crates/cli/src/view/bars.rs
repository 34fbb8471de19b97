//! Live bars on a terminal: one for each running task, finished lines above.

use std::collections::BTreeMap;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use train::{Event, Kind, Progress, bytes, describe, duration};

pub(crate) struct Bars {
    all: MultiProgress,
    tasks: BTreeMap<String, ProgressBar>,
    color: bool,
}

impl Bars {
    pub(crate) fn new(color: bool) -> Self {
        Bars { all: MultiProgress::new(), tasks: BTreeMap::new(), color }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        let task = event.task.as_deref().unwrap_or("");
        match &event.kind {
            Kind::TaskStarted { .. } => self.add(task),
            Kind::Progress(progress) => self.progress(task, progress),
            Kind::Fetching { file, bytes: done, total } => {
                let total = total.map_or(String::new(), |total| format!(" of {}", bytes(total)));
                self.message(task, format!("fetching {file}: {}{total}", bytes(*done)));
            }
            kind => {
                if ends(kind)
                    && let Some(bar) = self.tasks.remove(task)
                {
                    bar.finish_and_clear();
                }
                if let Some(line) = describe(event) {
                    // A terminal that went away must not end the run.
                    let _ = self.all.println(self.paint(kind, line));
                }
            }
        }
    }

    pub(crate) fn close(&mut self) {
        for (_, bar) in std::mem::take(&mut self.tasks) {
            bar.finish_and_clear();
        }
    }

    fn add(&mut self, task: &str) {
        let template = if self.color {
            "{prefix:>10} {spinner} {bar:20.cyan/dim} {wide_msg}"
        } else {
            "{prefix:>10} {spinner} {bar:20} {wide_msg}"
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        let bar = self.all.add(ProgressBar::new(1).with_style(style.progress_chars("━━─")));
        bar.set_prefix(task.to_owned());
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        self.tasks.insert(task.to_owned(), bar);
    }

    fn progress(&mut self, task: &str, p: &Progress) {
        if !self.tasks.contains_key(task) {
            self.add(task);
        }
        self.message(
            task,
            format!(
                "epoch {}/{}  loss {:.4}  accuracy {:.4}  {:.0} samples/s  {} left",
                p.epoch,
                p.epochs,
                p.metrics.loss,
                p.metrics.accuracy,
                p.samples_per_second,
                duration(p.eta_seconds)
            ),
        );
        if let Some(bar) = self.tasks.get(task) {
            bar.set_length(p.steps);
            bar.set_position(p.step);
        }
    }

    fn message(&self, task: &str, text: String) {
        if let Some(bar) = self.tasks.get(task) {
            bar.set_message(text);
        }
    }

    fn paint(&self, kind: &Kind, line: String) -> String {
        let code = match kind {
            Kind::TaskFailed { .. } | Kind::RunFailed { .. } => "31",
            Kind::TaskRestarted { .. } | Kind::RunStopped { .. } => "33",
            Kind::TaskDone { .. } | Kind::RunDone {} => "32",
            _ => return line,
        };
        if self.color { format!("\x1b[{code}m{line}\x1b[0m") } else { line }
    }
}

/// Whether a task's process has ended.
fn ends(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::TaskDone { .. }
            | Kind::TaskFailed { .. }
            | Kind::TaskStopped { .. }
            | Kind::TaskRestarted { .. }
    )
}
