//! The lines below a task's bar: how each process of its group stands.
//!
//! A few processes get a bar each. Many would fill the terminal, so that those get one line together,
//! which names whoever is behind.

use std::collections::BTreeMap;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use train::{Progress, WorkerProgress, of_all, processes};

use crate::output;

/// How many processes have a line each.
const FEW: usize = 8;

/// The lines of one group.
#[derive(Default)]
pub(crate) struct Workers {
    each: BTreeMap<u32, ProgressBar>,
    all: Option<ProgressBar>,
}

impl Workers {
    /// Shows how a group stands, below `bar`. A process that works alone has no line of its own.
    pub(crate) fn show(&mut self, all: &MultiProgress, bar: &ProgressBar, progress: &Progress) {
        let workers = &progress.workers;
        let few = (2..=FEW).contains(&workers.len());
        self.each.retain(|process, bar| {
            let stays = few && workers.iter().any(|worker| worker.process == *process);
            if !stays {
                bar.finish_and_clear();
            }
            stays
        });
        let mut above = bar.clone();
        for worker in workers.iter().filter(|_| few) {
            let line = self.each.entry(worker.process).or_insert_with(|| add(all, &above, true));
            line.set_prefix(output::ranks(&worker.ranks));
            line.set_length(progress.steps.max(1));
            line.set_position(if progress.steps == 0 { 0 } else { worker.step });
            line.set_message(format!("step {}", of_all(worker.step, progress.steps)));
            above = line.clone();
        }
        if workers.len() > FEW {
            let line = self.all.get_or_insert_with(|| add(all, bar, false));
            line.set_message(together(workers));
        } else if let Some(line) = self.all.take() {
            line.finish_and_clear();
        }
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) {
        for line in std::mem::take(&mut self.each).into_values().chain(self.all.take()) {
            line.finish_and_clear();
        }
    }
}

fn add(all: &MultiProgress, above: &ProgressBar, has_bar: bool) -> ProgressBar {
    let template = match has_bar {
        true => "{prefix:>10}   {bar:20} {wide_msg}",
        false => "             {wide_msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    all.insert_after(above, ProgressBar::new(1).with_style(style.progress_chars("━━─")))
}

/// `64 processes at steps 118 to 121, process 12 (ranks 24-25) last`.
fn together(workers: &[WorkerProgress]) -> String {
    let all = processes(workers).unwrap_or_default();
    let furthest = workers.iter().map(|worker| worker.step).max();
    match workers.iter().min_by_key(|worker| worker.step) {
        Some(last) if Some(last.step) < furthest => {
            format!("{all}, process {} ({}) last", last.process, output::ranks(&last.ranks))
        }
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_processes_the_last_is_named() {
        let worker = |process: u32| WorkerProgress {
            process,
            ranks: vec![2 * process as usize, 2 * process as usize + 1],
            step: if process == 12 { 118 } else { 121 },
        };
        let mut workers: Vec<_> = (0..64).map(worker).collect();
        let text = "64 processes at steps 118 to 121, process 12 (ranks 24-25) last";
        assert_eq!(together(&workers), text);
        workers[12].step = 121;
        assert_eq!(together(&workers), "64 processes at step 121");
    }

    #[test]
    fn processes_come_and_go() {
        let target = indicatif::ProgressDrawTarget::hidden();
        let (all, mut workers) = (MultiProgress::with_draw_target(target), Workers::default());
        let bar = all.add(ProgressBar::new(1));
        let mut show = |processes: std::ops::Range<u32>, steps: u64| {
            let worker = |process| WorkerProgress { process, ranks: vec![0], step: 5 };
            let progress = Progress {
                epoch: 1,
                epochs: 1,
                step: 5,
                steps,
                metrics: train::Metrics { loss: 0.0, accuracy: 0.0 },
                samples_per_second: 0.0,
                eta_seconds: 0.0,
                workers: processes.map(worker).collect(),
            };
            workers.show(&all, &bar, &progress);
            (workers.each.keys().copied().collect::<Vec<_>>(), workers.all.is_some())
        };
        assert_eq!(show(1..2, 9), (vec![], false));
        assert_eq!(show(1..4, 9), (vec![1, 2, 3], false));
        assert_eq!(show(2..5, 0), (vec![2, 3, 4], false));
        assert_eq!(show(0..64, 9), (vec![], true));
        assert_eq!(show(1..1, 9), (vec![], false));
    }
}
