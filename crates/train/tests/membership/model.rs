//! A driver that does what is decided, without any process: what those say is made up.

use std::time::Duration;

use collective::Contact;
use train::membership::{Crew, Decision, Limits, Line, Member, Phase, decide};
use train::message::{Beat, Formation, Held, Mark};

/// Something that happens to a crew.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// Time passes.
    Pass(Duration),
    /// A process calls, for the first time or again.
    Call(usize),
    /// A process comes by itself.
    Join,
    /// A line is cut.
    Cut(usize),
    /// A process gives a sign of life: whether it moved, and whether it waits.
    Beat(usize, bool, bool),
    /// A process says what it holds, if it was asked: how far it is, if it holds anything, and how far
    /// beyond that a rank has gone by itself.
    Answer(usize, Option<u64>, u64),
    /// Everybody answers who has not.
    AnswerAll(u64),
    /// A process is asked to leave.
    Leave(usize),
    /// A process dies.
    Die(usize),
    /// A member says that the group broke, and blames one.
    Break(Option<usize>),
    /// A checkpoint was told.
    Save(u64),
    /// The user asks to stop.
    Stop,
}

/// A crew and what has been decided about it.
pub(crate) struct Model {
    pub(crate) crew: Crew,
    pub(crate) limits: Limits,
    pub(crate) now: Duration,
    pub(crate) formed: Vec<Formation>,
    next: u32,
}

impl Model {
    pub(crate) fn new(world: usize, wanted: usize) -> Self {
        let crew = Crew::new(world, wanted, 0);
        let (limits, now) = (Limits::default(), Duration::ZERO);
        Model { crew, limits, now, formed: vec![], next: 0 }
    }

    /// Does everything that is to be done now, and checks each thing. How many those were.
    pub(crate) fn lead(&mut self) -> usize {
        // Everybody may be lost, be replaced, and the group be formed anew.
        let bound = 3 * (self.crew.members.len() + self.crew.wanted) + 10;
        for count in 0..bound {
            let (decision, reason) = decide(self.now, &self.crew, &self.limits);
            assert!(!reason.is_empty());
            if decision == Decision::Wait {
                return count;
            }
            self.carry_out(decision);
        }
        panic!("there is no end to what is to be done: {:#?}", self.crew);
    }

    fn carry_out(&mut self, decision: Decision) {
        match decision {
            Decision::Wait => {}
            Decision::Start(count) => {
                assert!(!self.crew.stopping, "nobody is started when all are to leave");
                let due = self.now + self.limits.arrival;
                (0..count).for_each(|_| self.add(due));
            }
            Decision::StartServers(_) => panic!("there are no servers here"),
            Decision::GiveUp(process) => {
                assert!(self.may_be_given_up(process), "{process} of {:#?}", self.crew);
                self.crew.remove(process);
            }
            Decision::SetAside(process) => {
                assert!(self.crew.stumbles > 0, "{process} of {:#?}", self.crew);
                self.crew.set_aside(process, self.now);
                self.crew.remove(process);
            }
            Decision::Dismiss(source) => {
                assert!(self.crew.wanted == 0 && self.crew.members.values().all(|m| m.leaving));
                assert_eq!(source, self.newest().map(|(_, process)| process));
                self.crew.members.clear();
            }
            Decision::Halt(generation) => {
                assert!(generation > self.crew.generation, "generations only grow");
                self.crew.halted(generation, self.now);
            }
            Decision::Form(formation) => {
                self.check(&formation);
                self.crew.formed(&formation, self.now);
                self.formed.push(formation);
            }
            Decision::Save(whole) => {
                assert!(self.crew.stopping);
                assert_eq!(whole, self.newest().map(|(_, process)| process));
                self.crew.phase = Phase::Saving;
            }
        }
    }

    fn add(&mut self, due: Duration) {
        self.crew.members.insert(self.next, Member::new(due, false));
        self.next += 1;
    }

    /// Silent or late.
    fn may_be_given_up(&self, process: u32) -> bool {
        let member = &self.crew.members[&process];
        match &member.line {
            Some(line) => self.now - line.heard > self.limits.silence,
            None => self.now > member.due,
        }
    }

    /// How far the process is that holds the newest state, and which it is; what is older than the
    /// newest checkpoint is as good as nothing.
    fn newest(&self) -> Option<(Mark, u32)> {
        let held = |(&process, member): (&u32, &Member)| {
            let mark = member.line.as_ref()?.held.as_ref()?.mark?;
            let key = (mark, !member.leaving, std::cmp::Reverse(process));
            (Some(mark.step) >= self.crew.saved).then_some(key)
        };
        let newest = self.crew.members.iter().filter_map(held).max();
        newest.map(|(mark, _, std::cmp::Reverse(process))| (mark, process))
    }

    fn check(&self, formation: &Formation) {
        let generations = self.formed.iter().map(|formed| formed.generation);
        assert!(generations.max().is_none_or(|newest| newest < formation.generation));
        assert_eq!(formation.generation, self.crew.generation);
        let mut ranks: Vec<usize> = formation.seats.iter().flat_map(|s| s.ranks.clone()).collect();
        ranks.sort_unstable();
        assert!(ranks.into_iter().eq(0..self.crew.world), "every rank has one host: {formation:?}");
        let held = |process: u32| {
            let line = self.crew.members[&process].line.as_ref();
            line.expect("it has a line").held.as_ref().expect("it has answered")
        };
        for seat in &formation.seats {
            assert_eq!(held(seat.process).generation, formation.generation);
            let leaving = self.crew.members[&seat.process].leaving;
            assert!(seat.ranks.is_empty() || !leaving, "who leaves hosts nothing: {formation:?}");
        }
        let newest = self.newest();
        assert_eq!(formation.mark, newest.map(|(mark, _)| mark));
        if let Some((_, process)) = newest {
            assert_eq!(formation.source, process);
        }
        assert!(formation.seat_of(formation.source).is_some());
        let lacks = |process: u32| formation.mark.is_none() || held(process).mark != formation.mark;
        let others = formation.seats.iter().filter(|seat| seat.process != formation.source);
        assert_eq!(formation.share, others.map(|seat| seat.process).any(lacks));
        for moved in &formation.moves {
            let reached = |process| {
                let replicas = held(process).replicas.iter();
                replicas.filter(|(rank, _)| *rank == moved.rank).map(|(_, step)| *step).max()
            };
            let own = reached(moved.to).filter(|_| !lacks(moved.to));
            assert!(!lacks(moved.from) && reached(moved.from) > own, "{formation:?}");
            assert!(
                formation.seats[formation.seat_of(moved.to).unwrap()].ranks.contains(&moved.rank)
            );
        }
    }

    pub(crate) fn happen(&mut self, happening: &Happening) {
        match *happening {
            Happening::Pass(time) => self.now += time,
            Happening::Join => {
                self.add(self.now);
                self.call(self.next - 1);
            }
            Happening::Stop => self.crew.stopping = true,
            Happening::Save(step) => {
                // Nobody saves what has not been reached.
                let reached = self.newest().map(|(mark, _)| mark.step.min(step));
                self.crew.saved = self.crew.saved.max(reached);
            }
            Happening::AnswerAll(step) => {
                let processes: Vec<u32> = self.crew.members.keys().copied().collect();
                processes.into_iter().for_each(|process| self.answer(process, Some(step), 0));
            }
            Happening::Call(n) => self.any(n, Model::call),
            Happening::Cut(n) => self.any(n, Model::cut),
            Happening::Die(n) => self.any(n, |model, process| {
                model.crew.remove(process);
            }),
            Happening::Leave(n) => self.any(n, |model, process| {
                if let Some(member) = model.crew.members.get_mut(&process) {
                    member.leaving = true;
                }
            }),
            Happening::Beat(n, moves, waits) => self.any(n, |model, process| {
                let line = model.crew.members[&process].line.as_ref();
                let moved = line.map_or(0, |line| line.beat.moves) + u64::from(moves);
                model.crew.beat(
                    process,
                    Beat { moves: moved, waits, ..Beat::default() },
                    model.now,
                );
            }),
            Happening::Answer(n, step, beyond) => {
                self.any(n, |model, process| model.answer(process, step, beyond));
            }
            Happening::Break(blamed) => {
                let blamed = blamed.and_then(|n| self.pick(n));
                self.crew.broke(self.crew.generation, blamed, "it broke".into());
            }
        }
    }

    fn any(&mut self, n: usize, act: impl FnOnce(&mut Model, u32)) {
        if let Some(process) = self.pick(n) {
            act(self, process);
        }
    }

    fn pick(&self, n: usize) -> Option<u32> {
        self.crew.members.keys().copied().nth(n % self.crew.members.len().max(1))
    }

    fn call(&mut self, process: u32) {
        let generation = self.crew.generation;
        let formed = matches!(self.crew.phase, Phase::Formed { .. });
        let Some(member) = self.crew.members.get_mut(&process) else { return };
        let contact =
            Contact { address: format!("there:{process}"), fingerprint: String::new(), host: None };
        member.line = Some(Line::new(contact, self.now));
        if formed && member.seated {
            self.crew.broke(generation, None, "cut off".into());
        }
    }

    fn cut(&mut self, process: u32) {
        if let Some(member) = self.crew.members.get_mut(&process)
            && member.line.take().is_some()
        {
            member.due = self.now + train::membership::RECONNECT;
        }
    }

    fn answer(&mut self, process: u32, step: Option<u64>, beyond: u64) {
        let (generation, world) = (self.crew.generation, self.crew.world);
        let line = self.crew.members.get_mut(&process).and_then(|member| member.line.as_mut());
        if let Some(line) = line
            && self.crew.phase == Phase::Halted
            && generation > 0
        {
            let mark = step.map(|step| Mark { step, epoch_step: 0 });
            let rank = process as usize % world;
            let replicas = mark.map(|mark| (rank, mark.step + beyond)).filter(|_| beyond > 0);
            let replicas = replicas.into_iter().collect();
            line.held = Some(Held { generation, mark, replicas, keeps: None });
        }
    }
}
