//! What recurrent layers do with their sums, element by element: gates open and shut, states change.
//!
//! A sample's gates lie one after another, `units` floats each, and samples `pitch` floats apart:
//! - gated recurrent units: what may be remembered, update, reset, and the product with the state
//!   (where it is reset after) or the state that was reset (before);
//! - long short-term memory: in, forget, what may be remembered, out.
//!
//! Backward, gradients of the sums take their places. A sample whose step is passed by keeps its state,
//! and its gates are zero both ways.

use crate::math::{sigmoid, tanh};
use crate::simd::kernel;

/// The samples of a step.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) units: usize,
    pub(crate) pitch: usize,
    /// The ids of these samples from this step on, and how far apart; none where no step is passed by.
    pub(crate) ids: Option<(&'a [f32], usize)>,
}

impl Block<'_> {
    #[inline(always)]
    fn is_passed(&self, row: usize) -> bool {
        self.ids.is_some_and(|(ids, apart)| ids[row * apart] == 0.0)
    }

    #[inline(always)]
    fn range(&self, row: usize) -> std::ops::Range<usize> {
        row * self.units..(row + 1) * self.units
    }

    #[inline(always)]
    fn gates<'g>(&self, gates: &'g mut [f32], row: usize) -> [&'g mut [f32]; 4] {
        let (units, gates) = (self.units, &mut gates[row * self.pitch..]);
        let (a, rest) = gates.split_at_mut(units);
        let (b, rest) = rest.split_at_mut(units);
        let (c, rest) = rest.split_at_mut(units);
        [a, b, c, &mut rest[..units]]
    }

    #[inline(always)]
    fn rows(&self, states: &[f32]) -> usize {
        states.len() / self.units
    }
}

kernel! {
    /// The update and reset gates from their sums, and the state that the latter leaves: in the place
    /// of the product, for units that reset before it.
    fn gru_reset<'a>(block: Block<'a>, gates: &'a mut [f32], before: &'a [f32]) {
        for row in 0..block.rows(before) {
            let [_, update, reset, product] = block.gates(gates, row);
            sigmoids(update);
            sigmoids(reset);
            let before = &before[block.range(row)];
            for ((p, r), b) in product.iter_mut().zip(reset).zip(before) {
                *p = *r * b;
            }
        }
    }
}

kernel! {
    /// The gates from their sums, and the state after. Units that reset before the product have had
    /// their gates already.
    fn gru<'a>(block: Block<'a>, resets_after: bool, gates: &'a mut [f32], states: (&'a [f32], &'a mut [f32])) {
        let (before, after) = states;
        for row in 0..block.rows(before) {
            let [new, update, reset, product] = block.gates(gates, row);
            let (before, after) = (&before[block.range(row)], &mut after[block.range(row)]);
            if block.is_passed(row) {
                for gate in [new, update, reset, product] {
                    gate.fill(0.0);
                }
                after.copy_from_slice(before);
                continue;
            }
            if resets_after {
                sigmoids(update);
                sigmoids(reset);
                for ((n, r), p) in new.iter_mut().zip(&*reset).zip(&*product) {
                    *n = tanh(*r * *p + *n);
                }
            } else {
                for n in new.iter_mut() {
                    *n = tanh(*n);
                }
            }
            for (((a, n), u), b) in after.iter_mut().zip(&*new).zip(&*update).zip(before) {
                *a = *u * (b - *n) + *n;
            }
        }
    }
}

kernel! {
    /// Back through the state: gradients of the sums of `new` and `update` take their places, and `d`,
    /// the gradient of the state, becomes that of the state before, but for what went through products.
    fn gru_backward<'a>(block: Block<'a>, gates: &'a mut [f32], before: &'a [f32], d: &'a mut [f32]) {
        for row in 0..block.rows(before) {
            let [new, update, _, _] = block.gates(gates, row);
            if block.is_passed(row) {
                new.fill(0.0);
                update.fill(0.0);
                continue;
            }
            let (before, d) = (&before[block.range(row)], &mut d[block.range(row)]);
            for (((d, n), u), b) in d.iter_mut().zip(new).zip(update).zip(before) {
                let (whole, value, gate) = (flush(*d), *n, *u);
                *n = flush(whole * (1.0 - gate) * (1.0 - value * value));
                *u = flush(whole * (b - value) * (gate * (1.0 - gate)));
                *d = whole * gate;
            }
        }
    }
}

kernel! {
    /// Back through the reset gate, where it acts after the product.
    fn gru_reset_after_backward<'a>(block: Block<'a>, gates: &'a mut [f32], rows: usize) {
        for row in 0..rows {
            let [new, _, reset, product] = block.gates(gates, row);
            for ((n, r), p) in new.iter().zip(reset).zip(product) {
                let (gate, sum) = (*r, *p);
                *r = flush(*n * sum * (gate * (1.0 - gate)));
                *p = flush(*n * gate);
            }
        }
    }
}

kernel! {
    /// The same where it acts before; `known` is the gradient of the state that was reset,
    /// and the state before.
    fn gru_reset_before_backward<'a>(block: Block<'a>, gates: &'a mut [f32], known: [&'a [f32]; 2], d: &'a mut [f32]) {
        let [through, before] = known;
        for row in 0..block.rows(before) {
            let [_, _, reset, _] = block.gates(gates, row);
            let (through, before) = (&through[block.range(row)], &before[block.range(row)]);
            let d = &mut d[block.range(row)];
            for (((d, r), t), b) in d.iter_mut().zip(reset).zip(through).zip(before) {
                let gate = *r;
                *r = flush(t * b * (gate * (1.0 - gate)));
                *d += t * gate;
            }
        }
    }
}

kernel! {
    /// The gates from their sums, and the cells and states after. `before` is states and cells.
    fn lstm<'a>(block: Block<'a>, gates: &'a mut [f32], before: [&'a [f32]; 2], after: [&'a mut [f32]; 2]) {
        let [states, cells] = after;
        for row in 0..block.rows(before[0]) {
            let [input, forget, new, output] = block.gates(gates, row);
            let (state, cell) = (&mut states[block.range(row)], &mut cells[block.range(row)]);
            let [last_state, last_cell] = [&before[0][block.range(row)], &before[1][block.range(row)]];
            if block.is_passed(row) {
                for gate in [input, forget, new, output] {
                    gate.fill(0.0);
                }
                state.copy_from_slice(last_state);
                cell.copy_from_slice(last_cell);
                continue;
            }
            sigmoids(input);
            sigmoids(forget);
            sigmoids(output);
            for ((c, n), i) in cell.iter_mut().zip(new).zip(&*input) {
                *n = tanh(*n);
                *c = *i * *n;
            }
            for ((c, f), last) in cell.iter_mut().zip(&*forget).zip(last_cell) {
                *c += *f * last;
            }
            for ((s, o), c) in state.iter_mut().zip(&*output).zip(&*cell) {
                *s = *o * tanh(*c);
            }
        }
    }
}

kernel! {
    /// Back through states and cells: gradients of the sums take the gates' places. `d` is the gradients
    /// of states and cells; the first becomes zero, but for products to come.
    fn lstm_backward<'a>(block: Block<'a>, gates: &'a mut [f32], cells: [&'a [f32]; 2], d: [&'a mut [f32]; 2]) {
        let [d_states, d_cells] = d;
        for row in 0..block.rows(cells[0]) {
            if block.is_passed(row) {
                continue;
            }
            let [input, forget, new, output] = block.gates(gates, row);
            let (d_state, d_cell) = (&mut d_states[block.range(row)], &mut d_cells[block.range(row)]);
            let [last, cell] = [&cells[0][block.range(row)], &cells[1][block.range(row)]];
            for (((dc, ds), o), c) in d_cell.iter_mut().zip(&*d_state).zip(output).zip(cell) {
                let (gate, curve) = (*o, tanh(*c));
                let ds = flush(*ds);
                *o = flush(ds * curve * (gate * (1.0 - gate)));
                *dc = flush(ds * gate * (1.0 - curve * curve) + *dc);
            }
            for ((i, n), dc) in input.iter_mut().zip(new).zip(&*d_cell) {
                let (gate, value) = (*i, *n);
                *i = flush(dc * value * (gate * (1.0 - gate)));
                *n = flush(dc * gate * (1.0 - value * value));
            }
            for ((f, dc), last) in forget.iter_mut().zip(d_cell).zip(last) {
                let gate = *f;
                *f = flush(*dc * last * (gate * (1.0 - gate)));
                *dc *= gate;
            }
            d_state.fill(0.0);
        }
    }
}

/// Gradients fade from step to step. Smaller ones than this count as none: nothing that they are added
/// to would change, and with numbers below the normal ones processors are a hundred times slower.
const FADED: f32 = 1e-30;

#[inline(always)]
fn flush(x: f32) -> f32 {
    if x.abs() < FADED { 0.0 } else { x }
}

#[inline(always)]
fn sigmoids(values: &mut [f32]) {
    for value in values {
        *value = sigmoid(*value);
    }
}
