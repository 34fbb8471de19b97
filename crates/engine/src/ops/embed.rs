//! A row of the table for each word. Backward, the gradient of a row is the sum over all places where
//! the word stands, in their order: each part has some rows of the table and walks through all words.

use super::{Run, disjoint};
use crate::kernels::plain;
use crate::program::{Embed, Operation};
use crate::share::{Cut, portion};

impl Embed {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, row, ids) = (run.n, self.row, operation.x.len);
        let table = &run.weights[self.table.clone()];
        let [x, y] = disjoint(run.values, [operation.x.range(n), operation.y.range(n)]);
        let x = &*x;
        let parts = run.cpu.parts(y.len(), n);
        run.cpu.each(parts, Cut::new(y, n, parts), |part, y| {
            let first = portion(n, parts, part).start * ids;
            for (y, id) in y.chunks_exact_mut(row).zip(&x[first..]) {
                y.copy_from_slice(&table[*id as usize * row..][..row]);
            }
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (n, row, isa) = (run.n, self.row, run.cpu.isa());
        let (x, dy) = (&run.values[operation.x.range(n)], &run.values[dy.range(n)]);
        let table = &mut run.gradients[self.table.clone()];
        let parts = run.cpu.parts(dy.len() + table.len(), self.words);
        run.cpu.each(parts, Cut::new(table, self.words, parts), |part, table| {
            table.fill(0.0);
            let words = portion(self.words, parts, part);
            for (id, dy) in x.iter().zip(dy.chunks_exact(row)) {
                let id = *id as usize;
                if words.contains(&id) {
                    plain::add_rows(isa, dy, &mut table[(id - words.start) * row..][..row]);
                }
            }
        });
    }
}
