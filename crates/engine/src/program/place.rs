//! Where values lie.
//!
//! Time runs through the operations forward, then backward. A value lives from the operation that
//! writes it to the last one that reads it; values whose lives do not overlap may share memory. Places
//! are given first to the values that are largest, each at the lowest offset that is free for its whole
//! life: simple, and within a few per cent of the best for chains.

use super::lower::{Draft, Step};
use super::{Ending, Op, Operation};

/// Where a value lies: an offset for the whole batch, and the length for one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

impl Place {
    /// The range of the first `n` samples.
    pub(crate) fn range(&self, n: usize) -> std::ops::Range<usize> {
        self.offset..self.offset + n * self.len
    }

    /// The range of one sample.
    pub(crate) fn one(&self, sample: usize) -> std::ops::Range<usize> {
        let start = self.offset + sample * self.len;
        start..start + self.len
    }
}

/// Operations with places.
pub(super) struct Placed {
    pub(super) operations: Vec<Operation>,
    pub(super) input: Place,
    pub(super) logits: Place,
    pub(super) answer: Place,
    /// Of the logits.
    pub(super) gradient: Option<Place>,
    pub(super) values: usize,
    pub(super) choices: usize,
}

/// Memory for one value after another, before it has a place.
struct Value {
    len: usize,
    birth: usize,
    death: usize,
}

/// Places begin at multiples of a cache line.
const LINE: usize = 16;

pub(super) fn place(draft: &Draft, batch: usize, trains: bool) -> Placed {
    let mut lives = Lives::new(draft);
    let homes = lives.forward(draft, trains);
    let kept = lives.kept(draft, trains);
    let answer = lives.answer(homes[draft.last], draft.ending != Ending::Values);
    let gradients = if trains { lives.backward(draft) } else { vec![None; draft.values.len()] };
    let (places, values) = assign(&lives.values, batch);
    let value = |value: &usize| places[homes[*value]];
    let gradient = |value: &usize| gradients[*value].map(|memory| places[memory]);
    let mut apart = Apart { trains, choices: 0, floats: values };
    let operation = |(i, step): (usize, &Step)| {
        let (x, y) = (&step.reads[0], &step.writes[0]);
        // A fork has further outputs, all else further inputs.
        let more = step.reads[1..].iter().chain(&step.writes[1..]);
        Operation {
            op: apart.place(&step.op, batch * draft.values[*y]),
            layer: step.layer,
            x: value(x),
            y: value(y),
            dx: gradient(x),
            dy: gradient(y),
            more: more.map(|other| (value(other), gradient(other))).collect(),
            kept: kept[i].map_or(Place::default(), |memory| places[memory]),
        }
    };
    let operations = draft.steps.iter().enumerate().map(operation).collect();
    Placed {
        operations,
        input: value(&0),
        logits: value(&draft.last),
        answer: places[answer],
        gradient: gradient(&draft.last),
        values: apart.floats,
        choices: apart.choices,
    }
}

/// Memory, and when it is in use. Operation i runs at time i + 1, the head after the last, and then the
/// operations again, backward.
struct Lives {
    values: Vec<Value>,
    count: usize,
}

impl Lives {
    /// The network's input, alone.
    fn new(draft: &Draft) -> Self {
        let input = Value { len: draft.values[0], birth: 0, death: 0 };
        Lives { values: vec![input], count: draft.steps.len() }
    }

    fn push(&mut self, len: usize, birth: usize, death: usize) -> usize {
        self.values.push(Value { len, birth, death });
        self.values.len() - 1
    }

    fn live_until(&mut self, memory: usize, time: usize) {
        let death = &mut self.values[memory].death;
        *death = (*death).max(time);
    }

    fn time_backward(&self, operation: usize) -> usize {
        2 * self.count + 2 - operation
    }

    /// The memory of each value.
    fn forward(&mut self, draft: &Draft, trains: bool) -> Vec<usize> {
        let mut homes = vec![0; draft.values.len()];
        // What somebody wants as it is: whoever made it, or who reads it too.
        let mut kept = vec![false; draft.values.len()];
        for (i, step) in draft.steps.iter().enumerate() {
            let (now, later) = (i + 1, self.time_backward(i));
            let until = |needed: bool| if trains && needed { later } else { now };
            for read in &step.reads {
                self.live_until(homes[*read], until(Operation::needs_x(&step.op)));
            }
            let x = step.reads[0];
            let in_place = Operation::works_in_place(&step.op) && !kept[x];
            for &write in &step.writes {
                homes[write] = match in_place || step.op == Op::Fork {
                    true => homes[x],
                    false => self.push(draft.values[write], now, now),
                };
                self.live_until(homes[write], until(Operation::needs_y(&step.op)));
                kept[write] = step.op == Op::Fork || (trains && Operation::needs_y(&step.op));
            }
        }
        homes
    }

    /// The memory of what each operation keeps for itself until its way back.
    fn kept(&mut self, draft: &Draft, trains: bool) -> Vec<Option<usize>> {
        let mut kept = vec![];
        for (i, step) in draft.steps.iter().enumerate() {
            let len = Operation::keeps(&step.op, trains);
            let until = if trains { self.time_backward(i) } else { i + 1 };
            kept.push((len > 0).then(|| self.push(len, i + 1, until)));
        }
        kept
    }

    /// The memory of the answer: it lives on after the end.
    fn answer(&mut self, last: usize, apart: bool) -> usize {
        let (head, end) = (self.count + 1, 2 * self.count + 3);
        self.live_until(last, if apart { head } else { end });
        if apart { self.push(self.values[last].len, head, end) } else { last }
    }

    /// The memory of each value's gradient; none where nothing before it is trained.
    fn backward(&mut self, draft: &Draft) -> Vec<Option<usize>> {
        // The head writes the last one in its own time, while it still reads the values.
        let mut written = vec![self.count + 1; draft.values.len()];
        for (i, step) in draft.steps.iter().enumerate() {
            step.reads.iter().for_each(|read| written[*read] = self.time_backward(i));
        }
        let mut gradients: Vec<Option<usize>> = vec![None; draft.values.len()];
        for (i, step) in draft.steps.iter().enumerate() {
            if !step.trained && step.reads.iter().all(|read| gradients[*read].is_none()) {
                continue;
            }
            let shares = Operation::works_in_place(&step.op) || step.op == Op::Fork;
            let mut shared = gradients[step.reads[0]].filter(|_| shares);
            for &write in &step.writes {
                let birth = written[write];
                gradients[write] = Some(match shared.take() {
                    Some(memory) => {
                        self.values[memory].birth = birth;
                        memory
                    }
                    None => self.push(draft.values[write], birth, self.time_backward(i)),
                });
            }
        }
        gradients
    }
}

/// What operations keep for themselves through the whole step, beside the values.
struct Apart {
    trains: bool,
    choices: usize,
    floats: usize,
}

impl Apart {
    /// The operation with places for what it keeps.
    fn place(&mut self, op: &Op, choices: usize) -> Op {
        let mut op = op.clone();
        match &mut op {
            Op::Conv(conv) => {
                if let Some(place) = &mut conv.choices {
                    place.offset = self.choices;
                    self.choices += choices;
                }
            }
            Op::Normalize(normalize) if self.trains => {
                normalize.seen.offset = self.floats;
                self.floats += normalize.seen.len.next_multiple_of(LINE);
            }
            _ => {}
        }
        op
    }
}

/// Gives each value a place, and says how many floats all of them need.
fn assign(values: &[Value], batch: usize) -> (Vec<Place>, usize) {
    let size = |v: usize| (values[v].len * batch).next_multiple_of(LINE);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&v| (std::cmp::Reverse(size(v)), v));
    let mut places = vec![Place::default(); values.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0;
    for v in order {
        let overlaps = |&other: &usize| {
            values[other].birth <= values[v].death && values[v].birth <= values[other].death
        };
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .copied()
            .filter(overlaps)
            .map(|other| (places[other].offset, places[other].offset + size(other)))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in taken {
            if offset + size(v) <= start {
                break;
            }
            offset = offset.max(end);
        }
        places[v] = Place { offset, len: values[v].len };
        total = total.max(offset + size(v));
        placed.push(v);
    }
    (places, total)
}
