//! Dropout. Which elements are dropped is a pure function of (seed, rank, step, layer, element), so
//! forward and backward are the same pass over different memory.

use random::{Key, Purpose};

use super::{Run, join};
use crate::kernels::plain;
use crate::program::{Drop, Operation, Place};
use crate::share::{Cut, portion};

impl Drop {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        self.pass(operation.x, operation.y, run);
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        if let (Some(dy), Some(dx)) = (operation.dy, operation.dx) {
            self.pass(dy, dx, run);
        }
    }

    fn pass(&self, from: Place, to: Place, run: &mut Run<'_>) {
        let n = run.n;
        join::copy(from, to, run);
        let Some(noise) = run.noise else { return };
        let key = Key::new(noise.seed, Purpose::Dropout)
            .with(noise.rank)
            .with(noise.step)
            .with(self.layer);
        let choice = plain::Choice {
            words: key.words(),
            threshold: (f64::from(self.rate) * 4_294_967_296.0) as u32,
            scale: 1.0 / (1.0 - self.rate),
        };
        let parts = run.cpu.parts(n * to.len, n);
        let values = &mut run.values[to.range(n)];
        run.cpu.each(parts, Cut::new(values, n, parts), |part, values| {
            let first = portion(n, parts, part).start * to.len;
            plain::drop_elements(run.cpu.isa(), choice, first as u32, values);
        });
    }
}
