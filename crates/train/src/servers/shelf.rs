//! What one server holds, and everything it decides. Pure: requests in, answers out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use collective::{Note, canonical_sum};
use engine::{Clip, Cpu, Optimizer, Trained};

use super::State;
use super::request::{Answer, Request};

/// How updates are made.
pub(crate) struct Rules {
    pub(crate) optimizer: spec::Optimizer,
    /// Which of all weights are trained.
    pub(crate) trained: Trained,
    /// The size of an update, by its number.
    pub(crate) rate: Box<dyn Fn(u64) -> f32 + Send>,
    pub(crate) clip: Option<Clip>,
    /// How many gradients make an update; none where every one does, at once.
    pub(crate) turns: Option<usize>,
    /// How many updates there are.
    pub(crate) steps: u64,
}

/// A range of the weights.
pub(crate) struct Shelf {
    rules: Rules,
    cpu: Cpu,
    optimizer: Optimizer,
    state: State,
    /// The state before the last update, where updates are made together.
    before: Option<State>,
    /// What has come for the next update, by turn.
    pushed: BTreeMap<u64, (Note, Vec<f32>)>,
    /// The processes that are at the next update.
    arrived: BTreeSet<u64>,
    /// How many there are.
    members: u64,
    /// The sum of what has come, once all has.
    sum: Option<Vec<f32>>,
    /// The sum of squares of the newest of those, and of which update it is: whoever is slow may ask
    /// for it when another has had the update made.
    last_squares: Option<(u64, f64)>,
    /// What the turns of the last update counted.
    notes: Vec<Note>,
}

/// What to do with a request.
pub(crate) enum Reply {
    /// Answer it.
    Now(Answer),
    /// There is nothing to answer.
    Nothing,
    /// Ask this again when something has come.
    Later(Request),
}

impl Shelf {
    /// Holds nothing yet.
    pub(crate) fn new(rules: Rules, cpu: Cpu) -> Self {
        Shelf {
            optimizer: Optimizer::new(rules.optimizer, 0),
            rules,
            cpu,
            state: State::default(),
            before: None,
            pushed: BTreeMap::new(),
            arrived: BTreeSet::new(),
            members: 1,
            sum: None,
            last_squares: None,
            notes: vec![],
        }
    }

    /// The steps it could go on from, oldest first; none where it holds nothing.
    pub(crate) fn holds(&self) -> Vec<u64> {
        if self.state.weights.is_empty() {
            return vec![];
        }
        let before = self.before.as_ref().map(|state| state.step);
        before.into_iter().chain([self.state.step]).collect()
    }

    /// Forgets what had come for an update: the group it came from is no more.
    pub(crate) fn begin_again(&mut self) {
        self.pushed.clear();
        self.arrived.clear();
        self.sum = None;
        self.last_squares = None;
    }

    /// Takes a request of the process on a line.
    pub(crate) fn take(&mut self, line: u64, request: Request) -> Reply {
        match request {
            Request::Join { members, .. } => {
                self.members = members;
                Reply::Nothing
            }
            Request::Push { step, turn, rank, note, gradient } => match self.rules.turns {
                None if gradient.len() != self.state.weights.len() => Reply::Now(Answer::No),
                None => self.update_at_once(rank, &gradient),
                Some(_) if step != self.state.step => Reply::Nothing,
                Some(turns) => {
                    if turn < turns as u64 && gradient.len() == self.state.weights.len() {
                        self.pushed.insert(turn, (note, gradient));
                    }
                    self.arrived.insert(line);
                    self.sum_up(turns);
                    Reply::Nothing
                }
            },
            Request::Squares { step } => match self.last_squares {
                Some((of, squares)) if of == step => Reply::Now(Answer::Squares(squares)),
                _ if step < self.state.step => Reply::Now(Answer::No),
                _ => Reply::Later(request),
            },
            Request::Pull { step, norm } => self.pull(step, norm),
            Request::Fetch => Reply::Now(Answer::State(self.whole())),
            Request::Set(state) => match self.part(&state).end > self.rules.trained.len() {
                true => Reply::Now(Answer::No),
                false => {
                    self.set(state);
                    Reply::Now(Answer::Done)
                }
            },
            Request::Align { step } => Reply::Now(self.align(step)),
        }
    }

    /// Sums once all gradients have come, and nobody is behind.
    fn sum_up(&mut self, turns: usize) {
        if self.pushed.len() == turns && self.arrived.len() as u64 == self.members {
            let pushed = std::mem::take(&mut self.pushed);
            self.arrived.clear();
            let terms: Vec<&[f32]> = pushed.values().map(|(_, term)| term.as_slice()).collect();
            let mut sum = vec![0.0; self.state.weights.len()];
            canonical_sum(&terms, &mut sum);
            self.notes = pushed.values().map(|(note, _)| *note).collect();
            self.last_squares = match self.rules.clip {
                Some(Clip::Norm(_)) => {
                    Some((self.state.step, self.optimizer.squares(&self.cpu, &sum)))
                }
                _ => None,
            };
            self.sum = Some(sum);
        }
    }

    fn update_at_once(&mut self, rank: u64, gradient: &[f32]) -> Reply {
        // Beyond the last update nothing changes any more.
        if self.state.step < self.rules.steps {
            let clip = self.rules.clip;
            self.apply(gradient, clip, None);
            if let Some(turns) = self.state.turns.get_mut(rank as usize) {
                *turns += 1;
            }
        }
        Reply::Now(self.weights())
    }

    fn pull(&mut self, step: u64, norm: Option<f32>) -> Reply {
        let later = Reply::Later(Request::Pull { step, norm });
        if self.rules.turns.is_some() && step == self.state.step + 1 {
            let Some(sum) = self.sum.take() else { return later };
            let before = self.whole();
            self.apply(&sum, self.rules.clip, norm);
            self.before = Some(before);
        }
        match self.rules.turns {
            Some(_) if step > self.state.step => later,
            Some(_) if step < self.state.step => Reply::Now(Answer::No),
            _ => Reply::Now(self.weights()),
        }
    }

    fn apply(&mut self, gradient: &[f32], clip: Option<Clip>, norm: Option<f32>) {
        let rate = (self.rules.rate)(self.state.step);
        let (cpu, weights) = (&self.cpu, &mut self.state.weights);
        match (clip, norm) {
            (Some(Clip::Norm(limit)), Some(norm)) => {
                let scale = limit / norm.max(limit);
                self.optimizer.apply_scaled(cpu, weights, gradient, (rate, scale));
            }
            // Without a norm the gradient is a worker's own, which has clipped it.
            (Some(Clip::Norm(_)), None) => {
                self.optimizer.apply(cpu, weights, gradient, rate, None);
            }
            (clip, _) => self.optimizer.apply(cpu, weights, gradient, rate, clip),
        }
        self.state.step += 1;
    }

    fn weights(&self) -> Answer {
        let State { step, weights, .. } = &self.state;
        Answer::Weights { step: *step, notes: self.notes.clone(), weights: weights.clone() }
    }

    /// What is held, slots included.
    fn whole(&self) -> State {
        let slots = self.optimizer.slots().iter().map(|slot| slot.to_vec()).collect();
        State { slots, ..self.state.clone() }
    }

    /// Which of all weights a state is of.
    fn part(&self, state: &State) -> Range<usize> {
        let first = usize::try_from(state.first).unwrap_or(usize::MAX);
        first..first.saturating_add(state.weights.len())
    }

    fn set(&mut self, state: State) {
        let trained = self.rules.trained.within(self.part(&state));
        self.optimizer = Optimizer::new(self.rules.optimizer, trained);
        if state.slots.len() == self.optimizer.slots().len() {
            self.optimizer.restore(&state.slots, state.step);
        }
        self.state = State { slots: vec![], ..state };
        self.before = None;
        self.notes.clear();
        self.begin_again();
    }

    fn align(&mut self, step: u64) -> Answer {
        self.begin_again();
        if step == self.state.step && !self.state.weights.is_empty() {
            return Answer::Done;
        }
        match self.before.take_if(|before| before.step == step) {
            Some(before) => {
                self.set(before);
                Answer::Done
            }
            None => Answer::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Isa;
    use spec::Optimizer::Sgd;

    use super::*;

    /// A server of so many weights, all zero, that takes the gradients of two workers.
    fn shelf(clip: Option<Clip>, weights: usize) -> Shelf {
        let rules = Rules {
            optimizer: Sgd(spec::Sgd::default()),
            trained: weights.into(),
            rate: Box::new(|_| 1.0),
            clip,
            turns: Some(2),
            steps: 9,
        };
        let mut shelf = Shelf::new(rules, Cpu::new(1, Isa::detect()));
        shelf.set(State { weights: vec![0.0; weights], ..State::default() });
        shelf.take(1, Request::Join { generation: 1, members: 2 });
        shelf
    }

    fn push(shelf: &mut Shelf, step: u64, turn: u64, gradient: Vec<f32>) {
        let request = Request::Push { step, turn, rank: turn, note: [0; 64], gradient };
        assert!(matches!(shelf.take(turn, request), Reply::Nothing));
    }

    fn now(reply: Reply) -> Answer {
        match reply {
            Reply::Now(answer) => answer,
            _ => panic!("there is no answer"),
        }
    }

    #[test]
    fn whoever_is_slow_hears_the_squares_of_an_update_that_was_made() {
        let mut shelf = shelf(Some(Clip::Norm(1.0)), 2);
        push(&mut shelf, 0, 0, vec![1.0, 0.0]);
        assert!(matches!(shelf.take(0, Request::Squares { step: 0 }), Reply::Later(_)));
        push(&mut shelf, 0, 1, vec![2.0, 4.0]);
        let squares = |shelf: &mut Shelf, line| now(shelf.take(line, Request::Squares { step: 0 }));
        let pull = || Request::Pull { step: 1, norm: Some(5.0) };
        assert_eq!(squares(&mut shelf, 0), Answer::Squares(25.0));
        let first = now(shelf.take(0, pull()));
        assert_eq!(squares(&mut shelf, 1), Answer::Squares(25.0));
        assert_eq!(now(shelf.take(1, pull())), first);
        let Answer::Weights { step: 1, weights, .. } = first else { panic!("{first:?}") };
        assert_eq!(weights, [-0.6, -0.8]);
    }

    #[test]
    fn what_comes_is_kept_where_it_lies() {
        let mut shelf = shelf(None, 2);
        let gradient = vec![1.0, 2.0];
        let place = gradient.as_ptr();
        push(&mut shelf, 0, 0, gradient);
        assert_eq!(shelf.pushed[&0].1.as_ptr(), place);
        let state = State { weights: vec![3.0, 4.0], ..State::default() };
        let place = state.weights.as_ptr();
        shelf.take(0, Request::Set(state));
        assert_eq!(shelf.state.weights.as_ptr(), place);
        let asked = Request::Squares { step: 7 };
        assert!(matches!(shelf.take(0, asked.clone()), Reply::Later(again) if again == asked));
    }
}
