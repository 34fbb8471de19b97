//! Where values lie.
//!
//! Time runs through the operations forward, then backward. A value lives from the operation that
//! writes it to the last one that reads it; values whose lives do not overlap may share memory. Places
//! are given first to the values that are largest, each at the lowest offset that is free for its whole
//! life: simple, and within a few per cent of the best for chains.

use super::lower::Draft;
use super::{Op, Operation};

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

/// A value before it has a place.
struct Value {
    len: usize,
    birth: usize,
    death: usize,
}

/// Places begin at multiples of a cache line.
const LINE: usize = 16;

pub(super) fn place(draft: &Draft, batch: usize, trains: bool) -> Placed {
    let count = draft.ops.len();
    let mut lives = Lives::new(draft);
    let outputs = lives.forward(draft, trains);
    let answer = lives.answer(outputs[count], draft.softmax);
    let first = if trains { first_trained(draft) } else { count };
    let gradients = lives.backward(draft, first);
    let (places, values) = assign(&lives.values, batch);
    let gradient_of = |i: usize| gradients[i].map(|value| places[value]);
    let mut choices = 0;
    let operations = draft
        .ops
        .iter()
        .enumerate()
        .map(|(i, (op, len))| Operation {
            op: place_choices(op, batch * len, &mut choices),
            x: places[outputs[i]],
            y: places[outputs[i + 1]],
            dx: gradient_of(i),
            dy: gradient_of(i + 1),
        })
        .collect();
    Placed {
        operations,
        input: places[0],
        logits: places[outputs[count]],
        answer: places[answer],
        gradient: gradient_of(count),
        values,
        choices,
    }
}

/// The values of a program, and when they live. Operation i runs at time i + 1, the head after the
/// last, and then the operations again, backward.
struct Lives {
    values: Vec<Value>,
    count: usize,
}

impl Lives {
    /// The network's input, alone.
    fn new(draft: &Draft) -> Self {
        Lives {
            values: vec![Value { len: draft.input, birth: 0, death: 0 }],
            count: draft.ops.len(),
        }
    }

    fn push(&mut self, len: usize, birth: usize, death: usize) -> usize {
        self.values.push(Value { len, birth, death });
        self.values.len() - 1
    }

    fn live_until(&mut self, value: usize, time: usize) {
        let death = &mut self.values[value].death;
        *death = (*death).max(time);
    }

    fn time_backward(&self, operation: usize) -> usize {
        2 * self.count + 2 - operation
    }

    /// The value that each operation reads, and last the one that the head reads.
    fn forward(&mut self, draft: &Draft, trains: bool) -> Vec<usize> {
        let mut outputs = vec![0];
        for (i, (op, len)) in draft.ops.iter().enumerate() {
            let x = outputs[i];
            let (now, later) = (i + 1, self.time_backward(i));
            let until = |needed: bool| if trains && needed { later } else { now };
            self.live_until(x, until(Operation::needs_x(op)));
            // In place only where nobody wants the old value back.
            let kept = trains && i > 0 && Operation::needs_y(&draft.ops[i - 1].0);
            let y =
                if Operation::works_in_place(op) && !kept { x } else { self.push(*len, now, now) };
            self.live_until(y, until(Operation::needs_y(op)));
            outputs.push(y);
        }
        outputs
    }

    /// The value that is the answer: it lives on after the end.
    fn answer(&mut self, last: usize, softmax: bool) -> usize {
        let (head, end) = (self.count + 1, 2 * self.count + 3);
        self.live_until(last, if softmax { head } else { end });
        if softmax { self.push(self.values[last].len, head, end) } else { last }
    }

    /// The gradient of the value that each operation reads, and of the one that the head reads;
    /// `None` before the `first` operation that is trained.
    fn backward(&mut self, draft: &Draft, first: usize) -> Vec<Option<usize>> {
        let mut gradients = vec![None];
        for (i, (op, len)) in draft.ops.iter().enumerate() {
            // The head writes the last one in its own time, while it still reads the values.
            let head = self.count + 1;
            let birth = if i + 1 == self.count { head } else { self.time_backward(i + 1) };
            let death = self.time_backward(i);
            gradients.push(match gradients[i] {
                _ if i < first => None,
                Some(dx) if Operation::works_in_place(op) => {
                    let value: &mut Value = &mut self.values[dx];
                    value.birth = birth;
                    Some(dx)
                }
                _ => Some(self.push(*len, birth, death)),
            });
        }
        gradients
    }
}

/// The operation with a place for its choices, if it makes any. These live through the whole step.
fn place_choices(op: &Op, len: usize, choices: &mut usize) -> Op {
    let mut op = op.clone();
    if let Op::Conv(conv) = &mut op
        && let Some(place) = &mut conv.choices
    {
        place.offset = *choices;
        *choices += len;
    }
    op
}

/// The first operation with weights: nothing before it needs a gradient.
fn first_trained(draft: &Draft) -> usize {
    let trained = |(op, _): &(Op, usize)| matches!(op, Op::Dense(_) | Op::Conv(_));
    draft.ops.iter().position(trained).unwrap_or(draft.ops.len())
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
