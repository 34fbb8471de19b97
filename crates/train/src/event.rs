//! Events: what happened in a run, one JSON object a line in `events.jsonl`. They are the run's one
//! source of truth; status, report, logs and the terminal view only read them.
//!
//! A line is `{"v":1,"seq":12,"ms":1763179480123,"task":"train","event":"epoch",…}`. Fields may be
//! added within a version; readers ignore what they do not know. docs/reference/events.md is the
//! list for people.

use serde::{Deserialize, Serialize};

use crate::faces::Faces;

/// The version of the event format that this program writes.
pub const VERSION: u32 = 1;

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of the format.
    pub v: u32,
    /// Counts up from 0 without gaps.
    pub seq: u64,
    /// When the driver wrote it, in milliseconds since 1970.
    pub ms: u64,
    /// The task it is about; none for the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Kind {
    /// A driver began, or took up again, a run.
    RunStarted {
        /// `mnist-1`.
        run: String,
        /// The version of the program.
        trainyard: String,
        /// Whether an earlier driver had begun it.
        resumed: bool,
    },
    /// A process was started for a task.
    TaskStarted {
        /// Which process of the run it is, counted from 0.
        process: u32,
        /// Its process id.
        pid: u32,
        /// When it started, as the system counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticks: Option<u64>,
        /// Where it was started, if not on the driver's machine: the name of a pod.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        /// Whether it is a server of parameters.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        serves: bool,
        /// Whether it was there before: an earlier driver had started it, or it had been given up and
        /// came back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        adopted: bool,
    },
    /// Processes formed a group, or another one, and train on.
    Formed {
        /// Which one, counted from 1.
        generation: u64,
        /// Who is in it.
        processes: Vec<u32>,
        /// The ranks that each hosts.
        ranks: Vec<Vec<usize>>,
        /// The step they go on from, where a process held it; otherwise the newest checkpoint is
        /// read, or training begins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u64>,
        /// Where no process held one: the newest step that had been saved, if any had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        saved: Option<u64>,
        /// The process whose state that is.
        source: u32,
        /// Why there was to be another group.
        reason: String,
    },
    /// Nobody is there to train, and the driver starts nobody: it waits for processes that join.
    Awaiting {
        /// Where the driver listens.
        address: String,
    },
    /// A process cannot start yet. Those that are there do not wait for it.
    Delayed {
        /// Which one.
        process: u32,
        /// What it waits for.
        reason: String,
    },
    /// A process died or hangs, and others go on.
    ProcessLost {
        /// Which one.
        process: u32,
        /// What happened to it.
        reason: String,
    },
    /// A process left in order, because somebody other than the driver asked it to.
    ProcessLeft {
        /// Which one.
        process: u32,
    },
    /// A file of a dataset is being fetched.
    Fetching {
        /// Its name.
        file: String,
        /// How many bytes are here.
        bytes: u64,
        /// How many there will be, where known.
        total: Option<u64>,
    },
    /// The data is ready.
    Prepared {
        /// Samples to train on.
        train: u64,
        /// Samples held out to watch training.
        validation: u64,
        /// Samples to evaluate on.
        test: u64,
        /// SHA-256 over the source's decoded training samples.
        sha256: String,
        /// Files of the source that could not be decoded, and were left out.
        #[serde(default, skip_serializing_if = "data::Skipped::is_none")]
        skipped: data::Skipped,
    },
    /// Training goes on from a checkpoint.
    Resumed {
        /// Steps done.
        step: u64,
        /// The group in which it does.
        #[serde(default)]
        generation: u64,
    },
    /// How training stands, about once a second or forty times in all.
    Progress(Progress),
    /// An epoch ended.
    Epoch(Epoch),
    /// A checkpoint cannot be used; an older one, or none, is taken.
    CheckpointDamaged {
        /// Whose.
        step: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A checkpoint was written whole.
    Checkpoint {
        /// Steps done.
        step: u64,
    },
    /// Training ended before its last epoch.
    EarlyStop {
        /// The epoch whose result was best, counted from 1.
        best_epoch: u64,
        /// Why, in a sentence.
        reason: String,
    },
    /// A model was published.
    Published(Published),
    /// A model was measured.
    Evaluated {
        /// The task that trained it.
        model: String,
        /// `test`, `validation` or `train`.
        split: String,
        /// What was found.
        metrics: Metrics,
        /// How many samples were used.
        samples: u64,
        /// How well it recognizes faces, where it answers with embeddings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        faces: Option<Faces>,
    },
    /// A task left before it was done, because it was asked to.
    TaskStopped {
        /// Whether it left in order, with everything saved; otherwise it was killed, and what it did
        /// since its last checkpoint is done again.
        saved: bool,
        /// The most memory one of its processes held, of those that left in order.
        #[serde(default)]
        peak_rss_bytes: u64,
        /// What those sent to each other.
        #[serde(default)]
        bytes_sent: u64,
    },
    /// A task is done.
    TaskDone {
        /// How long it took.
        seconds: f64,
        /// The most memory one of its processes held since the task was last taken up.
        peak_rss_bytes: u64,
        /// What its processes sent to each other since then.
        #[serde(default)]
        bytes_sent: u64,
        /// The share of the time in which they trained that they waited for each other, exchanging
        /// included.
        #[serde(default)]
        waiting_share: f64,
        /// Samples that one process would train on in a second if it did nothing but compute, with its
        /// cores to itself.
        #[serde(default)]
        computing_speed: f64,
        /// What they exchanged numbers through: `none`, `shm` or `tcp`; empty where nothing is
        /// trained.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        link: String,
    },
    /// A task failed for good.
    TaskFailed {
        /// Why, in a sentence.
        reason: String,
    },
    /// The driver was asked to stop and has told its tasks.
    RunStopping {},
    /// The run was stopped before it was done; running the file again continues it.
    RunStopped {
        /// Why, in a sentence.
        reason: String,
    },
    /// The run failed.
    RunFailed {
        /// Why, in a sentence.
        reason: String,
    },
    /// The run is done and its report is written.
    RunDone {},
    /// Something that a newer version of this program tells, and this one does not know.
    #[serde(other)]
    Unknown,
}

/// Loss and accuracy over some samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The mean loss of a sample.
    pub loss: f64,
    /// The share of samples whose most probable class is the right one; of triplets, the share of those in
    /// which the same person is nearer.
    pub accuracy: f64,
}

/// How training stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The epoch under way, counted from 1.
    pub epoch: u64,
    /// How many there will be; 0 where training goes on until it is stopped.
    pub epochs: u64,
    /// Steps done.
    pub step: u64,
    /// How many there will be; 0 where training goes on until it is stopped.
    pub steps: u64,
    /// Over the batches since progress was last told.
    pub metrics: Metrics,
    /// Since then, too.
    pub samples_per_second: f64,
    /// How long the remaining steps will take at that speed.
    pub eta_seconds: f64,
    /// How each process of the group stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerProgress>,
}

/// How a process of a group stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerProgress {
    /// Its number.
    pub process: u32,
    /// The ranks it hosts.
    pub ranks: Vec<usize>,
    /// How far it has come.
    pub step: u64,
}

/// The result of an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: u64,
    /// Steps done.
    pub step: u64,
    /// Over the epoch's batches, as they were trained on.
    pub train: Metrics,
    /// On the samples held out, after the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Metrics>,
    /// The size of the last step.
    pub learning_rate: f64,
}

/// A published model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The file, relative to the run directory.
    pub path: String,
    /// SHA-256 over its weights.
    pub weights_sha256: String,
    /// How many numbers its weights are.
    pub parameters: u64,
    /// The epoch whose weights it has, counted from 1: the last, or the best where early stopping
    /// gave those back.
    pub epoch: u64,
    /// Samples trained on a second, over the last process's whole training.
    pub samples_per_second: f64,
    /// How long training took, the time between two groups left out.
    #[serde(default)]
    pub seconds: f64,
}
