//! How a driver of the simulation starts and ends processes: it asks, and between two moments it is
//! done.

use std::collections::BTreeMap;

use exec::{ExecError, Launcher, Started};
use plan::Task;

use crate::yard::{Wish, Yard};

pub(crate) struct Machines {
    yard: Yard,
    /// The process ids of those that this driver has charge of.
    ours: BTreeMap<u32, u32>,
}

impl Machines {
    pub(crate) fn new(yard: Yard) -> Self {
        Machines { yard, ours: BTreeMap::new() }
    }
}

impl Launcher for Machines {
    fn start(&mut self, _: &Task, process: u32, _: bool) -> Result<Started, ExecError> {
        let pid = self.yard.plan(Some(process));
        self.ours.insert(process, pid);
        self.yard.books().wishes.push(Wish::Start(pid));
        Ok(Started { pid, ticks: Some(u64::from(pid)), place: None })
    }

    fn adopt(&mut self, _: &Task, process: u32, started: &Started) -> bool {
        let lives = started.ticks.is_some() && self.yard.lives(started.pid);
        if lives {
            self.ours.insert(process, started.pid);
        }
        lives
    }

    fn kill(&mut self, process: u32) {
        if let Some(&pid) = self.ours.get(&process) {
            self.yard.books().wishes.push(Wish::Kill(pid));
        }
    }

    fn ended(&mut self) -> Vec<(u32, String)> {
        let mut ended = vec![];
        self.ours.retain(|&process, pid| {
            let lives = self.yard.lives(*pid);
            if !lives {
                ended.push((process, "ended".to_owned()));
            }
            lives
        });
        ended
    }
}
