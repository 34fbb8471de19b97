//! The machines of a play: drivers and processes are started, and switched off.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::{Deed, Play};
use crate::roles::{DriverRole, ProcessRole};
use crate::yard::State;

impl Play {
    pub(super) fn start_driver(&mut self) {
        if self.driver.is_some() || self.done_at.is_some() {
            return;
        }
        self.drivers += 1;
        let (name, stop) = (format!("driver-{}", self.drivers), Arc::new(AtomicUsize::new(0)));
        self.yard.tell(&format!("{name} starts"));
        let role = DriverRole {
            name: name.clone(),
            yard: self.yard.clone(),
            plan: self.plan.clone(),
            run: self.run.clone(),
            processes: self.manner.processes,
            stop: stop.clone(),
        };
        self.sim.host(name.as_str(), move || role.clone().act());
        self.driver = Some((name, stop));
    }

    pub(super) fn crash_driver(&mut self, vanishes: bool, back: Duration) {
        if let Some((name, _)) = self.driver.take() {
            if vanishes {
                self.part_from_all(&name);
            }
            self.sim.crash(name.as_str());
            self.schedule(back, Deed::Drive);
        }
    }

    pub(super) fn start_process(&mut self, pid: u32) {
        let name = name_of(pid);
        let (process, stop) = {
            let books = self.yard.books();
            let machine = &books.machines[&pid];
            if machine.state != State::Planned {
                return;
            }
            (machine.process, machine.stop.subscribe())
        };
        self.yard.tell(&format!("{name} starts as {process:?}"));
        let role = ProcessRole {
            name: name.clone(),
            yard: self.yard.clone(),
            run: self.run.clone(),
            process,
            pid,
            a_move: self.manner.machine(pid).1,
            stop,
        };
        self.sim.host(name.as_str(), move || role.clone().act());
        let address = self.sim.lookup(name.as_str());
        if let Some(machine) = self.yard.books().machines.get_mut(&pid) {
            (machine.state, machine.address) = (State::Runs, Some(address));
        }
    }

    pub(super) fn end_process(&mut self, pid: u32, state: State) {
        let before = self.yard.books().machines[&pid].state;
        match before {
            State::Gone | State::Vanished => return,
            State::Planned => {}
            State::Runs | State::Over => {
                let name = name_of(pid);
                self.yard.tell(&format!("{name} is switched off: {state:?}"));
                if state == State::Vanished {
                    self.part_from_all(&name);
                }
                self.sim.crash(name.as_str());
            }
        }
        if let Some(machine) = self.yard.books().machines.get_mut(&pid) {
            machine.state = state;
        }
    }

    /// Nothing that a machine says when it is switched off is heard.
    fn part_from_all(&mut self, name: &str) {
        let machines: Vec<u32> = {
            let books = self.yard.books();
            books
                .machines
                .iter()
                .filter(|(_, m)| m.address.is_some())
                .map(|(&pid, _)| pid)
                .collect()
        };
        let drivers = (1..=self.drivers).map(|number| format!("driver-{number}"));
        for other in machines.into_iter().map(name_of).chain(drivers).filter(|other| other != name)
        {
            self.sim.partition(name, other.as_str());
        }
    }

    /// Machines whose process has come to its end are not needed any more.
    pub(super) fn switch_off(&mut self) {
        let over: Vec<u32> = {
            let books = self.yard.books();
            let over = books.machines.iter().filter(|(_, machine)| machine.state == State::Over);
            over.map(|(&pid, _)| pid).collect()
        };
        over.into_iter().for_each(|pid| self.end_process(pid, State::Gone));
    }
}

pub(super) fn name_of(pid: u32) -> String {
    format!("process-{pid}")
}
