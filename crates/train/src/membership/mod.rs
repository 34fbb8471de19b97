//! Who trains: which processes are there, which ranks each hosts, and what to do when that changes.
//!
//! Everything here is pure. [`decide`] looks at a [`Crew`] and the time and says what to do next, with
//! the reason in words; the driver does it, takes note in the crew, and asks again until it is told to
//! wait. Every change of a group goes the same way: all processes are asked to **halt** and to say what
//! they hold; when all have answered, a new group is **formed**, one generation on, from the newest
//! state that any of them holds. So a late message of an old group is known by its number.

mod aside;
mod decide;
mod form;
mod place;

use std::collections::BTreeMap;
use std::time::Duration;

use collective::Contact;

use crate::message::{Beat, Held, Mark};

pub use aside::Aside;
pub use decide::{Decision, Limits, decide};
pub use form::servers;

/// How long a process whose line broke may take to call again.
pub const RECONNECT: Duration = Duration::from_millis(500);

/// The processes of a task that trains, as its driver knows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crew {
    /// How many ranks there are; none for a task that is one process's work.
    pub world: usize,
    /// How many processes are to be there.
    pub wanted: usize,
    /// The newest generation that was announced.
    pub generation: u64,
    /// Whether there is a group now.
    pub phase: Phase,
    /// Every process that is believed to live, by number.
    pub members: BTreeMap<u32, Member>,
    /// Which process hosted each rank last.
    pub hosts: Vec<Option<u32>>,
    /// Which process held each range of the weights last, where servers do.
    pub keepers: Vec<Option<u32>>,
    /// Whether servers take each gradient as it comes, so that workers are not at one step.
    pub loose: bool,
    /// Up to which epoch results are written down.
    pub told: u64,
    /// The newest step that was saved.
    pub saved: Option<u64>,
    /// Whether all are to save and leave.
    pub stopping: bool,
    /// From where the last group went on.
    pub mark: Option<Mark>,
    /// Groups in a row that broke before anything moved.
    pub stumbles: u32,
    /// The process that the last of them blamed.
    pub blamed: Option<u32>,
    /// Those that others cannot reach, whom no group needs for a while.
    pub aside: BTreeMap<u32, Aside>,
}

/// Whether there is a group now.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// There is none: processes are asked what they hold.
    #[default]
    Halted,
    /// It works.
    Formed {
        /// Since when.
        at: Duration,
        /// What a member said is wrong with it.
        broken: Option<String>,
    },
    /// All were told to save and leave.
    Saving,
    /// Training is over, and all were told to leave.
    Over,
}

/// A process.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// When it must have called, where it has no line.
    pub due: Duration,
    /// Its line to the driver, if it has one.
    pub line: Option<Line>,
    /// Whether it is known that it cannot come soon.
    pub delayed: bool,
    /// Whether the system asked it to leave.
    pub leaving: bool,
    /// Whether it was told to save what it holds and go.
    pub dismissed: bool,
    /// Whether it hosts ranks of the group.
    pub seated: bool,
    /// Whether it is a server, and hosts no ranks.
    pub serves: bool,
}

/// What is known of a process through its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When it was last heard.
    pub heard: Duration,
    /// Where others reach it.
    pub contact: Contact,
    /// Its last heartbeat.
    pub beat: Beat,
    /// When work last went on, or it last computed.
    pub lively: Duration,
    /// When work last went on, or it was last asked for something.
    pub moved: Duration,
    /// What it holds; the answer to the newest halt where the generation is that one.
    pub held: Option<Held>,
}

impl Member {
    /// One that is to call by a certain time.
    pub fn new(due: Duration, serves: bool) -> Self {
        Member {
            due,
            line: None,
            delayed: false,
            leaving: false,
            dismissed: false,
            seated: false,
            serves,
        }
    }
}

impl Line {
    /// The line of a process that calls now.
    pub fn new(contact: Contact, now: Duration) -> Self {
        let beat = Beat::default();
        Line { heard: now, contact, beat, lively: now, moved: now, held: None }
    }
}

impl Crew {
    /// Before anything has begun. `wanted` are the processes of workers, beside `servers`.
    pub fn new(world: usize, wanted: usize, servers: usize) -> Self {
        let (hosts, keepers) = (vec![None; world], vec![None; servers]);
        Crew { world, wanted, hosts, keepers, ..Crew::default() }
    }

    /// Takes note of a heartbeat.
    pub fn beat(&mut self, process: u32, beat: Beat, now: Duration) {
        let Some(member) = self.members.get_mut(&process) else { return };
        let Some(line) = &mut member.line else { return };
        let moved = beat.moves != line.beat.moves;
        if moved || !beat.waits || beat.exchanged != line.beat.exchanged {
            line.lively = now;
        }
        if moved {
            line.moved = now;
        }
        (line.heard, line.beat) = (now, beat);
        // What servers do may be the beginning of a group that breaks.
        if moved && member.seated {
            (self.stumbles, self.blamed) = (0, None);
            self.reconcile();
        }
    }

    /// Takes note that the driver itself was away for a while: nobody can be blamed for that time.
    pub fn excuse(&mut self, away: Duration) {
        for member in self.members.values_mut() {
            member.due += away;
            if let Some(line) = &mut member.line {
                (line.heard, line.lively, line.moved) =
                    (line.heard + away, line.lively + away, line.moved + away);
            }
        }
    }

    /// Takes note that a group cannot go on.
    pub fn broke(&mut self, generation: u64, process: Option<u32>, problem: String) {
        if let Phase::Formed { broken, .. } = &mut self.phase
            && generation == self.generation
        {
            broken.get_or_insert(problem);
            self.blamed = process.or(self.blamed);
        }
    }

    /// Takes note that all were asked to halt.
    pub fn halted(&mut self, generation: u64, now: Duration) {
        if matches!(&self.phase, Phase::Formed { broken: Some(_), .. }) {
            self.stumbles += 1;
        }
        (self.generation, self.phase) = (generation, Phase::Halted);
        for member in self.members.values_mut() {
            member.seated = false;
            member.line.iter_mut().for_each(|line| line.moved = now);
        }
    }

    /// Takes note that a group was formed.
    pub fn formed(&mut self, formation: &crate::message::Formation, now: Duration) {
        self.phase = Phase::Formed { at: now, broken: None };
        // Heartbeats may have told nothing of a group that did not last long.
        if formation.mark > self.mark {
            (self.stumbles, self.blamed) = (0, None);
        }
        self.mark = formation.mark;
        for (keeper, (process, _)) in self.keepers.iter_mut().zip(&formation.servers) {
            *keeper = Some(*process);
        }
        for seat in &formation.seats {
            for &rank in &seat.ranks {
                self.hosts[rank] = Some(seat.process);
            }
            if let Some(member) = self.members.get_mut(&seat.process) {
                member.seated = !seat.ranks.is_empty();
                if let Some(line) = &mut member.line {
                    (line.lively, line.moved) = (now, now);
                }
            }
        }
    }

    /// Takes note that a process is gone.
    pub fn remove(&mut self, process: u32) -> Option<Member> {
        (self.stumbles, self.blamed) = (0, None);
        self.members.remove(&process)
    }

    /// The processes of workers that can be given ranks.
    fn usable(&self) -> Vec<u32> {
        let usable = |(_, member, _): &(u32, &Member, &Line)| !member.leaving && !member.serves;
        self.lines().filter(usable).map(|(process, ..)| process).collect()
    }

    /// The processes that can be spoken to.
    fn lines(&self) -> impl Iterator<Item = (u32, &Member, &Line)> {
        let members = self.members.iter().filter(|(_, member)| !member.dismissed);
        members.filter_map(|(&process, member)| Some((process, member, member.line.as_ref()?)))
    }
}
