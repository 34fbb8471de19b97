//! What to do next about a group, and why.

use std::time::Duration;

use super::{Crew, Phase, form};
use crate::message::Formation;

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// From a process's start to its first words.
    pub arrival: Duration,
    /// From the start of a driver to the first words of a process that an earlier one started.
    pub reunion: Duration,
    /// Between two signs of life.
    pub silence: Duration,
    /// For which all may wait for each other, and nothing move.
    pub stall: Duration,
    /// How many groups in a row may break before one of their members is taken out.
    pub stumbles: u32,
    /// How long a process may do nothing although it gives signs of life.
    pub stuck: Duration,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing, for now.
    Wait,
    /// Start so many processes of workers.
    Start(usize),
    /// Start so many servers.
    StartServers(usize),
    /// Give a process up.
    GiveUp(u32),
    /// Give a process up that others cannot reach; should it come back, it stands by for a while.
    SetAside(u32),
    /// Have those that leave save what they hold and go, for there is nobody to hand it to; this one
    /// saves what all ranks share.
    Dismiss(Option<u32>),
    /// Ask everybody to halt, and announce this generation.
    Halt(u64),
    /// Form a group.
    Form(Formation),
    /// Have all save and leave; this one saves what all share.
    Save(Option<u32>),
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            arrival: Duration::from_secs(30),
            reunion: Duration::from_millis(2500),
            silence: Duration::from_millis(2500),
            stall: Duration::from_secs(2),
            stuck: Duration::from_secs(1800),
            stumbles: 3,
        }
    }
}

/// The next thing to do, and the reason in words.
pub fn decide(now: Duration, crew: &Crew, limits: &Limits) -> (Decision, String) {
    if let Some(lost) = lost(now, crew, limits).or_else(|| stuck(now, crew, limits)) {
        return lost;
    }
    if crew.phase == Phase::Over || crew.phase == Phase::Saving {
        return wait("all were told to leave");
    }
    let near = crew.without_those_aside(now);
    let crew = near.as_ref().unwrap_or(crew);
    let staying = |serves| {
        crew.members.values().filter(|member| !member.leaving && member.serves == serves).count()
    };
    let missing = (
        crew.wanted.saturating_sub(staying(false)),
        crew.keepers.len().saturating_sub(staying(true)),
    );
    match missing {
        _ if crew.stopping => {}
        (_, servers @ 1..) => {
            return (Decision::StartServers(servers), format!("{servers} servers are missing"));
        }
        (workers @ 1.., _) => {
            return (Decision::Start(workers), format!("{workers} more to make {}", crew.wanted));
        }
        (0, 0) => {}
    }
    if crew.world == 0 {
        return match crew.stopping {
            true => (Decision::Save(None), "asked to stop".into()),
            false => wait("one process works alone"),
        };
    }
    match &crew.phase {
        Phase::Formed { at, broken } => watch(now, crew, limits, (*at, broken.as_deref())),
        _ => gather(crew, limits),
    }
}

/// A process that has not been heard for too long.
fn lost(now: Duration, crew: &Crew, limits: &Limits) -> Option<(Decision, String)> {
    crew.members.iter().find_map(|(&process, member)| {
        let (late, reason) = match &member.line {
            Some(line) => {
                let silence = now.saturating_sub(line.heard);
                let seconds = silence.as_secs_f64();
                let reason = format!("process {process} has not been heard for {seconds:.1} s");
                (silence > limits.silence, reason)
            }
            None => (now > member.due, format!("process {process} has not called")),
        };
        late.then_some((Decision::GiveUp(process), reason))
    })
}

/// A process that gives signs of life and has done nothing for a very long time: what it reads from
/// does not answer, or it goes in a circle.
fn stuck(now: Duration, crew: &Crew, limits: &Limits) -> Option<(Decision, String)> {
    let owes = |member: &super::Member, line: &super::Line| match &crew.phase {
        Phase::Formed { .. } => member.seated && !line.beat.waits,
        Phase::Halted => crew.generation > 0 && !has_answered(crew, line),
        Phase::Saving | Phase::Over => false,
    };
    let late = |line: &super::Line| now.saturating_sub(line.moved) > limits.stuck;
    let found = crew.lines().find(|(_, member, line)| late(line) && owes(member, line));
    found.map(|(process, ..)| {
        let minutes = limits.stuck.as_secs() / 60;
        let reason = format!("process {process} has done nothing for {minutes} minutes");
        (Decision::GiveUp(process), reason)
    })
}

/// Whether a process has said what it holds since all were asked.
fn has_answered(crew: &Crew, line: &super::Line) -> bool {
    line.held.as_ref().is_some_and(|held| held.generation == crew.generation)
}

/// While a group works: whether it has to be another.
fn watch(
    now: Duration,
    crew: &Crew,
    limits: &Limits,
    (at, broken): (Duration, Option<&str>),
) -> (Decision, String) {
    let halt = |reason: String| (Decision::Halt(crew.generation + 1), reason);
    if crew.stopping {
        return halt("asked to stop".into());
    }
    if let Some(problem) = broken {
        return halt(problem.to_owned());
    }
    let hosts = crew.hosts.iter().chain(&crew.keepers).flatten();
    if let Some(gone) = hosts.clone().find(|host| !crew.members.contains_key(host)) {
        return halt(format!("process {gone} is gone"));
    }
    let leaves = |host: &&u32| crew.members.get(host).is_some_and(|member| member.leaving);
    if let Some(leaving) = hosts.clone().find(leaves) {
        return halt(format!("process {leaving} leaves"));
    }
    let seated = || crew.lines().filter(|(_, member, _)| member.seated);
    let lively = seated().map(|(_, _, line)| line.lively).max().unwrap_or(at).max(at);
    if now.saturating_sub(lively) > limits.stall && seated().all(|(_, _, line)| line.beat.waits) {
        let seconds = (now - lively).as_secs_f64();
        return halt(format!("all have waited for each other for {seconds:.1} s"));
    }
    let places = seated().count() < crew.world;
    let newcomer = crew.usable().into_iter().find(|process| !crew.members[process].seated);
    match newcomer {
        Some(newcomer) if places => halt(format!("process {newcomer} joins")),
        _ => wait("the group works"),
    }
}

/// While there is no group: whether one can be formed.
fn gather(crew: &Crew, limits: &Limits) -> (Decision, String) {
    if crew.generation == 0 && crew.stopping {
        return (Decision::Save(None), "nothing has begun".into());
    }
    if crew.generation == 0 && crew.lines().next().is_some() {
        return (Decision::Halt(1), "the first process is there".into());
    }
    let unanswered = crew.lines().find(|(.., line)| !has_answered(crew, line));
    if let Some((process, ..)) = unanswered {
        return wait(&format!("process {process} has not said what it holds"));
    }
    let servers = form::servers(crew);
    // What servers hold is whole only where all of them are there.
    let whole = servers.as_ref().and_then(|servers| form::whole(crew, servers));
    if crew.stopping {
        return (Decision::Save(whole), "all have halted".into());
    }
    let usable = crew.usable();
    if usable.is_empty() {
        let leaves = crew.lines().any(|(_, member, _)| member.leaving && !member.serves);
        return match leaves && crew.wanted == 0 {
            true => (Decision::Dismiss(whole), "nobody else is there".into()),
            false => wait("no process is there"),
        };
    }
    if servers.is_none() {
        return wait("a server has not arrived");
    }
    if usable.len() + crew.keepers.len() > 1 {
        let blamed = crew.blamed.filter(|blamed| crew.members.contains_key(blamed));
        let process = blamed.or(usable.last().copied()).unwrap_or_default();
        // Of one that was set aside before, once is enough.
        let limit = if crew.aside.contains_key(&process) { 1 } else { limits.stumbles };
        if crew.stumbles >= limit {
            let reason = format!("{} groups with process {process} broke", crew.stumbles);
            return (Decision::SetAside(process), reason);
        }
    }
    let survivors = whole.is_some();
    let unarrived = |(_, m): &(&u32, &super::Member)| m.line.is_none() && !m.delayed;
    match crew.members.iter().find(unarrived) {
        // Whoever holds something goes on at once; a newcomer joins later.
        Some((process, _)) if !survivors => wait(&format!("process {process} has not arrived")),
        _ => (Decision::Form(form::formation(crew)), "all have said what they hold".into()),
    }
}

fn wait(reason: &str) -> (Decision, String) {
    (Decision::Wait, reason.to_owned())
}
