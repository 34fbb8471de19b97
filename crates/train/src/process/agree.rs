//! Going on from one state: whoever lacks it gets it from the process that holds the newest, and a rank
//! that has gone on by itself is handed to its new host with all it has done.

use collective::Broken;

use crate::checkpoint::{Position, Snapshot};
use crate::message::Move;
use crate::pulse::Exchange;
use crate::strategy::Replica;
use crate::tally::Tally;
use crate::{Error, Trainer};

/// The longest position, as text, that is believed.
const MAX_POSITION: usize = 1 << 24;

/// What `from` holds goes to every process of the group; those that `need` it take it over.
pub(super) async fn share_state(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    from: usize,
    need: bool,
) -> Result<(), Error> {
    let own = trainer.snapshot();
    let text = serde_json::to_vec(&own.position).expect("a position is plain data");
    let mut lengths =
        words(&[text.len() as u64, own.arrays.last().map_or(0, |a| a.1.len() as u64)]);
    exchange.broadcast(from, &mut lengths).await?;
    let lengths = numbers(&lengths);
    let length = usize::try_from(lengths[0]).unwrap_or(usize::MAX);
    if length > MAX_POSITION {
        return Err(strange(exchange, from, format!("its position has {length} bytes")).into());
    }
    let mut text = pack(&text, length);
    exchange.broadcast(from, &mut text).await?;
    let mut arrays = own.arrays;
    if let Some((_, best)) = arrays.last_mut() {
        best.resize(usize::try_from(lengths[1]).unwrap_or(0).min(trainer.parameters()), 0.0);
    }
    for (_, array) in &mut arrays {
        exchange.broadcast(from, array).await?;
    }
    if need {
        let bytes = unpack(&text, length);
        let position: Position = serde_json::from_slice(&bytes).map_err(|error| {
            strange(exchange, from, format!("its state cannot be read: {error}"))
        })?;
        trainer.restore(Snapshot { position, arrays })?;
    }
    Ok(())
}

/// One rank's own progress goes from one process to another. Only these two take part.
pub(super) async fn hand_over(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
    (own, from, to): (bool, usize, usize),
    Move { rank, .. }: Move,
) -> Result<(), Error> {
    let (session, optimizer) = (&trainer.session, &trainer.optimizer);
    if own {
        trainer.round.put_aside(session, optimizer);
    }
    let given = trainer.round.replicas.get(&rank).filter(|_| own).cloned();
    let mut replica = given.unwrap_or_else(|| Replica {
        step: 0,
        tally: Tally::default(),
        weights: vec![0.0; trainer.parameters()],
        slots: optimizer.slots().iter().map(|slot| vec![0.0; slot.len()]).collect(),
    });
    let Tally { loss, correct, samples } = replica.tally;
    let mut head = words(&[replica.step, loss.to_bits(), correct, samples]);
    exchange.pass(from, to, &mut head).await?;
    for array in std::iter::once(&mut replica.weights).chain(&mut replica.slots) {
        exchange.pass(from, to, array).await?;
    }
    if !own {
        let head = numbers(&head);
        replica.step = head[0];
        replica.tally = Tally { loss: f64::from_bits(head[1]), correct: head[2], samples: head[3] };
        trainer.round.begin(&trainer.session, &trainer.optimizer);
        trainer.round.replicas.insert(rank, replica);
    }
    Ok(())
}

/// The process at a seat says what nobody understands.
fn strange(exchange: &Exchange<'_>, seat: usize, problem: String) -> Broken {
    let process = exchange.group.layout().seats.get(seat).map_or(0, |seat| seat.process);
    Broken::Refused { process, problem }
}

/// Numbers as floats that only carry their bits.
fn words(numbers: &[u64]) -> Vec<f32> {
    let halves = numbers.iter().flat_map(|number| [*number as u32, (number >> 32) as u32]);
    halves.map(f32::from_bits).collect()
}

fn numbers(words: &[f32]) -> Vec<u64> {
    let pair = |pair: &[f32]| u64::from(pair[0].to_bits()) | u64::from(pair[1].to_bits()) << 32;
    words.chunks_exact(2).map(pair).collect()
}

/// Bytes as floats that only carry them: room for `len`, of which there may be fewer here.
fn pack(bytes: &[u8], len: usize) -> Vec<f32> {
    let mut padded = bytes.to_vec();
    padded.resize(len.next_multiple_of(4), 0);
    let word = |b: &[u8]| f32::from_bits(u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    padded.chunks_exact(4).map(word).collect()
}

fn unpack(words: &[f32], len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_bits().to_le_bytes()).collect();
    bytes.truncate(len);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_travel_as_floats() {
        let all = [0, 1, u64::MAX, f64::NAN.to_bits(), 0x7fa0_0000_7f80_0001];
        assert_eq!(numbers(&words(&all)), all);
        for len in 0..9 {
            let bytes: Vec<u8> = (0..len).map(|i| 250 + i as u8 % 6).collect();
            assert_eq!(unpack(&pack(&bytes, len), len), bytes);
        }
    }
}
