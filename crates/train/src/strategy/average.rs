//! Weight averaging: ranks train for themselves for a round, then their weights are averaged.
//!
//! What is exchanged: at the end of a round, the weights and the optimizer's slots of every rank, each
//! times the rank's share of the round's samples; 2(M−1)/M of their bytes for M processes. So every rank
//! starts the next round equal. Outer momentum (Nesterov's, as in DiLoCo) takes the change of the mean
//! weights for a gradient. With `combine: vote` nothing is averaged, and every rank's model is kept.
//! When a process dies: the others hold what the round began with, and train its ranks again from there.

use collective::Part;
use engine::Trained;
use spec::{Average, Combine, Outer, Sync};

use super::all_reduce::check;
use super::round::InHand;
use crate::pulse::Exchange;
use crate::tally::Tally;
use crate::{Error, Trainer};

/// What became of a step.
pub(super) enum Went {
    /// There is more to do in this round.
    On,
    /// Every rank that is hosted here has come to the round's end.
    ToTheEnd,
}

/// One step of one rank that is hosted here.
pub(super) fn local_step(trainer: &mut Trainer, average: &Average) -> Result<Went, Error> {
    let end = round_end(trainer, average);
    let Some(InHand { rank, step, mut tally }) = take_in_hand(trainer, average, end) else {
        return Ok(Went::ToTheEnd);
    };
    let outcome = trainer.gradient(rank, step, 1.0)?;
    let mut counted = Tally::default();
    counted.count(&outcome);
    check(&counted, step)?;
    let (rate, clip) = (trainer.rate(step), trainer.settings.clip);
    trainer.session.update(&mut trainer.optimizer, rate, clip);
    tally.add(&counted);
    trainer.recent.add(&counted);
    trainer.round.in_hand = Some(InHand { rank, step: step + 1, tally });
    Ok(Went::On)
}

/// Averages, once every rank has come to the round's end.
pub(super) async fn sync(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    average: &Average,
) -> Result<(), Error> {
    let count = trainer.graph.parameter_count();
    let steps = trainer.position.step..round_end(trainer, average);
    let mut notes = vec![];
    for (&rank, hosted) in &mut trainer.hosted {
        let replica = &trainer.round.replicas[&rank];
        let share = trainer.shares.of_round(rank, steps.clone());
        let arrays = std::iter::once(&replica.weights).chain(&replica.slots);
        for (to, from) in hosted.memory.chunks_exact_mut(count).zip(arrays) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from * share);
        }
        notes.push(replica.tally.note());
    }
    let length = trainer.contribution();
    let parts: Vec<Part<'_>> = trainer
        .hosted
        .values()
        .zip(&notes)
        .map(|(hosted, &note)| Part { values: &hosted.memory[..length], note })
        .collect();
    let sum = exchange.all_reduce(&parts).await?;
    let tally = Tally::of_notes(sum.notes);
    let mut arrays = sum.values.chunks_exact(count).map(<[f32]>::to_vec);
    let mut weights = arrays.next().expect("the weights come first");
    if let (Some(outer), Some(start)) = (&average.outer, trainer.round.start()) {
        let trained = Trained::of(&trainer.graph);
        for range in trained.ranges().iter().cloned() {
            let (start, velocity) =
                (&start.weights[range.clone()], &mut trainer.outer[range.clone()]);
            step_outside(outer, start, velocity, &mut weights[range]);
        }
    }
    trainer.session.weights_mut().copy_from_slice(&weights);
    trainer.optimizer.restore(&arrays.collect::<Vec<_>>(), steps.end);
    come_together(trainer, steps.end, &tally);
    Ok(())
}

/// Keeps every rank's model, once it has come to its end.
pub(super) async fn finish_members(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
) -> Result<(), Error> {
    let ranks: Vec<usize> = trainer.hosted.keys().copied().collect();
    for &rank in &ranks {
        trainer.save_member(rank)?;
    }
    let notes: Vec<_> =
        ranks.iter().map(|rank| trainer.round.replicas[rank].tally.note()).collect();
    let tally = Tally::of_notes(exchange.gather(&notes).await?);
    let end = trainer.steps();
    come_together(trainer, end, &tally);
    Ok(())
}

fn come_together(trainer: &mut Trainer, step: u64, tally: &Tally) {
    trainer.round = super::Round::default();
    trainer.position.step = step;
    trainer.position.tally.add(tally);
}

/// The rank to train next, its weights in the engine; none when all are at the end.
fn take_in_hand(trainer: &mut Trainer, average: &Average, end: u64) -> Option<InHand> {
    let Trainer { session, optimizer, round, position, hosted, .. } = trainer;
    round.begin(session, optimizer);
    match round.in_hand {
        Some(in_hand) if in_hand.step < end && hosted.contains_key(&in_hand.rank) => {
            return round.in_hand;
        }
        _ => round.put_aside(session, optimizer),
    }
    let reached = |rank| round.replicas.get(rank).map_or(position.step, |replica| replica.step);
    let rank = *hosted.keys().find(|rank| reached(rank) < end)?;
    let in_hand = match round.replicas.remove(&rank) {
        Some(replica) => {
            session.weights_mut().copy_from_slice(&replica.weights);
            optimizer.restore(&replica.slots, replica.step);
            InHand { rank, step: replica.step, tally: replica.tally }
        }
        None => {
            let start = round.start().expect("the round has begun");
            session.weights_mut().copy_from_slice(&start.weights);
            optimizer.restore(&start.slots, position.step);
            if position.step == 0 && !average.shared_init {
                let own = trainer.graph.initialize_for(trainer.settings.seed, rank as u64);
                session.weights_mut().copy_from_slice(&own);
            }
            InHand { rank, step: position.step, tally: Tally::default() }
        }
    };
    Some(in_hand)
}

/// The step at which the round that is under way ends.
fn round_end(trainer: &Trainer, average: &Average) -> u64 {
    let (step, all) = (trainer.position.step, trainer.steps());
    let after = |length: u64| (step / length + 1).saturating_mul(length);
    let end = match average.sync {
        _ if average.combine == Combine::Vote => all,
        Sync::Epoch => after(trainer.steps_per_epoch()),
        Sync::Steps(length) => after(length),
        Sync::Rounds(rounds) => after(all.div_ceil(u64::from(rounds))),
    };
    end.min(all)
}

/// Takes the change of the mean for a gradient and makes a step of Nesterov's momentum with it.
fn step_outside(outer: &Outer, start: &[f32], velocity: &mut [f32], mean: &mut [f32]) {
    for ((mean, start), velocity) in mean.iter_mut().zip(start).zip(velocity) {
        let gradient = start - *mean;
        *velocity = outer.momentum * *velocity + gradient;
        *mean = start - outer.learning_rate * (gradient + outer.momentum * *velocity);
    }
}
