//! What goes wrong, and when: a function of the seed alone.

use std::time::Duration;

use random::{Key, Purpose};
use train::Kind;

/// One thing that goes wrong.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) when: When,
    pub(crate) what: What,
}

/// When it does.
#[derive(Clone, Debug)]
pub(crate) enum When {
    At(Duration),
    /// So long after something of this kind was written down for the n-th time.
    After(Sign, u64, Duration),
}

/// What faults follow closely: moments at which something is half done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Started,
    Formed,
    Lost,
    Left,
    Epoch,
    Checkpoint,
    Published,
    TaskDone,
    Stopping,
}

/// What goes wrong. Processes are told by a number, of those that live then.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A process dies, or its machine vanishes with it.
    Crash { process: u64, vanishes: bool },
    /// The driver dies, and another one takes over.
    CrashDriver { vanishes: bool, back: Duration },
    /// A link is cut for a while. What is sent meanwhile is late, or lost.
    Cut { ends: Ends, lossy: bool, lasts: Duration },
    /// A link is slow for a while.
    Slow { ends: Ends, by: Duration, lasts: Duration },
    /// Another process comes that has the number of one that lives or has lived.
    Double { process: u64 },
    /// A process comes by itself.
    Volunteer,
    /// A process is asked to leave.
    Leave { process: u64 },
    /// The user asks to stop, and takes the run up again later.
    Stop { twice: bool, back: Duration },
}

/// A link, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Processes(u64, u64),
    ToDriver(u64),
    /// Everybody is cut off from this one.
    Alone(u64),
}

/// How everything is that is not a fault.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// How many processes train, where not one for each worker.
    pub(crate) processes: Option<usize>,
    pub(crate) latency: (Duration, Duration),
    /// How long after it was asked for a process is killed.
    pub(crate) killing: Duration,
    key: Key,
}

/// Within this time faults are drawn.
const STRETCH_MS: u64 = 4_000;
const LONG_STRETCH_MS: u64 = 30_000;
const MOST_FAULTS: u64 = 9;

/// The faults of a seed.
pub(crate) fn faults(seed: u64) -> Vec<Fault> {
    let key = Key::new(seed, Purpose::Synthetic).with(1);
    // Every few seeds, nothing goes wrong but what the manner brings.
    let count = key.below(0, MOST_FAULTS + 1);
    (0..count).map(|number| fault(key.with(number))).collect()
}

fn fault(key: Key) -> Fault {
    let when = match key.below(0, 2) {
        0 => {
            let stretch = if key.below(6, 4) == 0 { LONG_STRETCH_MS } else { STRETCH_MS };
            When::At(ms(key.below(1, stretch)))
        }
        _ => {
            let sign = SIGNS[key.below(2, SIGNS.len() as u64) as usize];
            When::After(sign, 1 + key.below(3, 4), ms(key.below(4, 5) * key.below(5, 60)))
        }
    };
    Fault { when, what: what(key.with(7)) }
}

fn what(key: Key) -> What {
    let process = key.below(0, 1 << 32);
    let flag = key.below(1, 4) == 0;
    // From the blink of an eye to longer than anybody waits.
    let longest = [60, 600, 3_000, 8_000, 26_000, 60_000][key.below(2, 6) as usize];
    let lasts = ms(longest * (1 + key.below(3, 100)) / 100);
    match key.below(4, 20) {
        0..6 => What::Crash { process, vanishes: flag },
        6..9 => What::CrashDriver { vanishes: flag, back: lasts },
        9..13 => What::Cut { ends: ends(key.with(1)), lossy: key.below(5, 3) == 0, lasts },
        13 => What::Slow { ends: ends(key.with(1)), by: ms(20 + key.below(6, 300)), lasts },
        14 => What::Double { process },
        15 => What::Volunteer,
        16..18 => What::Leave { process },
        _ => What::Stop { twice: flag, back: lasts },
    }
}

fn ends(key: Key) -> Ends {
    let (one, other) = (key.below(0, 1 << 32), key.below(1, 1 << 32));
    match key.below(2, 5) {
        0..2 => Ends::Processes(one, other),
        2..4 => Ends::ToDriver(one),
        _ => Ends::Alone(one),
    }
}

impl Manner {
    pub(crate) fn of(seed: u64, workers: usize) -> Self {
        let key = Key::new(seed, Purpose::Synthetic).with(2);
        let fewer = 1 + key.below(1, workers as u64) as usize;
        Manner {
            processes: (key.below(0, 3) == 0).then_some(fewer),
            latency: (ms(1), ms([2, 5, 20, 60][key.below(2, 4) as usize])),
            killing: ms([0, 0, 5, 3_000][key.below(3, 4) as usize]),
            key,
        }
    }

    /// How nothing is out of order: some words take longer than others, as they do everywhere.
    pub(crate) fn calm() -> Self {
        let key = Key::new(0, Purpose::Synthetic);
        Manner { processes: None, latency: (ms(1), ms(40)), killing: ms(0), key }
    }

    /// How long a machine takes to start, and how long a move of work takes it.
    pub(crate) fn machine(&self, pid: u32) -> (Duration, Duration) {
        let key = self.key.with(3).with(u64::from(pid));
        let start = match key.below(0, 32) {
            0 => 40_000,
            1..5 => key.below(1, 4_000),
            _ => 5 + key.below(1, 60),
        };
        let a_move = if key.below(2, 8) == 0 { 100 } else { 5 + key.below(3, 30) };
        (ms(start), ms(a_move))
    }
}

const SIGNS: [Sign; 9] = [
    Sign::Started,
    Sign::Formed,
    Sign::Lost,
    Sign::Left,
    Sign::Epoch,
    Sign::Checkpoint,
    Sign::Published,
    Sign::TaskDone,
    Sign::Stopping,
];

impl Sign {
    pub(crate) fn is(self, kind: &Kind) -> bool {
        match self {
            Sign::Started => matches!(kind, Kind::TaskStarted { .. }),
            Sign::Formed => matches!(kind, Kind::Formed { .. }),
            Sign::Lost => matches!(kind, Kind::ProcessLost { .. }),
            Sign::Left => matches!(kind, Kind::ProcessLeft { .. }),
            Sign::Epoch => matches!(kind, Kind::Epoch(_)),
            Sign::Checkpoint => matches!(kind, Kind::Checkpoint { .. }),
            Sign::Published => matches!(kind, Kind::Published(_)),
            Sign::TaskDone => matches!(kind, Kind::TaskDone { .. }),
            Sign::Stopping => matches!(kind, Kind::RunStopping {}),
        }
    }
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
