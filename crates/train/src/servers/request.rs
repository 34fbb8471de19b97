//! What workers and servers say to each other.

use std::io;

use collective::{Note, Reader, Writer};

use super::State;
use super::frame::{
    Frame, MAX_FRAME, NOTE_WORDS, frame, nonsense, note_of, note_words, receive_arrays, send,
    state_frame, state_of,
};

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
    /// Sends it: how many bytes that took.
    pub(crate) async fn send(&self, writer: &mut Writer) -> io::Result<u64> {
        let state = match self {
            Request::Set(state) => Some(state),
            _ => None,
        };
        send(writer, &self.encode(), state).await
    }

    /// The next one; none when the other side has closed.
    pub(crate) async fn receive(reader: &mut Reader) -> io::Result<Option<Request>> {
        let Some(frame) = reader.receive(MAX_FRAME).await? else { return Ok(None) };
        let mut request = Request::decode(&frame).ok_or_else(nonsense)?;
        if let Request::Set(state) = &mut request {
            receive_arrays(reader, state).await?;
        }
        Ok(Some(request))
    }

    /// Its first frame.
    fn encode(&self) -> Vec<u8> {
        match self {
            Request::Join { generation, members } => frame(0, &[*generation, *members], &[]),
            Request::Push { step, turn, rank, note, gradient } => {
                let mut words = vec![*step, *turn, *rank];
                words.extend(note_words(note));
                frame(1, &words, gradient)
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

    /// What a first frame says; the arrays of a state are empty yet.
    fn decode(bytes: &[u8]) -> Option<Request> {
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
            (5, words) => Request::Set(state_of(words)?),
            (6, &[step]) => Request::Align { step },
            _ => return None,
        })
    }
}

impl Answer {
    /// Sends it: how many bytes that took.
    pub(crate) async fn send(&self, writer: &mut Writer) -> io::Result<u64> {
        let state = match self {
            Answer::State(state) => Some(state),
            _ => None,
        };
        send(writer, &self.encode(), state).await
    }

    /// The next one; none when the other side has closed.
    pub(crate) async fn receive(reader: &mut Reader) -> io::Result<Option<Answer>> {
        let Some(frame) = reader.receive(MAX_FRAME).await? else { return Ok(None) };
        let mut answer = Answer::decode(&frame).ok_or_else(nonsense)?;
        if let Answer::State(state) = &mut answer {
            receive_arrays(reader, state).await?;
        }
        Ok(Some(answer))
    }

    /// Its first frame.
    fn encode(&self) -> Vec<u8> {
        match self {
            Answer::Weights { step, notes, weights } => {
                let words = notes.iter().flat_map(note_words);
                frame(0, &[*step].into_iter().chain(words).collect::<Vec<_>>(), weights)
            }
            Answer::Squares(squares) => frame(1, &[squares.to_bits()], &[]),
            Answer::State(state) => state_frame(2, state),
            Answer::Done => frame(3, &[], &[]),
            Answer::No => frame(4, &[], &[]),
        }
    }

    /// What a first frame says; the arrays of a state are empty yet.
    fn decode(bytes: &[u8]) -> Option<Answer> {
        let Frame { kind, words, floats } = Frame::read(bytes)?;
        Some(match (kind, words.as_slice()) {
            (0, [step, notes @ ..]) => {
                let notes = notes.chunks(NOTE_WORDS).map(note_of).collect::<Option<_>>()?;
                Answer::Weights { step: *step, notes, weights: floats }
            }
            (1, &[squares]) => Answer::Squares(f64::from_bits(squares)),
            (2, words) => Answer::State(state_of(words)?),
            (3, []) => Answer::Done,
            (4, []) => Answer::No,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use collective::{Access, Door, Memory, Secret, knock};

    use super::*;

    /// Two ends of a line.
    async fn line() -> ((Reader, Writer), (Reader, Writer)) {
        let net = Arc::new(Memory::new());
        let access = Access::plain(Secret::from_hex(&"07".repeat(32)).unwrap());
        let mut door = Door::open(net.clone(), "", access.clone(), Arc::new(|_| {})).await.unwrap();
        let address = door.address().to_owned();
        let (near, far) = tokio::join!(knock(&*net, &address, "", &access), door.accept());
        (near.unwrap().split(), far.unwrap().split())
    }

    #[tokio::test]
    async fn what_is_said_is_understood() {
        let ((mut near, mut asks), (mut far, mut answers_with)) = line().await;
        let state = State {
            first: 4096,
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
            let (sent, received) =
                tokio::join!(request.send(&mut asks), Request::receive(&mut far));
            assert!(sent.unwrap() > 0);
            assert_eq!(received.unwrap(), Some(request));
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
            let (sent, received) =
                tokio::join!(answer.send(&mut answers_with), Answer::receive(&mut near));
            assert!(sent.unwrap() > 0);
            assert_eq!(received.unwrap(), Some(answer));
        }
        drop((near, asks));
        assert_eq!(Request::receive(&mut far).await.unwrap(), None);
    }

    /// A frame has a longest length, which slots must not make a network meet sooner.
    #[tokio::test]
    async fn no_frame_of_a_state_is_longer_than_its_weights() {
        let ((_near, mut asks), (mut far, _far)) = line().await;
        let state =
            State { weights: vec![1.5; 900], slots: vec![vec![0.5; 900]; 2], ..State::default() };
        let request = Request::Set(state);
        let receive = async {
            for _ in 0..4 {
                far.receive(4 * 900).await.unwrap().unwrap();
            }
        };
        let (sent, ()) = tokio::join!(request.send(&mut asks), receive);
        assert!(sent.unwrap() > 3 * 4 * 900);
    }

    #[tokio::test]
    async fn arrays_of_different_lengths_are_no_state() {
        let ((_near, mut asks), (mut far, _far)) = line().await;
        let torn = State { weights: vec![1.0; 2], slots: vec![vec![0.0; 3]], ..State::default() };
        let request = Request::Set(torn);
        let (_, received) = tokio::join!(request.send(&mut asks), Request::receive(&mut far));
        assert!(received.is_err());
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
