//! What workers and servers say to each other: frames of a few numbers and then floats, little-endian.
//! A frame is a kind, a count of words, the words (`u64`), and the floats.

use collective::Note;

use super::State;

/// The most floats a frame may hold: a gigabyte of them.
const MAX_FLOATS: usize = 1 << 28;

/// The longest frame.
pub(crate) const MAX_FRAME: usize = MAX_FLOATS * 4 + (1 << 16);

/// What a worker asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// The first words: which group the worker is of, and how many processes of workers there are.
    Join { generation: u64, members: u64 },
    /// A gradient for an update: its turn, whose it is, and what it counted. Whoever has no turn says
    /// so with a turn that there is not.
    Push { step: u64, turn: u64, rank: u64, note: Note, gradient: Vec<f32> },
    /// The sum of squares of an update's gradient, for clipping.
    Squares { step: u64 },
    /// The weights after so many updates; the update itself is made with this norm, if it is clipped.
    Pull { step: u64, norm: Option<f32> },
    /// Everything that is held.
    Fetch,
    /// Hold this from now on.
    Set(State),
    /// Go back to a step, where that is one update ago.
    Align { step: u64 },
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// Weights after so many updates, and what the turns of the last one counted.
    Weights { step: u64, notes: Vec<Note>, weights: Vec<f32> },
    /// A sum of squares.
    Squares(f64),
    /// Everything that is held.
    State(State),
    /// It is done.
    Done,
    /// It cannot be done.
    No,
}

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Request::Join { generation, members } => frame(0, &[*generation, *members], &[]),
            Request::Push { step, turn, rank, note, gradient } => {
                let mut words = vec![*step, *turn, *rank];
                words.extend(note_words(note));
                frame(1, &words, &[gradient])
            }
            Request::Squares { step } => frame(2, &[*step], &[]),
            Request::Pull { step, norm } => {
                let norm = norm.map_or(vec![], |norm| vec![u64::from(norm.to_bits())]);
                frame(3, &[vec![*step], norm].concat(), &[])
            }
            Request::Fetch => frame(4, &[], &[]),
            Request::Set(state) => state_frame(5, state),
            Request::Align { step } => frame(6, &[*step], &[]),
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Request> {
        let Frame { kind, words, floats } = Frame::read(bytes)?;
        Some(match (kind, words.as_slice()) {
            (0, &[generation, members]) => Request::Join { generation, members },
            (1, [step, turn, rank, note @ ..]) => Request::Push {
                step: *step,
                turn: *turn,
                rank: *rank,
                note: note_of(note)?,
                gradient: floats,
            },
            (2, &[step]) => Request::Squares { step },
            (3, &[step]) => Request::Pull { step, norm: None },
            (3, &[step, norm]) => {
                Request::Pull { step, norm: Some(f32::from_bits(u32::try_from(norm).ok()?)) }
            }
            (4, []) => Request::Fetch,
            (5, words) => Request::Set(state_of(words, &floats)?),
            (6, &[step]) => Request::Align { step },
            _ => return None,
        })
    }
}

impl Answer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Answer::Weights { step, notes, weights } => {
                let words = notes.iter().flat_map(note_words);
                frame(0, &[*step].into_iter().chain(words).collect::<Vec<_>>(), &[weights])
            }
            Answer::Squares(squares) => frame(1, &[squares.to_bits()], &[]),
            Answer::State(state) => state_frame(2, state),
            Answer::Done => frame(3, &[], &[]),
            Answer::No => frame(4, &[], &[]),
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Answer> {
        let Frame { kind, words, floats } = Frame::read(bytes)?;
        Some(match (kind, words.as_slice()) {
            (0, [step, notes @ ..]) => {
                let notes = notes.chunks(NOTE_WORDS).map(note_of).collect::<Option<_>>()?;
                Answer::Weights { step: *step, notes, weights: floats }
            }
            (1, &[squares]) => Answer::Squares(f64::from_bits(squares)),
            (2, words) => Answer::State(state_of(words, &floats)?),
            (3, []) => Answer::Done,
            (4, []) => Answer::No,
            _ => return None,
        })
    }
}

struct Frame {
    kind: u8,
    words: Vec<u64>,
    floats: Vec<f32>,
}

impl Frame {
    fn read(bytes: &[u8]) -> Option<Frame> {
        let (&kind, rest) = bytes.split_first()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = (u32::from_le_bytes(*count) as usize).checked_mul(8)?;
        let (words, floats) = rest.split_at_checked(count)?;
        let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
        let float = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes"));
        floats.len().is_multiple_of(4).then(|| Frame {
            kind,
            words: words.chunks_exact(8).map(word).collect(),
            floats: floats.chunks_exact(4).map(float).collect(),
        })
    }
}

fn frame(kind: u8, words: &[u64], floats: &[&[f32]]) -> Vec<u8> {
    let length = floats.iter().map(|floats| floats.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(5 + 8 * words.len() + 4 * length);
    bytes.push(kind);
    bytes.extend_from_slice(&(words.len() as u32).to_le_bytes());
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    for floats in floats {
        floats.iter().for_each(|float| bytes.extend_from_slice(&float.to_le_bytes()));
    }
    bytes
}

const NOTE_WORDS: usize = size_of::<Note>() / 8;

fn note_words(note: &Note) -> Vec<u64> {
    let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
    note.chunks_exact(8).map(word).collect()
}

fn note_of(words: &[u64]) -> Option<Note> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.try_into().ok()
}

/// Words: the step, how many slots, then the turns. Floats: the weights, then each slot.
fn state_frame(kind: u8, state: &State) -> Vec<u8> {
    let mut words = vec![state.step, state.slots.len() as u64];
    words.extend(&state.turns);
    let mut floats: Vec<&[f32]> = vec![&state.weights];
    floats.extend(state.slots.iter().map(Vec::as_slice));
    frame(kind, &words, &floats)
}

fn state_of(words: &[u64], floats: &[f32]) -> Option<State> {
    let [step, slots, turns @ ..] = words else { return None };
    let arrays = usize::try_from(*slots).ok().filter(|&slots| slots < 16)? + 1;
    if !floats.len().is_multiple_of(arrays) {
        return None;
    }
    let length = floats.len() / arrays;
    let array = |i: usize| floats[i * length..(i + 1) * length].to_vec();
    let slots = (1..arrays).map(array).collect();
    Some(State { step: *step, turns: turns.to_vec(), weights: array(0), slots })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let state = State {
            step: 7,
            turns: vec![3, 4],
            weights: vec![1.0, -0.0],
            slots: vec![vec![0.5, 2.0]; 2],
        };
        let requests = [
            Request::Join { generation: 3, members: 2 },
            Request::Push { step: 1, turn: 2, rank: 3, note: [9; 64], gradient: vec![1.5; 3] },
            Request::Squares { step: 4 },
            Request::Pull { step: 5, norm: None },
            Request::Pull { step: 5, norm: Some(0.25) },
            Request::Fetch,
            Request::Set(state.clone()),
            Request::Align { step: 6 },
        ];
        for request in requests {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        let notes = vec![[1; 64], [2; 64]];
        let answers = [
            Answer::Weights { step: 5, notes, weights: vec![1.0] },
            Answer::Squares(2.5),
            Answer::State(state),
            Answer::Done,
            Answer::No,
        ];
        for answer in answers {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
    }

    #[test]
    fn nonsense_is_not() {
        let whole = Request::Push { step: 1, turn: 2, rank: 3, note: [9; 64], gradient: vec![1.5] };
        let bytes = whole.encode();
        for end in 0..bytes.len() {
            assert_eq!(Request::decode(&bytes[..end]).filter(|_| end < bytes.len() - 4), None);
        }
        assert_eq!(Request::decode(&[5, 2, 0, 0, 0]), None);
        assert_eq!(Answer::decode(&[255; 64]), None);
    }
}
