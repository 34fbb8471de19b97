//! Parameter servers: the weights lie on servers, a range on each, with the optimizer's slots.
//!
//! What is exchanged: each step, a worker sends its gradients to the servers and gets the new weights
//! from them: twice the weights' bytes. In `sync` mode an update takes a fixed number of batches, dealt
//! to the ranks in turn, so that its bits depend on nothing else; in `async` mode every gradient is an
//! update as soon as it comes, and the result depends on timing.
//! When a worker dies: the servers hold the step, or can go back to it, and others push its turns.
//! When a server dies: all go back to the newest checkpoint, and go on with another in its place.

use collective::Note;
use engine::Outcome;
use spec::{Clip, ParameterServer};

use super::all_reduce::check;
use crate::measure::{count, input, metrics};
use crate::pulse::Exchange;
use crate::settings::turns;
use crate::tally::Tally;
use crate::{Error, Trainer};

/// One update by all workers, or, where each gradient is one, by each rank that is hosted here.
pub(super) async fn step(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    servers: &ParameterServer,
) -> Result<(), Error> {
    match turns(servers, trainer.shares.world()) {
        Some(turns) => step_together(trainer, exchange, servers, turns).await,
        None => step_alone(trainer, exchange, servers).await,
    }
}

async fn step_together(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    servers: &ParameterServer,
    turns: usize,
) -> Result<(), Error> {
    let (step, world) = (trainer.position.step, trainer.shares.world() as u64);
    // Batches are dealt to the ranks in turn: the next `turns` of them make this update.
    let dealt = |turn: u64| {
        let number = step * turns as u64 + turn;
        ((number % world) as usize, number / world)
    };
    let all: usize =
        (0..turns as u64).map(dealt).map(|(rank, local)| trainer.shares.count(rank, local)).sum();
    let mut own = vec![];
    for turn in 0..turns as u64 {
        let (rank, local) = dealt(turn);
        if trainer.hosted.contains_key(&rank) {
            let share = trainer.shares.count(rank, local) as f64 / all.max(1) as f64;
            let outcome = trainer.gradient(rank, local, share as f32)?;
            let (lines, _waiting) = exchange.wait_for_servers()?;
            lines.push((step, turn, rank), note(&outcome), trainer.session.gradients()).await?;
            own.push((rank, local));
        }
    }
    if own.is_empty() {
        // Nobody goes on to the next update while this process is at the last.
        let (lines, _waiting) = exchange.wait_for_servers()?;
        lines.push((step, u64::MAX, 0), [0; size_of::<Note>()], &[]).await?;
    }
    let notes = {
        let (lines, _waiting) = exchange.wait_for_servers()?;
        let norm = match trainer.settings.clip {
            Some(Clip::Norm(_)) => Some(lines.norm(step).await?),
            _ => None,
        };
        lines.pull(step + 1, norm, trainer.session.weights_mut()).await?.1
    };
    let tally = Tally::of_notes(&notes);
    check(&tally, step)?;
    trainer.position.step += 1;
    trainer.position.tally.add(&tally);
    trainer.recent.add(&tally);
    for (rank, local) in own {
        trainer.tell_of_step(exchange, servers, (rank, local))?;
    }
    Ok(())
}

/// Each hosted rank in turn: its gradient goes out, and the weights as they are by then come back.
async fn step_alone(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    servers: &ParameterServer,
) -> Result<(), Error> {
    for rank in trainer.hosted.keys().copied().collect::<Vec<_>>() {
        let (step, local) = (trainer.position.step, trainer.position.turns[rank]);
        let outcome = trainer.gradient(rank, local, 1.0)?;
        let mut counted = Tally::default();
        counted.count(&outcome);
        check(&counted, step)?;
        trainer.clip_own();
        let after = {
            let (lines, _waiting) = exchange.wait_for_servers()?;
            let gradient = trainer.session.gradients();
            lines.push((step, 0, rank), note(&outcome), gradient).await?;
            lines.weights(trainer.session.weights_mut()).await?.0
        };
        trainer.position.turns[rank] += 1;
        trainer.position.step = after;
        trainer.position.tally.add(&counted);
        trainer.recent.add(&counted);
        trainer.tell_of_step(exchange, servers, (rank, local))?;
    }
    Ok(())
}

/// Takes everything the servers hold, slots included: what a checkpoint is made of.
pub(crate) async fn collect(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
) -> Result<(), Error> {
    let state = {
        let (lines, _waiting) = exchange.wait_for_servers()?;
        lines.fetch(trainer.parameters(), trainer.step_of_all()).await?
    };
    trainer.take_state(state);
    Ok(())
}

fn note(outcome: &Outcome) -> Note {
    let mut tally = Tally::default();
    tally.count(outcome);
    tally.note()
}

impl Trainer {
    /// Cuts a worker's own gradient, where it is applied by itself.
    fn clip_own(&mut self) {
        if let Some(Clip::Norm(limit)) = self.settings.clip {
            let gradients = self.session.gradients();
            let norm = self.optimizer.squares(self.session.cpu(), gradients).sqrt() as f32;
            self.optimizer.scale(self.session.gradients_mut(), limit / norm.max(limit));
        }
    }

    /// Logs a step of a rank, and now and then how good the weights are by now.
    fn tell_of_step(
        &mut self,
        exchange: &Exchange<'_>,
        servers: &ParameterServer,
        (rank, local): (usize, u64),
    ) -> Result<(), Error> {
        let (done, global) = (local + 1, self.position.step);
        let seconds = exchange.clock.unix_ms() as f64 / 1000.0;
        (exchange.log)(&format!(
            "{seconds:.3}: Worker {rank}: training step {done} done (global step: {global})"
        ));
        let Some(test) = self.test.clone() else { return Ok(()) };
        if servers.accuracy_every == 0 || !done.is_multiple_of(servers.accuracy_every) {
            return Ok(());
        }
        let (session, scale, batch) = (&mut self.session, self.scale, self.settings.batch);
        let all = count(&test, batch, (0, 1), |x, y| session.evaluate(input(x, scale), y));
        let accuracy = metrics(&all)?.accuracy;
        (exchange.log)(&format!("Accuracy at local step {done}: {accuracy}"));
        Ok(())
    }
}
