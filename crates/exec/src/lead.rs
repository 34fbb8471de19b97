//! Leading a task's processes: doing what membership decides.

use train::Kind;
use train::membership::{Decision, Phase, decide};
use train::message::{Formation, ToProcess};

use crate::ExecError;
use crate::drive::{Drive, PATIENCE};
use crate::launch::Started;
use crate::troop::Troop;

impl Drive<'_> {
    /// Does whatever is to be done for a task now.
    pub(crate) fn lead(&mut self, task: &str) -> Result<(), ExecError> {
        while let Some(troop) = self.troops.get_mut(task) {
            troop.crew.told = self.standing.epochs_told(task);
            troop.crew.saved = self.standing.tasks.get(task).and_then(|task| task.saved);
            let now = self.driver.clock.elapsed();
            let (decision, reason) = decide(now, &troop.crew, &self.driver.patience);
            match decision {
                Decision::Wait => break,
                Decision::Start(count) => {
                    (0..count).try_for_each(|_| self.start(task, false))?;
                }
                Decision::StartServers(count) => {
                    (0..count).try_for_each(|_| self.start(task, true))?;
                }
                Decision::GiveUp(process) => {
                    self.driver.launcher.kill(process);
                    self.give_up(task, process, &reason)?;
                }
                Decision::SetAside(process) => {
                    troop.crew.set_aside(process, now);
                    self.driver.launcher.kill(process);
                    self.give_up(task, process, &reason)?;
                }
                Decision::Dismiss(source) => troop.dismiss(source),
                Decision::Halt(generation) => self.halt(task, generation, reason),
                Decision::Form(formation) => self.form(task, &formation)?,
                Decision::Save(whole) => self.save(task, whole)?,
            }
        }
        match self.troops.get_mut(task).is_some_and(Troop::is_deserted) {
            true => self.note(Some(task), Kind::Awaiting { address: self.address.clone() }),
            false => Ok(()),
        }
    }

    fn start(&mut self, task: &str, serves: bool) -> Result<(), ExecError> {
        let process = self.next_process;
        self.next_process += 1;
        let due = self.driver.clock.elapsed() + self.driver.patience.arrival;
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        troop.add(process, due, serves);
        let started = self.driver.launcher.start(&troop.task, process, serves)?;
        let Started { pid, ticks, place } = started;
        let adopted = false;
        self.note(Some(task), Kind::TaskStarted { process, pid, ticks, place, serves, adopted })
    }

    pub(crate) fn halt(&mut self, task: &str, generation: u64, reason: String) {
        let now = self.driver.clock.elapsed();
        if let Some(troop) = self.troops.get_mut(task) {
            troop.crew.halted(generation, now);
            troop.reason = reason;
            troop.say_to_all(&ToProcess::Halt { generation });
        }
    }

    fn form(&mut self, task: &str, formation: &Formation) -> Result<(), ExecError> {
        let now = self.driver.clock.elapsed();
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        troop.crew.formed(formation, now);
        let kind = Kind::Formed {
            generation: formation.generation,
            processes: formation.seats.iter().map(|seat| seat.process).collect(),
            ranks: formation.seats.iter().map(|seat| seat.ranks.clone()).collect(),
            step: formation.mark.map(|mark| mark.step),
            saved: troop.crew.saved.filter(|_| formation.mark.is_none()),
            source: formation.source,
            reason: std::mem::take(&mut troop.reason),
        };
        // Written before it is said: no other driver ever forms a group of the same number.
        self.note(Some(task), kind)?;
        let Some(troop) = self.troops.get(task) else { return Ok(()) };
        let servers = formation.servers.iter().map(|(process, _)| *process);
        for process in servers.chain(formation.seats.iter().map(|seat| seat.process)) {
            troop.say(process, ToProcess::Form(Box::new(formation.clone())));
        }
        for (&process, member) in &troop.crew.members {
            if member.leaving {
                troop.say(process, ToProcess::Leave);
            }
        }
        Ok(())
    }

    fn save(&mut self, task: &str, whole: Option<u32>) -> Result<(), ExecError> {
        let killing_at = self.driver.clock.elapsed() + PATIENCE;
        let Drive { driver, troops, .. } = self;
        let Some(troop) = troops.get_mut(task) else { return Ok(()) };
        troop.crew.phase = Phase::Saving;
        troop.saver = whole;
        // Where nobody holds what was done, it is done again.
        troop.saved = whole.is_some() || !troop.has_moved();
        troop.killing_at = Some(killing_at);
        for (&process, member) in &troop.crew.members {
            match member.line {
                Some(_) => troop.say_save(process),
                // It was cut off just now.
                None => driver.launcher.kill(process),
            }
        }
        self.spare_newcomers(task)?;
        self.end_if_all_left(task)
    }
}
