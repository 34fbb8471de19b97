//! How what workers and servers say is put into frames: a kind, a count of words, the words (`u64`), and
//! then floats, all little-endian. A whole state is several frames, its arrays following in one each, so
//! that no frame is longer than a range of the weights.

use std::io;

use collective::{Note, Reader, Writer};

use super::State;

/// The longest frame: as long as a frame can be.
pub(super) const MAX_FRAME: usize = u32::MAX as usize;

/// The most weights that a frame holds, with room for the numbers before them.
pub(super) const MAX_WEIGHTS: usize = (MAX_FRAME - (1 << 20)) / 4;

pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) words: Vec<u64>,
    pub(super) floats: Vec<f32>,
}

impl Frame {
    pub(super) fn read(bytes: &[u8]) -> Option<Frame> {
        let (&kind, rest) = bytes.split_first()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = (u32::from_le_bytes(*count) as usize).checked_mul(8)?;
        let (words, floats) = rest.split_at_checked(count)?;
        let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
        let words = words.chunks_exact(8).map(word).collect();
        Some(Frame { kind, words, floats: floats_of(floats)? })
    }
}

pub(super) fn frame(kind: u8, words: &[u64], floats: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5 + 8 * words.len() + 4 * floats.len());
    bytes.push(kind);
    bytes.extend_from_slice(&(words.len() as u32).to_le_bytes());
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    floats.iter().for_each(|float| bytes.extend_from_slice(&float.to_le_bytes()));
    bytes
}

pub(super) const NOTE_WORDS: usize = size_of::<Note>() / 8;

pub(super) fn note_words(note: &Note) -> Vec<u64> {
    let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
    note.chunks_exact(8).map(word).collect()
}

pub(super) fn note_of(words: &[u64]) -> Option<Note> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.try_into().ok()
}

/// Words: the first weight, the step, how many slots, then the turns. The arrays follow in frames of their own.
pub(super) fn state_frame(kind: u8, state: &State) -> Vec<u8> {
    let mut words = vec![state.first, state.step, state.slots.len() as u64];
    words.extend(&state.turns);
    frame(kind, &words, &[])
}

pub(super) fn state_of(words: &[u64]) -> Option<State> {
    let [first, step, slots, turns @ ..] = words else { return None };
    let slots = usize::try_from(*slots).ok().filter(|&slots| slots < 16)?;
    let (turns, slots) = (turns.to_vec(), vec![vec![]; slots]);
    Some(State { first: *first, step: *step, turns, weights: vec![], slots })
}

pub(super) async fn send(
    writer: &mut Writer,
    first: &[u8],
    state: Option<&State>,
) -> io::Result<u64> {
    writer.send(first).await?;
    let mut sent = first.len();
    let mut arrays: Vec<&[f32]> = vec![];
    if let Some(State { weights, slots, .. }) = state {
        arrays.push(weights);
        arrays.extend(slots.iter().map(Vec::as_slice));
    }
    for array in arrays {
        let bytes = bytes_of(array);
        writer.send(&bytes).await?;
        sent += bytes.len();
    }
    Ok(sent as u64)
}

/// The arrays of a state: the weights, then each slot, all of one length.
pub(super) async fn receive_arrays(reader: &mut Reader, state: &mut State) -> io::Result<()> {
    let mut arrays = vec![&mut state.weights];
    arrays.extend(state.slots.iter_mut());
    for array in arrays {
        let frame = reader.receive(MAX_FRAME).await?.ok_or_else(nonsense)?;
        *array = floats_of(&frame).ok_or_else(nonsense)?;
    }
    match state.slots.iter().all(|slot| slot.len() == state.weights.len()) {
        true => Ok(()),
        false => Err(nonsense()),
    }
}

fn bytes_of(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|float| float.to_le_bytes()).collect()
}

fn floats_of(bytes: &[u8]) -> Option<Vec<f32>> {
    let float = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes"));
    bytes.len().is_multiple_of(4).then(|| bytes.chunks_exact(4).map(float).collect())
}

pub(super) fn nonsense() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it says what nobody understands")
}
