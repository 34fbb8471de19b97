//! What processes say, and what becomes of it.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use train::membership::Phase;
use train::message::{Hello, Parting, ToDriver, ToProcess};
use train::{Kind, Orders};

use crate::ExecError;
use crate::drive::Drive;
use crate::reception::Heard;
use crate::troop::LEAVING;

/// How long one whose line broke may take to call again, where its end is told late: long enough to know
/// what it died of.
const PLACED_RECONNECT: Duration = Duration::from_secs(3);

impl Drive<'_> {
    pub(crate) fn hear(&mut self, heard: Heard) -> Result<(), ExecError> {
        match heard {
            Heard::Hello(line, hello, out) => self.greet(line, hello, out),
            Heard::Said(line, words) => match self.on_line(line) {
                Some((task, process)) => self.take(&task, process, words),
                None => {
                    self.hear_volunteer(line, &words);
                    Ok(())
                }
            },
            Heard::Closed(line) => match self.on_line(line) {
                Some((task, process)) => self.hang_up(&task, process),
                None => {
                    self.volunteers.retain(|(number, ..)| *number != line);
                    Ok(())
                }
            },
        }
    }

    /// One that waits to be used is answered, so that it knows that there is a driver. Whoever else
    /// speaks here has called anew since, or was given up.
    fn hear_volunteer(&mut self, line: u64, words: &ToDriver) {
        let Some(place) = self.volunteers.iter().position(|(number, ..)| *number == line) else {
            return;
        };
        let out = &self.volunteers[place].2;
        match words {
            ToDriver::Beat(_) => {
                let _ = out.send(ToProcess::Heard { number: 0 });
            }
            ToDriver::Leaving => {
                let _ = out.send(ToProcess::Leave);
                self.volunteers.remove(place);
            }
            _ => {}
        }
    }

    fn on_line(&self, line: u64) -> Option<(String, u32)> {
        self.troops.iter().find_map(|(task, troop)| {
            let (process, _) = troop.lines.iter().find(|(_, (number, _))| *number == line)?;
            Some((task.clone(), *process))
        })
    }

    /// Answers a process that calls, for the first time or again.
    pub(crate) fn greet(
        &mut self,
        line: u64,
        hello: Box<Hello>,
        out: UnboundedSender<ToProcess>,
    ) -> Result<(), ExecError> {
        let now = self.driver.clock.elapsed();
        let Some((task, process)) = self.place(&hello) else {
            if hello.process.is_none() && hello.place.is_none() {
                // It came by itself, and there is nothing to train yet.
                self.volunteers.push((line, hello, out));
            } else {
                let _ = out.send(ToProcess::Leave);
            }
            return Ok(());
        };
        let came_by_itself = hello.process.is_none();
        let (run, surroundings) = (self.driver.run.path.clone(), self.driver.surroundings.clone());
        let Some(troop) = self.troops.get_mut(&task) else { return Ok(()) };
        let known = troop.crew.members.get(&process);
        let (known, seated) = (known.is_some(), known.is_some_and(|member| member.seated));
        troop.connect(process, &hello, (line, out), now);
        if hello.task.is_none() {
            let serves = troop.crew.members.get(&process).is_some_and(|member| member.serves);
            let orders = Orders { task: troop.task.clone(), run, process, serves, surroundings };
            troop.say(process, ToProcess::Orders(Box::new(orders)));
        }
        let generation = troop.crew.generation;
        match &troop.crew.phase {
            Phase::Over => troop.say(process, ToProcess::Leave),
            Phase::Saving => troop.say_save(process),
            _ if hello.generation > generation => {
                // An earlier driver had announced more than it wrote down.
                self.halt(&task, hello.generation + 1, "another driver has taken over".into());
            }
            Phase::Formed { .. } if seated => {
                let problem = format!("process {process} was cut off for a moment");
                troop.crew.broke(generation, None, problem);
            }
            Phase::Halted if generation > 0 => {
                troop.say(process, ToProcess::Halt { generation });
            }
            Phase::Halted | Phase::Formed { .. } => {}
        }
        if !known {
            let (pid, ticks, adopted) = (hello.pid, None, !came_by_itself);
            let (serves, place) = (hello.serves, hello.place);
            let kind = Kind::TaskStarted { process, pid, ticks, place, serves, adopted };
            self.note(Some(&task), kind)?;
        }
        Ok(())
    }

    /// The task and the number of a process that calls; none where it has no business here.
    fn place(&mut self, hello: &Hello) -> Option<(String, u32)> {
        // One that was started in a place is known there, or was given up and has no business here any
        // more.
        let process = match &hello.place {
            Some(place) => Some(self.driver.launcher.at(place)?),
            None => hello.process,
        };
        let Some(process) = process else {
            let trains = |(id, troop): (&String, &crate::troop::Troop)| {
                (troop.crew.world > 0 && !troop.crew.stopping).then(|| id.clone())
            };
            let task = self.troops.iter().find_map(trains)?;
            self.next_process += 1;
            return Some((task, self.next_process - 1));
        };
        let known = self.troops.iter().find(|(_, troop)| troop.crew.members.contains_key(&process));
        if let Some((id, troop)) = known {
            // Two that claim one number: the first stays.
            let taken = troop.pids.get(&process).is_some_and(|pid| *pid != hello.pid);
            return (!taken).then(|| (id.clone(), process));
        }
        // One that was given up, or whose driver wrote nothing of it, may come back.
        let task = hello.task.as_ref()?;
        self.next_process = self.next_process.max(process + 1);
        self.troops.contains_key(task).then(|| (task.clone(), process))
    }

    fn take(&mut self, task: &str, process: u32, words: ToDriver) -> Result<(), ExecError> {
        let now = self.driver.clock.elapsed();
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        let member = troop.crew.members.get_mut(&process);
        match words {
            ToDriver::Hello(_) | ToDriver::Files => {}
            ToDriver::Said { number, event } => {
                let newest = troop.heard.entry(process).or_default();
                if number <= *newest {
                    // Said again, for the answer got lost with a line.
                    return Ok(());
                }
                *newest = number;
                let mut event = *event;
                troop.hears(&event);
                match &mut event {
                    Kind::Progress(progress) => progress.workers = troop.workers(),
                    // Told before, by this process or by one that led before it.
                    Kind::Epoch(epoch) if self.standing.knows(task, epoch) => return Ok(()),
                    _ => {}
                }
                self.note(Some(task), event)?;
            }
            ToDriver::Beat(beat) => {
                troop.beat(process, beat, now);
                let number = troop.heard.get(&process).copied().unwrap_or(0);
                troop.say(process, ToProcess::Heard { number });
            }
            ToDriver::Held(held) => {
                if let Some(line) = member.and_then(|member| member.line.as_mut()) {
                    line.held = Some(held);
                }
            }
            ToDriver::Broken { generation, process: blamed, problem } => {
                troop.crew.broke(generation, blamed, format!("process {process}: {problem}"));
            }
            ToDriver::Finished { generation } => {
                let leads = troop.crew.hosts.first() == Some(&Some(process));
                if leads && generation == troop.crew.generation {
                    troop.crew.phase = Phase::Over;
                    troop.killing_at = Some(now + LEAVING);
                    troop.say_to_all(&ToProcess::Leave);
                    self.spare_newcomers(task)?;
                }
            }
            ToDriver::Leaving if troop.crew.world == 0 => troop.say(process, ToProcess::Leave),
            ToDriver::Leaving => {
                member.into_iter().for_each(|member| member.leaving = true);
            }
            ToDriver::Farewell(farewell) => {
                troop.farewells.insert(process, farewell);
            }
        }
        Ok(())
    }

    /// A line is dead. Its process may call again, unless it has said farewell.
    fn hang_up(&mut self, task: &str, process: u32) -> Result<(), ExecError> {
        let now = self.driver.clock.elapsed();
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        troop.lines.remove(&process);
        if let Some(member) = troop.crew.members.get_mut(&process) {
            member.line = None;
            member.due = now
                + match troop.placed.contains(&process) {
                    true => PLACED_RECONNECT,
                    false => train::membership::RECONNECT,
                };
        }
        // Of one that came by itself nobody will tell that it has ended, and of others nobody soon.
        let untold = !troop.launched.contains(&process) || troop.placed.contains(&process);
        let left = troop.farewells.contains_key(&process) && untold;
        match troop.ended.remove(&process) {
            Some(how) => self.conclude(process, how),
            None if left => self.conclude(process, "left".into()),
            None => Ok(()),
        }
    }

    /// A process has ended. What it said before is heard first.
    pub(crate) fn conclude(&mut self, process: u32, how: String) -> Result<(), ExecError> {
        let with = |(_, troop): &(&String, &crate::troop::Troop)| {
            troop.crew.members.contains_key(&process)
        };
        let Some(task) = self.troops.iter().find(with).map(|(task, _)| task.clone()) else {
            return Ok(());
        };
        let Some(troop) = self.troops.get_mut(&task) else { return Ok(()) };
        if troop.lines.contains_key(&process) {
            troop.ended.insert(process, how);
            return Ok(());
        }
        let parting = troop.farewells.get(&process).map(|farewell| farewell.ending.clone());
        let over = matches!(troop.crew.phase, Phase::Over | Phase::Saving);
        match parting {
            // It was to save what it held.
            Some(Parting::Failed { reason }) if troop.crew.phase == Phase::Saving => {
                troop.saved = false;
                let reason = format!("process {process} failed: {reason}");
                self.note(Some(&task), Kind::ProcessLost { process, reason })?;
            }
            Some(Parting::Failed { reason }) if troop.launched.contains(&process) => {
                return self.fail(&task, reason);
            }
            // One that came by itself may lack what others have: the run's folder, or memory.
            Some(Parting::Failed { reason }) if !over => {
                return self.lose(&task, process, &format!("process {process} failed: {reason}"));
            }
            Some(Parting::Done) if troop.crew.world == 0 => troop.crew.phase = Phase::Over,
            Some(Parting::Stopped) if !over => {
                self.note(Some(&task), Kind::ProcessLeft { process })?;
            }
            None if !over => return self.lose(&task, process, &format!("process {process} {how}")),
            None => troop.saved = false,
            Some(_) => {}
        }
        self.forget(&task, process)
    }

    /// Those that have never called need not come any more: all are about to leave.
    pub(crate) fn spare_newcomers(&mut self, task: &str) -> Result<(), ExecError> {
        let Some(troop) = self.troops.get(task) else { return Ok(()) };
        let has_called = |process: &u32| troop.pids.contains_key(process);
        let newcomers = troop.crew.members.keys().copied().filter(|p| !has_called(p));
        for process in newcomers.collect::<Vec<_>>() {
            self.driver.launcher.kill(process);
            self.forget(task, process)?;
        }
        Ok(())
    }

    /// A process cannot start yet: those that are there begin without it.
    pub(crate) fn delay(&mut self, process: u32, reason: String) -> Result<(), ExecError> {
        let of = |troop: &mut crate::troop::Troop| {
            let member = troop.crew.members.get_mut(&process)?;
            member.delayed = true;
            Some(troop.task.id.clone())
        };
        match self.troops.values_mut().find_map(of) {
            Some(task) => self.note(Some(&task), Kind::Delayed { process, reason }),
            None => Ok(()),
        }
    }

    /// A process is not heard any more. Where all were told to leave, it need not be.
    pub(crate) fn give_up(
        &mut self,
        task: &str,
        process: u32,
        reason: &str,
    ) -> Result<(), ExecError> {
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        if !matches!(troop.crew.phase, Phase::Over | Phase::Saving) {
            return self.lose(task, process, reason);
        }
        troop.saved &= troop.farewells.contains_key(&process);
        self.forget(task, process)
    }

    /// A process has taken too long to leave. One that came by itself cannot be killed.
    pub(crate) fn let_go(&mut self, task: &str, process: u32) -> Result<(), ExecError> {
        self.driver.launcher.kill(process);
        match self.troops.get(task).is_some_and(|troop| troop.launched.contains(&process)) {
            true => Ok(()),
            false => self.give_up(task, process, "it took too long to leave"),
        }
    }

    /// A process is lost, and others take its place.
    fn lose(&mut self, task: &str, process: u32, reason: &str) -> Result<(), ExecError> {
        let kind = Kind::ProcessLost { process, reason: reason.to_owned() };
        self.note(Some(task), kind)?;
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        // Of one that came by itself and is not heard any more, it is not known that it died.
        let is_known = troop.launched.contains(&process) || troop.farewells.contains_key(&process);
        if is_known && troop.dies() {
            let deaths = troop.deaths;
            return self.fail(task, format!("{reason}; the {deaths}th in a row to get nowhere"));
        }
        self.forget(task, process)
    }

    /// A task cannot be done.
    fn fail(&mut self, task: &str, reason: String) -> Result<(), ExecError> {
        if let Some(troop) = self.troops.remove(task) {
            troop.crew.members.keys().for_each(|&process| self.driver.launcher.kill(process));
            self.driver.launcher.close(task);
        }
        self.note(Some(task), Kind::TaskFailed { reason })
    }

    /// Forgets a process; with the last one, its task has ended or was stopped.
    fn forget(&mut self, task: &str, process: u32) -> Result<(), ExecError> {
        let Some(troop) = self.troops.get_mut(task) else { return Ok(()) };
        troop.forget(process);
        self.end_if_all_left(task)
    }

    /// With the last of its processes, a task that was told to end has ended.
    pub(crate) fn end_if_all_left(&mut self, task: &str) -> Result<(), ExecError> {
        let now = self.driver.clock.elapsed();
        let Some(troop) = self.troops.get(task) else { return Ok(()) };
        if !troop.crew.members.is_empty() {
            if troop.crew.phase == Phase::Saving {
                troop.dismiss_servers();
            }
            return Ok(());
        }
        let end = match troop.crew.phase {
            Phase::Over => troop.done(now),
            Phase::Saving => troop.stopped(),
            _ => return Ok(()),
        };
        self.troops.remove(task);
        self.driver.launcher.close(task);
        self.note(Some(task), end)
    }
}
