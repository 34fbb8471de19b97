//! Processes that the driver hears and others cannot reach: a cable that carries one way only, a wall
//! between two hosts. Groups with them break, one after the other, and each of them would call again
//! as soon as it was given up. So it stands by instead: no group needs it until some time has passed, the
//! longer the more often it was tried, or until there is nobody else.

use std::time::Duration;

use super::Crew;

/// How long one stands by that was set aside for the first time, and at most.
const FIRST: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(600);

/// How long a process is to stand by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Until when.
    pub until: Duration,
    /// How often that was, one after the other.
    pub times: u32,
}

impl Crew {
    /// Takes note that others cannot reach a process.
    pub fn set_aside(&mut self, process: u32, now: Duration) {
        let times = self.aside.get(&process).map_or(0, |aside| aside.times);
        let time = FIRST.saturating_mul(1 << times.min(16)).min(LONGEST);
        self.aside.insert(process, Aside { until: now + time, times: times + 1 });
    }

    /// Takes note that work goes on: whoever takes part can be reached.
    pub(super) fn reconcile(&mut self) {
        let members = &self.members;
        self.aside.retain(|process, _| !members.get(process).is_some_and(|member| member.seated));
    }

    /// The crew as if nobody were there who is set aside; none where that changes nothing, or leaves
    /// nobody to work.
    pub(super) fn without_those_aside(&self, now: Duration) -> Option<Crew> {
        let aside = |process: &u32| self.aside.get(process).is_some_and(|aside| now < aside.until);
        if !self.members.keys().any(aside) {
            return None;
        }
        let mut crew = self.clone();
        crew.members.retain(|process, _| !aside(process));
        (!crew.usable().is_empty()).then_some(crew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::{Decision, Limits, Line, Member, Phase, decide};
    use crate::message::{Beat, Formation, Held};

    const SECOND: Duration = Duration::from_secs(1);

    /// A process that is heard and has answered the halt of a generation.
    fn member(now: Duration, generation: u64) -> Member {
        let contact =
            collective::Contact { address: String::new(), fingerprint: String::new(), host: None };
        let held = Some(Held { generation, ..Held::default() });
        let line =
            Line { heard: now, contact, beat: Beat::default(), lively: now, moved: now, held };
        Member { line: Some(line), ..Member::new(now, false) }
    }

    /// Has all of `processes` answer, and forms the group that is then decided upon.
    fn form(crew: &mut Crew, processes: &[u32], now: Duration) -> Result<Formation, Box<Decision>> {
        let generation = crew.generation;
        crew.members.extend(processes.iter().map(|&process| (process, member(now, generation))));
        match decide(now, crew, &Limits::default()).0 {
            Decision::Form(formation) => {
                crew.formed(&formation, now);
                Ok(formation)
            }
            other => Err(Box::new(other)),
        }
    }

    fn seats(formation: &Formation) -> Vec<u32> {
        formation.seats.iter().map(|seat| seat.process).collect()
    }

    /// The group breaks, for somebody cannot reach process 2.
    fn stumble(crew: &mut Crew) {
        crew.broke(crew.generation, Some(2), "process 3: process 2 cannot be reached".into());
        crew.halted(crew.generation + 1, SECOND);
    }

    #[test]
    fn one_that_others_cannot_reach_stands_by_and_is_tried_again() {
        let mut crew = Crew::new(3, 0, 0);
        crew.generation = 1;
        let mut now = SECOND;
        for _ in 0..3 {
            assert_eq!(seats(&form(&mut crew, &[1, 2, 3], now).unwrap()), [1, 2, 3]);
            stumble(&mut crew);
        }
        assert_eq!(*form(&mut crew, &[1, 2, 3], now).unwrap_err(), Decision::SetAside(2));
        crew.set_aside(2, now);
        crew.remove(2);
        // It calls again at once, and the others go on without it.
        assert_eq!(seats(&form(&mut crew, &[1, 2, 3], now).unwrap()), [1, 3]);
        assert_eq!(decide(now, &crew, &Limits::default()).0, Decision::Wait);
        now += FIRST + SECOND;
        crew.members.values_mut().for_each(|m| m.line.as_mut().unwrap().heard = now);
        let beat = Beat { moves: 1, ..Beat::default() };
        crew.beat(1, beat, now);
        assert_eq!(decide(now, &crew, &Limits::default()).0, Decision::Halt(5));
        crew.halted(5, now);
        assert_eq!(seats(&form(&mut crew, &[1, 2, 3], now).unwrap()).len(), 3);
        // Once is enough this time, and it stands by for longer.
        stumble(&mut crew);
        assert_eq!(*form(&mut crew, &[1, 2, 3], now).unwrap_err(), Decision::SetAside(2));
        crew.set_aside(2, now);
        assert_eq!(crew.aside[&2], Aside { until: now + 2 * FIRST, times: 2 });
    }

    #[test]
    fn it_is_taken_when_there_is_nobody_else_and_forgiven_when_work_goes_on() {
        let mut crew = Crew::new(2, 0, 0);
        crew.generation = 1;
        crew.set_aside(2, SECOND);
        assert_eq!(seats(&form(&mut crew, &[1, 2], SECOND).unwrap()), [1]);
        crew.remove(1);
        crew.halted(2, SECOND);
        assert_eq!(seats(&form(&mut crew, &[2], SECOND).unwrap()), [2]);
        assert!(matches!(crew.phase, Phase::Formed { .. }));
        crew.beat(2, Beat { moves: 1, ..Beat::default() }, SECOND);
        assert!(crew.aside.is_empty());
    }
}
