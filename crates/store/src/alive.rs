//! Whether a process of this machine lives, told by its number and by when it started.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// A process of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alive {
    /// Its number.
    pub pid: u32,
    /// When it started as the system counts, which tells it from a later process of the same number.
    pub ticks: Option<u64>,
}

impl Alive {
    /// The process that has this number now.
    pub fn of(pid: u32) -> Alive {
        Alive { pid, ticks: stat(pid).map(|stat| stat.ticks) }
    }

    /// Whether it lives.
    pub fn lives(&self) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return false;
        };
        !matches!(test_kill_process(pid), Err(Errno::SRCH))
            && stat(self.pid).is_none_or(|stat| {
                !stat.ended && self.ticks.is_none_or(|ticks| ticks == stat.ticks)
            })
    }
}

/// What the system says about a process; nothing where it says nothing.
struct Stat {
    /// A process that ended and waits for its parent to notice still answers signals.
    ended: bool,
    /// When it started.
    ticks: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may hold anything, come the state and, nineteen words on, the start.
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    let ended = matches!(words.next()?, "Z" | "X");
    Some(Stat { ended, ticks: words.nth(18)?.parse().ok()? })
}
