//! Where a run stands: its events, folded. The driver reads from it what is left to do; `status`,
//! `report` and `ls` read from it what to say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Epoch, Event, Kind, Metrics, Progress, Published};
use crate::faces::Faces;

/// The state of a run or a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not begun.
    #[default]
    Waiting,
    /// Under way.
    Running,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Left in order before the end; it can go on.
    Stopped,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Stopped => "stopped",
        }
    }
}

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The run's state, as far as its driver wrote it.
    pub state: State,
    /// Why it failed or stopped.
    pub reason: Option<String>,
    /// The tasks that have been heard of.
    pub tasks: BTreeMap<String, TaskStanding>,
    /// What has come of each task that trains a model.
    pub models: BTreeMap<String, ModelStanding>,
    /// The task that published a model last.
    pub newest_model: Option<String>,
    /// The number that the next process gets.
    pub processes: u32,
    /// Milliseconds in which a driver was at work, all drivers together.
    pub active_ms: u64,
    /// When the last event was written.
    last_ms: u64,
}

/// Where a task stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskStanding {
    /// Its state.
    pub state: State,
    /// Why it failed.
    pub reason: Option<String>,
    /// The processes that were started for it and, as far as is known, live.
    pub living: BTreeMap<u32, Living>,
    /// The newest group of its processes.
    pub generation: u64,
    /// The newest step of which there is a checkpoint.
    pub saved: Option<u64>,
    /// How many processes it lost and went on without.
    pub faults: u64,
    /// What its processes sent to each other, over all the times that it was taken up.
    pub bytes_sent: u64,
    /// The share of their time that its processes waited for each other.
    pub waiting_share: f64,
    /// Samples that one of them would train on in a second if it did nothing but compute, with its
    /// cores to itself; 0 where it is not known.
    pub computing_speed: f64,
    /// What they exchanged numbers through; empty where it is not known.
    pub link: String,
    /// The ranks that each process of the newest group hosts.
    pub hosts: BTreeMap<u32, Vec<usize>>,
    /// The latest progress.
    pub progress: Option<Progress>,
    /// The most memory a process of it held.
    pub peak_rss_bytes: u64,
}

/// A process that was started and has not been heard to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Living {
    /// Its process id.
    pub pid: u32,
    /// When it started, as the system counts.
    pub ticks: Option<u64>,
    /// Where it was started, if not on the driver's machine.
    pub place: Option<String>,
    /// What it waits for, where it cannot start.
    pub delayed: Option<String>,
    /// Whether it is a server of parameters.
    pub serves: bool,
}

/// What has come of training a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelStanding {
    /// Every epoch's result. An epoch computed again after a resume replaces the first.
    pub epochs: Vec<Epoch>,
    /// Loss by step over all of training.
    pub curve: Vec<(u64, f64)>,
    /// The published model.
    pub published: Option<Published>,
    /// Results of evaluations by split.
    pub evaluated: BTreeMap<String, Metrics>,
    /// How well it recognizes faces, by split.
    pub faces: BTreeMap<String, Faces>,
}

impl Standing {
    /// Folds all events of a run.
    pub fn of(events: &[Event]) -> Self {
        let mut standing = Standing::default();
        events.iter().for_each(|event| standing.take(event));
        standing
    }

    /// Takes note of one more event.
    pub fn take(&mut self, event: &Event) {
        if !matches!(event.kind, Kind::RunStarted { .. }) {
            self.active_ms += event.ms.saturating_sub(self.last_ms);
        }
        self.last_ms = event.ms;
        match &event.task {
            Some(task) => {
                self.take_task(task, &event.kind);
                self.take_model(task, &event.kind);
            }
            None => self.take_run(&event.kind),
        }
    }

    /// Up to which epoch the results of a task are known.
    pub fn epochs_told(&self, task: &str) -> u64 {
        let epochs = self.models.get(task).map(|model| &model.epochs);
        epochs.and_then(|epochs| epochs.last()).map_or(0, |epoch| epoch.epoch)
    }

    /// Whether an epoch's result is known already.
    pub fn knows(&self, task: &str, epoch: &Epoch) -> bool {
        self.models.get(task).is_some_and(|model| model.epochs.contains(epoch))
    }

    /// How long drivers have been at work.
    pub fn seconds(&self) -> f64 {
        self.active_ms as f64 / 1000.0
    }

    fn take_run(&mut self, kind: &Kind) {
        match kind {
            Kind::RunStarted { .. } => {
                self.state = State::Running;
                self.reason = None;
                for task in self.tasks.values_mut().filter(|task| task.state != State::Done) {
                    task.state = State::Waiting;
                    task.reason = None;
                }
            }
            Kind::RunDone {} => self.state = State::Done,
            Kind::RunStopped { reason } => {
                self.state = State::Stopped;
                self.reason = Some(reason.clone());
            }
            Kind::RunFailed { reason } => {
                self.state = State::Failed;
                self.reason = Some(reason.clone());
            }
            _ => {}
        }
    }

    fn take_task(&mut self, id: &str, kind: &Kind) {
        let task = self.tasks.entry(id.to_owned()).or_default();
        match kind {
            Kind::TaskStarted { process, pid, ticks, place, serves, .. } => {
                task.state = State::Running;
                let (pid, ticks, place) = (*pid, *ticks, place.clone());
                let living = Living { pid, ticks, place, delayed: None, serves: *serves };
                task.living.insert(*process, living);
                self.processes = self.processes.max(process + 1);
            }
            Kind::Checkpoint { step } => task.saved = task.saved.max(Some(*step)),
            // What lies beyond it was damaged, and is as good as never saved.
            Kind::Resumed { step, .. } => task.saved = Some(*step),
            Kind::Formed { generation, processes, ranks, .. } => {
                for process in processes {
                    task.living.entry(*process).and_modify(|living| living.delayed = None);
                }
                task.generation = *generation;
                task.hosts = processes.iter().copied().zip(ranks.iter().cloned()).collect();
            }
            Kind::ProcessLost { process, .. } => {
                task.living.remove(process);
                task.faults += 1;
            }
            Kind::Delayed { process, reason } => {
                if let Some(living) = task.living.get_mut(process) {
                    living.delayed = Some(reason.clone());
                }
            }
            Kind::ProcessLeft { process } => {
                task.living.remove(process);
            }
            Kind::Progress(progress) => task.progress = Some(progress.clone()),
            Kind::TaskDone {
                peak_rss_bytes,
                bytes_sent,
                waiting_share,
                computing_speed,
                link,
                ..
            } => {
                task.state = State::Done;
                task.living.clear();
                task.peak_rss_bytes = task.peak_rss_bytes.max(*peak_rss_bytes);
                task.bytes_sent += bytes_sent;
                task.waiting_share = *waiting_share;
                task.computing_speed = *computing_speed;
                task.link = link.clone();
            }
            Kind::TaskStopped { peak_rss_bytes, bytes_sent, .. } => {
                task.state = State::Stopped;
                task.peak_rss_bytes = task.peak_rss_bytes.max(*peak_rss_bytes);
                task.bytes_sent += bytes_sent;
                task.living.clear();
            }
            Kind::TaskFailed { reason } => {
                task.state = State::Failed;
                task.living.clear();
                task.reason = Some(reason.clone());
            }
            _ => {}
        }
    }

    /// Takes note of what came of training: `id` is the task that trains or evaluates.
    fn take_model(&mut self, id: &str, kind: &Kind) {
        let of = match kind {
            Kind::Evaluated { model, .. } => model,
            Kind::Progress(_) | Kind::Epoch(_) | Kind::Published(_) => id,
            _ => return,
        };
        let model = self.models.entry(of.to_owned()).or_default();
        match kind {
            Kind::Progress(progress) => {
                // After a resume some steps are told of again.
                while model.curve.last().is_some_and(|&(step, _)| step >= progress.step) {
                    model.curve.pop();
                }
                model.curve.push((progress.step, progress.metrics.loss));
                thin(&mut model.curve);
            }
            Kind::Epoch(epoch) => {
                model.epochs.retain(|earlier| earlier.epoch < epoch.epoch);
                model.epochs.push(epoch.clone());
            }
            Kind::Published(published) => {
                model.published = Some(published.clone());
                self.newest_model = Some(id.to_owned());
            }
            Kind::Evaluated { split, metrics, faces, .. } => {
                model.evaluated.insert(split.clone(), *metrics);
                model.faces.extend(faces.map(|faces| (split.clone(), faces)));
            }
            _ => {}
        }
    }
}

/// Keeps a curve short, however long a run is: every other point goes when there are many.
fn thin(curve: &mut Vec<(u64, f64)>) {
    const MOST: usize = 1000;
    if curve.len() >= MOST {
        let mut keep = false;
        curve.retain(|_| {
            keep = !keep;
            keep
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ms: u64, task: Option<&str>, kind: Kind) -> Event {
        Event { v: 1, seq: 0, ms, task: task.map(str::to_owned), kind }
    }

    fn started(ms: u64, resumed: bool) -> Event {
        let (run, trainyard) = ("mnist-1".into(), "0.1.0".into());
        event(ms, None, Kind::RunStarted { run, trainyard, resumed })
    }

    #[test]
    fn time_without_a_driver_does_not_count_and_undone_tasks_wait_again() {
        let done = Kind::TaskDone {
            seconds: 1.0,
            peak_rss_bytes: 5,
            bytes_sent: 0,
            waiting_share: 0.0,
            computing_speed: 0.0,
            link: String::new(),
        };
        let started_task = |process| Kind::TaskStarted {
            process,
            pid: 1,
            ticks: None,
            place: None,
            serves: false,
            adopted: false,
        };
        let mut standing = Standing::of(&[
            started(1_000, false),
            event(1_000, Some("prepare"), started_task(0)),
            event(2_000, Some("prepare"), done),
            event(2_500, Some("train"), started_task(1)),
            event(
                3_000,
                Some("train"),
                Kind::TaskStopped { saved: true, peak_rss_bytes: 9, bytes_sent: 30 },
            ),
            event(3_000, None, Kind::RunStopped { reason: "asked to".into() }),
        ]);
        assert_eq!((standing.state, standing.seconds()), (State::Stopped, 2.0));
        standing.take(&started(90_000, true));
        standing.take(&event(90_500, None, Kind::RunDone {}));
        assert_eq!((standing.state, standing.seconds()), (State::Done, 2.5));
        assert_eq!(standing.tasks["prepare"].state, State::Done);
        assert_eq!(standing.tasks["train"].state, State::Waiting);
    }

    #[test]
    fn a_task_that_was_stopped_counts_what_it_had_sent_and_held() {
        let stopped = |peak_rss_bytes, bytes_sent| Kind::TaskStopped {
            saved: true,
            peak_rss_bytes,
            bytes_sent,
        };
        let done = Kind::TaskDone {
            seconds: 1.0,
            peak_rss_bytes: 5,
            bytes_sent: 1,
            waiting_share: 0.0,
            computing_speed: 0.0,
            link: String::new(),
        };
        let events = [stopped(7, 30), stopped(6, 200), done].map(|it| event(0, Some("train"), it));
        let standing = Standing::of(&events);
        let train = &standing.tasks["train"];
        assert_eq!((train.bytes_sent, train.peak_rss_bytes), (231, 7));
    }

    #[test]
    fn an_epoch_computed_again_replaces_the_first() {
        let metrics = Metrics { loss: 1.0, accuracy: 0.1 };
        let epoch =
            |epoch| Epoch { epoch, step: 0, train: metrics, validation: None, learning_rate: 0.1 };
        let events = [1, 2, 1, 2, 3].map(|n| event(0, Some("train"), Kind::Epoch(epoch(n))));
        let standing = Standing::of(&events);
        assert_eq!(
            standing.models["train"].epochs.iter().map(|e| e.epoch).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }
}
