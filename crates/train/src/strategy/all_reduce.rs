//! Synchronous data parallel training; alone, it is the training of one worker.
//!
//! What is exchanged: each step, the gradients of all ranks, each times its share of the step's
//! samples, summed in the canonical order; 2(M−1)/M of their bytes for M processes. Every process then
//! makes the same update, so all hold the same weights, to the bit.
//! When a process dies: the others still hold the last step, or some the one in flight. They agree
//! on the newest, and go on.

use collective::Part;

use crate::pulse::Exchange;
use crate::tally::Tally;
use crate::{Error, Trainer};

pub(super) async fn step(trainer: &mut Trainer, exchange: &mut Exchange<'_>) -> Result<(), Error> {
    let step = trainer.position.step;
    let mut tallies = vec![];
    for rank in exchange.group.ranks().to_vec() {
        let share = trainer.shares.of_step(rank, step);
        trainer.lend_memory(rank);
        let outcome = trainer.gradient(rank, step, share);
        trainer.lend_memory(rank);
        let mut tally = Tally::default();
        tally.count(&outcome?);
        tallies.push(tally);
    }
    let count = trainer.graph.parameter_count();
    let hosted = trainer.hosted.values().zip(&tallies);
    let parts: Vec<Part<'_>> = hosted
        .map(|(hosted, tally)| Part { values: &hosted.memory[..count], note: tally.note() })
        .collect();
    let (rate, clip) = (trainer.rate(step), trainer.settings.clip);
    let (session, optimizer) = (&mut trainer.session, &mut trainer.optimizer);
    let tally = match (parts.as_slice(), exchange.group.world()) {
        ([part], 1) => {
            let tally = tallies[0];
            check(&tally, step)?;
            session.update_by(part.values, optimizer, rate, clip);
            tally
        }
        (parts, _) => {
            let sum = exchange.all_reduce(parts).await?;
            let tally = Tally::of_notes(sum.notes);
            check(&tally, step)?;
            session.update_by(sum.values, optimizer, rate, clip);
            tally
        }
    };
    trainer.position.step += 1;
    trainer.position.tally.add(&tally);
    trainer.recent.add(&tally);
    Ok(())
}

/// Every process sees the same tally, so all of them find the same fault.
pub(super) fn check(tally: &Tally, step: u64) -> Result<(), Error> {
    if tally.loss.is_finite() { Ok(()) } else { Err(Error::Diverged { step, loss: tally.loss }) }
}

impl Trainer {
    /// Lets gradients go to a rank's own memory; the second call takes it back.
    fn lend_memory(&mut self, rank: usize) {
        let hosted = self.hosted.get_mut(&rank).expect("only hosted ranks are trained here");
        self.session.swap_gradients(&mut hosted.memory);
    }
}
