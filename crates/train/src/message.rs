//! What a driver and the processes of its run say to each other: one JSON document a frame.

use collective::{Contact, Seat};
use serde::{Deserialize, Serialize};

use crate::event::Kind;
use crate::orders::Orders;

/// The longest frame either side accepts.
pub const MAX_FRAME: usize = 8 << 20;

/// What a process says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToDriver {
    /// The first words on every connection but those of [`Files`](ToDriver::Files).
    Hello(Box<Hello>),
    /// The first and only words of this kind on a connection that files of the run go over.
    Files,
    /// Something happened. Said again on the next connection until it was [`ToProcess::Heard`].
    Said {
        /// Counts up.
        number: u64,
        /// What happened.
        event: Box<Kind>,
    },
    /// A heartbeat.
    Beat(Beat),
    /// The answer to [`ToProcess::Halt`].
    Held(Held),
    /// A group cannot go on.
    Broken {
        /// Which one.
        generation: u64,
        /// Who is to blame, as far as can be told.
        process: Option<u32>,
        /// What is wrong, as part of a sentence.
        problem: String,
    },
    /// Training is over, and its model published.
    Finished {
        /// In which group.
        generation: u64,
    },
    /// The system asked this process to leave.
    Leaving,
    /// The last words.
    Farewell(Farewell),
}

/// What a driver says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToProcess {
    /// What to do.
    Orders(Box<Orders>),
    /// Leave the group you are in, and say what you hold.
    Halt {
        /// The group that will follow.
        generation: u64,
    },
    /// Form a group and go on.
    Form(Box<Formation>),
    /// Save and leave.
    Save {
        /// Whether what all ranks share is this one's to save.
        whole: bool,
        /// The servers that hold the weights, if any do.
        servers: Vec<(u32, Contact)>,
    },
    /// Leave.
    Leave,
    /// Keep a copy of the run's folder for the next driver, from now on.
    KeepCopy,
    /// Events up to this number are written down.
    Heard {
        /// The number.
        number: u64,
    },
}

/// Who a process is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Its number in the run, where it has one.
    pub process: Option<u32>,
    /// Where it was started, where that is all that whoever started it knows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its process id.
    pub pid: u32,
    /// The machine it runs on.
    pub host: String,
    /// Where others reach it.
    pub contact: Contact,
    /// The task it works on already.
    pub task: Option<String>,
    /// Whether it is a server there.
    pub serves: bool,
    /// The newest group it has heard of.
    pub generation: u64,
}

/// A heartbeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beat {
    /// Grows whenever work goes on.
    pub moves: u64,
    /// How far it has come.
    pub step: u64,
    /// Whether it waits for the others now.
    pub waits: bool,
    /// Changes whenever something goes to the others or comes from them: it waits, but not in vain.
    pub exchanged: u64,
    /// How long it has waited for others in all.
    pub waited_seconds: f64,
}

/// How far training has come, in the order of being newer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark {
    /// Steps done by all ranks.
    pub step: u64,
    /// The step at which an epoch's result was last taken.
    pub epoch_step: u64,
}

/// What a process holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The group that is to follow.
    pub generation: u64,
    /// The newest state it holds whole, if any.
    pub mark: Option<Mark>,
    /// Ranks that have gone on from there by themselves, and how far.
    pub replicas: Vec<(usize, u64)>,
    /// Of a server: what it holds of the weights.
    pub keeps: Option<Kept>,
}

/// What a server holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Which range, if it holds one.
    pub index: Option<usize>,
    /// The steps it could go on from.
    pub steps: Vec<u64>,
    /// Where workers reach it.
    pub contact: Contact,
}

/// How a group is to be formed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formation {
    /// Which one, counted from 1.
    pub generation: u64,
    /// How many ranks there are.
    pub world: usize,
    /// Who takes part, and which ranks each hosts.
    pub seats: Vec<Seat>,
    /// The process whose state all go on from: it holds it, or reads the newest checkpoint.
    pub source: u32,
    /// How far that state is, where it is held.
    pub mark: Option<Mark>,
    /// Whether anybody needs that state.
    pub share: bool,
    /// What ranks have done by themselves, and who is to have it.
    pub moves: Vec<Move>,
    /// Up to which epoch results are written down. The one that leads tells those behind it.
    pub told: u64,
    /// The servers, by the range that each holds, and where workers reach them.
    pub servers: Vec<(u32, Contact)>,
}

/// A rank's own progress, handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Which rank.
    pub rank: usize,
    /// The process that has it.
    pub from: u32,
    /// The process that will host it.
    pub to: u32,
}

/// A process's last words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Farewell {
    /// How its work ended.
    pub ending: Parting,
    /// How long it trained, in all groups it was in.
    pub seconds: f64,
    /// The most memory it held.
    pub peak_rss_bytes: u64,
    /// What it sent to others of its group.
    pub bytes_sent: u64,
    /// How long it waited for them while it trained.
    pub waited_seconds: f64,
    /// How long it would have computed while it trained, with its cores to itself.
    #[serde(default)]
    pub computed_seconds: f64,
    /// How many samples it trained on.
    #[serde(default)]
    pub samples: u64,
    /// What its last group exchanged numbers through: `none`, `shm` or `tcp`.
    #[serde(default)]
    pub link: String,
}

/// How a process's work ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parting {
    /// It is done.
    Done,
    /// It left when it was asked to, with everything saved.
    Stopped,
    /// It cannot be done.
    Failed {
        /// Why, in a sentence.
        reason: String,
    },
}

impl Formation {
    /// The seat of a process.
    pub fn seat_of(&self, process: u32) -> Option<usize> {
        self.seats.iter().position(|seat| seat.process == process)
    }
}
