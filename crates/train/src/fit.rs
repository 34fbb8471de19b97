//! The training loop: one move after another, epochs, progress, checkpoints. It is the same for one
//! process and for many.

use std::sync::Arc;
use std::task;
use std::time::Duration;

use collective::Group;
use data::Samples;

use crate::clock::Used;
use crate::context::Context;
use crate::epoch::Ended;
use crate::event::Kind;
use crate::pace::Pace;
use crate::pulse::{Exchange, Trained};
use crate::saver::Saver;
use crate::{Checkpoints, Error, Trainer, strategy};

/// How a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps are done.
    Finished,
    /// It was asked to leave, and did so between two moves.
    Left,
}

/// Where checkpoints go, and how often.
pub struct Saving {
    /// Writes them.
    pub saver: Saver,
    /// How much time may lie between two.
    pub every: Duration,
    /// Where what ranks do by themselves goes, if they do anything.
    pub ranks: Option<RankPlaces>,
}

/// The place for what a rank has done by itself.
pub type RankPlaces = Box<dyn Fn(usize) -> Result<Checkpoints, Error> + Send>;

impl Saving {
    /// Has what ranks have done by themselves written soon.
    pub(crate) fn save_ranks(&mut self, trainer: &mut Trainer) -> Result<(), Error> {
        let Some(place) = &self.ranks else { return Ok(()) };
        let Trainer { session, optimizer, round, position, .. } = trainer;
        for (rank, snapshot) in round.snapshots(position.step, (session, optimizer)) {
            self.saver.save_to(place(rank)?, snapshot);
        }
        Ok(())
    }
}

/// Trains to the end, or until asked to leave. Of a group, the process with rank 0 leads: it tells
/// of progress and saves, for all hold the same.
pub async fn fit(
    trainer: &mut Trainer,
    group: &mut Group,
    context: &mut Context<'_>,
    saving: Option<&mut Saving>,
) -> Result<Ending, Error> {
    let (pulse, clock, log) = (context.pulse, context.clock, context.log);
    let mut exchange = Exchange { group, pulse, clock, servers: None, log };
    fit_with(trainer, &mut exchange, context, saving).await
}

/// The same in a group whose weights servers may hold.
pub(crate) async fn fit_with(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    context: &mut Context<'_>,
    saving: Option<&mut Saving>,
) -> Result<Ending, Error> {
    let (clock, pulse) = (context.clock, context.pulse);
    // Servers are always reached over connections.
    let link = if exchange.servers.is_some() { "tcp" } else { exchange.group.link() };
    let (began, waited, computed) = (clock.elapsed(), pulse.waited(), trainer.computed);
    let (used, used_waiting) = (clock.used(), pulse.used_waiting());
    let ending = go_on(trainer, exchange, context, saving).await;
    let used = clock.used().since(used).since(pulse.used_waiting().since(used_waiting));
    pulse.spent(Trained {
        time: clock.elapsed() - began,
        waited: pulse.waited() - waited,
        computed: undisturbed(used, trainer.session.cpu().threads()),
        samples: trainer.computed - computed,
        link,
    });
    ending
}

/// How long it would have taken to use so much of a processor with as many cores as threads, and nobody
/// else on them. The thread that leads is never idle then, so its own time tells; but where it must do
/// what others have no core for, the time of all, shared out, is nearer to it.
fn undisturbed(used: Used, threads: usize) -> Duration {
    used.thread.min(used.process / u32::try_from(threads.max(1)).unwrap_or(u32::MAX))
}

async fn go_on(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    context: &mut Context<'_>,
    mut saving: Option<&mut Saving>,
) -> Result<Ending, Error> {
    let leads = exchange.group.ranks().first() == Some(&0);
    let (clock, pulse) = (context.clock, context.pulse);
    let mut pace = Pace::new(clock.elapsed(), trainer);
    let mut saved_at = clock.elapsed();
    while !trainer.position.ended {
        if context.is_asked_to_stop() {
            return Ok(Ending::Left);
        }
        clock.work().await;
        let ended = if trainer.owes_epoch() {
            trainer.end_epoch(exchange).await?
        } else {
            strategy::advance(trainer, exchange).await?;
            None
        };
        let now = clock.elapsed();
        trainer.position.seconds = pace.seconds(now);
        pulse.moved(trainer.reached());
        if let Some(saving) = &mut saving {
            // At an epoch's end, its result is part of what is saved.
            let due = now - saved_at >= saving.every && !trainer.owes_epoch();
            if (ended.is_some() || due) && leads {
                if exchange.servers.is_some() {
                    strategy::collect(trainer, exchange).await?;
                }
                saving.saver.save(trainer.snapshot());
            }
            if due {
                saving.save_ranks(trainer)?;
            }
            if ended.is_some() || due {
                saved_at = now;
            }
            for step in saving.saver.written()? {
                context.emit(Kind::Checkpoint { step });
            }
        }
        if leads {
            if let Some(progress) = pace.tell(now, trainer) {
                context.emit(Kind::Progress(progress));
            }
            ended.into_iter().for_each(|ended| tell(ended, context));
        }
    }
    Ok(Ending::Finished)
}

fn tell(Ended { epoch, early }: Ended, context: &mut Context<'_>) {
    context.emit(Kind::Epoch(epoch));
    if let Some((best_epoch, reason)) = early {
        context.emit(Kind::EarlyStop { best_epoch, reason });
    }
}

/// The same for one process that works alone, and so never waits: every rank learns from `samples`.
pub fn fit_alone(
    trainer: &mut Trainer,
    samples: &Arc<Samples>,
    context: &mut Context<'_>,
    saving: Option<&mut Saving>,
) -> Result<Ending, Error> {
    let mut group = Group::alone(trainer.shares.world(), trainer.contribution());
    trainer.host(&mut group, |_| Ok(samples.clone()))?;
    let work = std::pin::pin!(fit(trainer, &mut group, context, saving));
    match work.poll(&mut task::Context::from_waker(task::Waker::noop())) {
        task::Poll::Ready(outcome) => outcome,
        task::Poll::Pending => unreachable!("a group of one waits for nobody"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_has_as_many_cores_as_threads() {
        let undisturbed = |thread, process, threads| {
            let (thread, process) = (Duration::from_secs(thread), Duration::from_secs(process));
            super::undisturbed(Used { thread, process }, threads).as_secs()
        };
        // The thread that gathers batches is not one that trains.
        assert_eq!(undisturbed(10, 11, 1), 10);
        // Both threads had a core, and the second had less to do.
        assert_eq!(undisturbed(10, 20, 2), 10);
        // The second had none, and the first did its part.
        assert_eq!(undisturbed(10, 10, 2), 5);
    }
}
