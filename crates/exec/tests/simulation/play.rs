//! One seed played: machines are started and switched off, links cut and mended, between the moments of
//! the simulation, until the run is done and everybody has gone home.

mod machines;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exec::Ending;
use plan::Plan;
use store::RunDir;
use train::Kind;
use turmoil::{Builder, Sim};

use crate::faults::{Ends, Fault, Manner, What, When};
use crate::yard::{State, Wish, Yard};
use machines::name_of;

/// A moment of the simulation.
const MOMENT: Duration = Duration::from_millis(5);
/// No run takes longer, whatever goes wrong.
const LIMIT: Duration = Duration::from_secs(400);
/// When a run is done, everybody has gone home within this time.
const HOME: Duration = Duration::from_secs(60);

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(vec![]) };
}

/// Remembers what panics say, for a task that panics takes only itself down.
pub(crate) fn listen_for_panics() {
    std::panic::set_hook(Box::new(|panic| {
        PANICS.with_borrow_mut(|panics| panics.push(panic.to_string()));
    }));
}

/// What is played.
pub(crate) struct Scene {
    pub(crate) seed: u64,
    pub(crate) plan: Arc<Plan>,
    pub(crate) run: RunDir,
    pub(crate) manner: Manner,
    pub(crate) faults: Vec<Fault>,
    pub(crate) aloud: bool,
}

/// Plays it. An error is a problem that no run may have.
pub(crate) fn play(scene: Scene) -> Result<(), String> {
    let panicked = |panics: Vec<String>| match panics.is_empty() {
        true => Ok(()),
        false => Err(format!("panicked: {}", panics.join("; "))),
    };
    PANICS.with_borrow_mut(Vec::clear);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Play::new(scene).run()));
    panicked(PANICS.take())?;
    played.unwrap_or_else(|_| Err("panicked".into()))
}

struct Play {
    sim: Sim<'static>,
    yard: Yard,
    plan: Arc<Plan>,
    run: RunDir,
    manner: Manner,
    /// What will happen, in the order of time.
    agenda: BTreeMap<(Duration, u64), Deed>,
    deeds: u64,
    /// What will happen after signs that have not been seen yet.
    waiting: Vec<(Fault, u64)>,
    driver: Option<(String, Arc<AtomicUsize>)>,
    drivers: u64,
    /// When another driver comes after one that was stopped.
    back: Duration,
    done_at: Option<Duration>,
}

/// What happens between two moments.
enum Deed {
    Drive,
    Start(u32),
    Kill(u32),
    Fault(What),
    /// Links are as they were.
    Mend(Vec<(String, String)>, Repair),
}

#[derive(Clone, Copy)]
enum Repair {
    Cut,
    Slow,
}

impl Play {
    fn new(scene: Scene) -> Self {
        let Scene { seed, plan, run, manner, faults, aloud } = scene;
        let (least, most) = manner.latency;
        let sim = Builder::new()
            .rng_seed(seed)
            .enable_random_order()
            .tick_duration(MOMENT)
            .simulation_duration(2 * LIMIT)
            .tcp_capacity(4096)
            .min_message_latency(least)
            .max_message_latency(most)
            .build();
        let mut play = Play {
            sim,
            yard: Yard::new(aloud),
            plan,
            run,
            manner,
            agenda: BTreeMap::new(),
            deeds: 0,
            waiting: vec![],
            driver: None,
            drivers: 0,
            back: Duration::ZERO,
            done_at: None,
        };
        play.schedule(Duration::ZERO, Deed::Drive);
        for fault in faults {
            play.yard.tell(&format!("planned: {fault:?}"));
            match fault.when {
                When::At(at) => play.schedule(at, Deed::Fault(fault.what)),
                When::After(..) => play.waiting.push((fault, 0)),
            }
        }
        play
    }

    fn schedule(&mut self, at: Duration, deed: Deed) {
        self.deeds += 1;
        self.agenda.insert((at, self.deeds), deed);
    }

    fn run(mut self) -> Result<(), String> {
        loop {
            let now = self.sim.elapsed();
            self.yard.books().now = now;
            self.see_to_wishes(now);
            self.look_for_signs(now);
            while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= now) {
                let deed = entry.remove();
                self.carry_out(deed, now);
            }
            self.switch_off();
            self.see_how_the_driver_ended(now)?;
            let living = self.yard.books().machines.values().filter(|m| m.lives()).count();
            match self.done_at {
                Some(_) if living == 0 => return Ok(()),
                Some(at) if now > at + HOME => {
                    return Err(format!("{living} processes stay though the run is done"));
                }
                None if now > LIMIT => return Err("the run does not end".into()),
                _ => {}
            }
            self.sim.step().map_err(|error| format!("the simulation broke: {error}"))?;
        }
    }

    fn see_to_wishes(&mut self, now: Duration) {
        let wishes = std::mem::take(&mut self.yard.books().wishes);
        for wish in wishes {
            match wish {
                Wish::Start(pid) => {
                    self.schedule(now + self.manner.machine(pid).0, Deed::Start(pid))
                }
                Wish::Kill(pid) => self.schedule(now + self.manner.killing, Deed::Kill(pid)),
            }
        }
    }

    fn look_for_signs(&mut self, now: Duration) {
        let news: Vec<Kind> = std::mem::take(&mut self.yard.books().news);
        let mut due = vec![];
        self.waiting.retain_mut(|(fault, seen)| {
            let When::After(sign, times, delay) = fault.when else { return false };
            *seen += news.iter().filter(|kind| sign.is(kind)).count() as u64;
            let is_due = *seen >= times;
            if is_due {
                due.push((now + delay, fault.what.clone()));
            }
            !is_due
        });
        due.into_iter().for_each(|(at, what)| self.schedule(at, Deed::Fault(what)));
    }

    fn carry_out(&mut self, deed: Deed, now: Duration) {
        match deed {
            Deed::Drive => self.start_driver(),
            Deed::Start(pid) => self.start_process(pid),
            Deed::Kill(pid) => self.end_process(pid, State::Gone),
            Deed::Mend(pairs, repair) => {
                for (a, b) in pairs {
                    match repair {
                        Repair::Cut => {
                            self.sim.release(a.as_str(), b.as_str());
                            self.sim.repair(a.as_str(), b.as_str());
                        }
                        Repair::Slow => {
                            let usual = self.manner.latency.1;
                            self.sim.set_link_latency(a.as_str(), b.as_str(), usual);
                        }
                    }
                }
            }
            Deed::Fault(_) if self.done_at.is_some() => {}
            Deed::Fault(what) => {
                self.yard.tell(&format!("FAULT {what:?}"));
                self.go_wrong(what, now);
            }
        }
    }

    fn go_wrong(&mut self, what: What, now: Duration) {
        match what {
            What::Crash { process, vanishes } => {
                let state = if vanishes { State::Vanished } else { State::Gone };
                if let Some(pid) = self.pick(process) {
                    self.end_process(pid, state);
                }
            }
            What::CrashDriver { vanishes, back } => self.crash_driver(vanishes, now + back),
            What::Cut { ends, lossy, lasts } => {
                let pairs = self.links(ends);
                for (a, b) in &pairs {
                    match lossy {
                        true => self.sim.partition(a.as_str(), b.as_str()),
                        false => self.sim.hold(a.as_str(), b.as_str()),
                    }
                }
                self.schedule(now + lasts, Deed::Mend(pairs, Repair::Cut));
            }
            What::Slow { ends, by, lasts } => {
                let pairs = self.links(ends);
                for (a, b) in &pairs {
                    self.sim.set_link_latency(a.as_str(), b.as_str(), by);
                }
                self.schedule(now + lasts, Deed::Mend(pairs, Repair::Slow));
            }
            What::Double { process } => {
                let number = {
                    let books = self.yard.books();
                    let numbers: Vec<u32> =
                        books.machines.values().filter_map(|machine| machine.process).collect();
                    numbers.get(process as usize % numbers.len().max(1)).copied()
                };
                let pid = number.map(|number| self.yard.plan(Some(number)));
                pid.into_iter().for_each(|pid| self.start_process(pid));
            }
            What::Volunteer => {
                let pid = self.yard.plan(None);
                self.start_process(pid);
            }
            What::Leave { process } => {
                if let Some(pid) = self.pick(process) {
                    self.yard.tell(&format!("{} is asked to leave", name_of(pid)));
                    self.yard.books().machines[&pid].stop.send_replace(true);
                }
            }
            What::Stop { twice, back } => {
                if let Some((_, stop)) = &self.driver {
                    stop.fetch_add(1 + usize::from(twice), Ordering::SeqCst);
                    self.back = back;
                }
            }
        }
    }

    /// A process that runs now, told by any number.
    fn pick(&self, number: u64) -> Option<u32> {
        let books = self.yard.books();
        let runs = books.machines.iter().filter(|(_, machine)| machine.state == State::Runs);
        let pids: Vec<u32> = runs.map(|(&pid, _)| pid).collect();
        pids.get(number as usize % pids.len().max(1)).copied()
    }

    fn links(&self, ends: Ends) -> Vec<(String, String)> {
        let driver = self.driver.as_ref().map(|(name, _)| name.clone());
        let process = |number| self.pick(number).map(name_of);
        match ends {
            Ends::Processes(a, b) => {
                process(a).zip(process(b)).filter(|(a, b)| a != b).into_iter().collect()
            }
            Ends::ToDriver(a) => process(a).zip(driver).into_iter().collect(),
            Ends::Alone(a) => {
                let Some(alone) = process(a) else { return vec![] };
                let books = self.yard.books();
                let runs = books.machines.iter().filter(|(_, m)| m.state == State::Runs);
                let others = runs.map(|(&pid, _)| name_of(pid)).filter(|other| *other != alone);
                others.chain(driver).map(|other| (alone.clone(), other)).collect()
            }
        }
    }

    fn see_how_the_driver_ended(&mut self, now: Duration) -> Result<(), String> {
        let Some(outcome) = self.yard.books().outcome.take() else { return Ok(()) };
        if let Some((name, _)) = self.driver.take() {
            self.sim.crash(name.as_str());
        }
        match outcome? {
            Ending::Done(_) => self.done_at = Some(now),
            Ending::Stopped => self.schedule(now + self.back, Deed::Drive),
            Ending::Failed(reason) => return Err(format!("the run failed: {reason}")),
        }
        Ok(())
    }
}
