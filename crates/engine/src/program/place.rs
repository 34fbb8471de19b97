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
    let (forward, backward) = (|i: usize| i + 1, |i: usize| 2 * count + 2 - i);
    let mut values = vec![Value {
        len: draft.input,
        birth: 0,
        death: 0,
    }];
    // The value each operation writes, and the one its gradient is; the first is the network's input.
    let (mut outputs, mut gradients) = (vec![0], vec![None]);
    for (i, (op, len)) in draft.ops.iter().enumerate() {
        let x = outputs[i];
        let read = if trains && Operation::needs_x(op) {
            backward(i)
        } else {
            forward(i)
        };
        values[x].death = values[x].death.max(read);
        // In place only where nobody wants the old value back.
        let kept = trains && i > 0 && Operation::needs_y(&draft.ops[i - 1].0);
        let y = if Operation::works_in_place(op) && !kept {
            x
        } else {
            values.push(Value {
                len: *len,
                birth: forward(i),
                death: forward(i),
            });
            values.len() - 1
        };
        if trains && Operation::needs_y(op) {
            values[y].death = backward(i);
        }
        outputs.push(y);
    }
    let end = 2 * count + 3;
    let answer = if draft.softmax {
        values[outputs[count]].death = values[outputs[count]].death.max(forward(count));
        values.push(Value {
            len: values[outputs[count]].len,
            birth: forward(count),
            death: end,
        });
        values.len() - 1
    } else {
        outputs[count]
    };
    // The answer lives on after the end.
    values[answer].death = end;
    let needed = if trains { first_trained(draft) } else { count };
    for (i, (op, len)) in draft.ops.iter().enumerate() {
        let gradient = match gradients[i] {
            _ if i < needed => None,
            Some(dx) if Operation::works_in_place(op) => {
                let value: &mut Value = &mut values[dx];
                value.birth = backward(i + 1);
                Some(dx)
            }
            _ => {
                values.push(Value {
                    len: *len,
                    birth: backward(i + 1),
                    death: backward(i),
                });
                Some(values.len() - 1)
            }
        };
        gradients.push(gradient);
    }
    let (places, total) = assign(&values, batch);
    let gradient_of = |i: usize| gradients[i].map(|value: usize| places[value]);
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
        values: total,
        choices,
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
    draft
        .ops
        .iter()
        .position(trained)
        .unwrap_or(draft.ops.len())
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
        places[v] = Place {
            offset,
            len: values[v].len,
        };
        total = total.max(offset + size(v));
        placed.push(v);
    }
    (places, total)
}
