//! A worker's end of the lines to all servers: what it asks of the weights, it asks of each range.

use std::ops::Range;

use collective::{Access, Broken, Contact, Meter, Net, Note, Reader, Writer, knock};
use futures::future::try_join_all;
use tokio::sync::watch;

use super::request::{Answer, Request};
use super::{State, range};

/// Lines to all servers, for one group.
pub(crate) struct Servers {
    lines: Vec<Line>,
    /// The newest generation that was announced: every wait ends when it is another.
    fence: watch::Receiver<u64>,
    generation: u64,
    bytes_sent: u64,
}

struct Line {
    process: u32,
    range: Range<usize>,
    reader: Reader,
    writer: Writer,
}

/// Where servers are, and for whom.
pub(crate) struct Directory<'a> {
    pub(crate) net: &'a dyn Net,
    pub(crate) access: &'a Access,
    pub(crate) meter: &'a Meter,
    /// By the range that each holds.
    pub(crate) servers: &'a [(u32, Contact)],
    pub(crate) generation: u64,
    /// How many processes of workers there are.
    pub(crate) members: usize,
    /// How many weights there are.
    pub(crate) count: usize,
}

impl Servers {
    /// Calls every server.
    pub(crate) async fn call(
        directory: Directory<'_>,
        mut fence: watch::Receiver<u64>,
    ) -> Result<Self, Broken> {
        let Directory { net, access, meter, servers, generation, members, count } = directory;
        let call = async |(index, (process, contact)): (usize, &(u32, Contact))| {
            let wire = knock(net, &contact.address, &contact.fingerprint, access).await;
            let wire = wire.map_err(|refusal| lost(*process, refusal))?;
            let (reader, writer) = wire.metered(meter).split();
            let range = range(count, servers.len(), index);
            Ok(Line { process: *process, range, reader, writer })
        };
        let lines = tokio::select! {
            biased;
            _ = fence.wait_for(|newest| *newest > generation) => return Err(Broken::Superseded),
            lines = try_join_all(servers.iter().enumerate().map(call)) => lines?,
        };
        let mut called = Servers { lines, fence, generation, bytes_sent: 0 };
        let join = Request::Join { generation, members: members as u64 };
        called.ask(|_| join.clone()).await?;
        Ok(called)
    }

    /// What was sent so far.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    /// Hands in a gradient for an update.
    pub(crate) async fn push(
        &mut self,
        (step, turn, rank): (u64, u64, usize),
        note: Note,
        gradient: &[f32],
    ) -> Result<(), Broken> {
        self.ask(|range| {
            let part = gradient.get(range).unwrap_or(&[]).to_vec();
            Request::Push { step, turn, rank: rank as u64, note, gradient: part }
        })
        .await
    }

    /// The norm of an update's gradient.
    pub(crate) async fn norm(&mut self, step: u64) -> Result<f32, Broken> {
        self.ask(|_| Request::Squares { step }).await?;
        let mut all = 0.0;
        for (index, (_, answer)) in self.answers().await?.into_iter().enumerate() {
            let Answer::Squares(squares) = answer else { return Err(self.strange(index)) };
            all += squares;
        }
        Ok(all.sqrt() as f32)
    }

    /// The weights after so many updates.
    pub(crate) async fn pull(
        &mut self,
        step: u64,
        norm: Option<f32>,
        weights: &mut [f32],
    ) -> Result<(u64, Vec<Note>), Broken> {
        self.ask(|_| Request::Pull { step, norm }).await?;
        self.weights(weights).await
    }

    /// Takes the weights that every server answers with. The first one's step and notes count.
    pub(crate) async fn weights(
        &mut self,
        weights: &mut [f32],
    ) -> Result<(u64, Vec<Note>), Broken> {
        let mut first = None;
        for (index, (range, answer)) in self.answers().await?.into_iter().enumerate() {
            match answer {
                Answer::Weights { step, notes, weights: part } if part.len() == range.len() => {
                    weights[range].copy_from_slice(&part);
                    first.get_or_insert((step, notes));
                }
                _ => return Err(self.strange(index)),
            }
        }
        first.ok_or_else(|| self.strange(0))
    }

    /// Everything the servers hold; of one step, where a step is given.
    pub(crate) async fn fetch(&mut self, count: usize, at: Option<u64>) -> Result<State, Broken> {
        self.ask(|_| Request::Fetch).await?;
        let mut whole = State { weights: vec![0.0; count], ..State::default() };
        for (index, (range, answer)) in self.answers().await?.into_iter().enumerate() {
            let Answer::State(part) = answer else { return Err(self.strange(index)) };
            if part.weights.len() != range.len() || at.is_some_and(|step| step != part.step) {
                return Err(self.strange(index));
            }
            if index == 0 {
                (whole.step, whole.turns) = (part.step, part.turns);
                whole.slots = vec![vec![0.0; count]; part.slots.len()];
            }
            whole.weights[range.clone()].copy_from_slice(&part.weights);
            for (to, from) in whole.slots.iter_mut().zip(&part.slots) {
                to[range.clone()].copy_from_slice(from);
            }
        }
        Ok(whole)
    }

    /// Has the servers hold this.
    pub(crate) async fn set(&mut self, state: &State) -> Result<(), Broken> {
        self.ask(|range| {
            let slots = state.slots.iter().map(|slot| slot[range.clone()].to_vec()).collect();
            let weights = state.weights[range.clone()].to_vec();
            let (first, turns) = (range.start as u64, state.turns.clone());
            Request::Set(State { first, step: state.step, turns, weights, slots })
        })
        .await?;
        self.done().await
    }

    /// Has the servers go on from a step that each of them holds.
    pub(crate) async fn align(&mut self, step: u64) -> Result<(), Broken> {
        self.ask(|_| Request::Align { step }).await?;
        self.done().await
    }

    async fn done(&mut self) -> Result<(), Broken> {
        let answers = self.answers().await?;
        match answers.iter().position(|(_, answer)| *answer != Answer::Done) {
            Some(index) => Err(self.strange(index)),
            None => Ok(()),
        }
    }

    async fn ask(&mut self, request: impl Fn(Range<usize>) -> Request) -> Result<(), Broken> {
        let Servers { lines, fence, generation, bytes_sent } = self;
        for line in lines {
            let request = request(line.range.clone());
            *bytes_sent += tokio::select! {
                biased;
                _ = fence.wait_for(|newest| *newest > *generation) => return Err(Broken::Superseded),
                sent = request.send(&mut line.writer) => sent.map_err(|e| lost(line.process, e))?,
            };
        }
        Ok(())
    }

    async fn answers(&mut self) -> Result<Vec<(Range<usize>, Answer)>, Broken> {
        let Servers { lines, fence, generation, .. } = self;
        let mut answers = vec![];
        for line in lines {
            let answer = tokio::select! {
                biased;
                _ = fence.wait_for(|newest| *newest > *generation) => return Err(Broken::Superseded),
                answer = Answer::receive(&mut line.reader) => answer.map_err(|e| lost(line.process, e))?,
            };
            let answer = answer.ok_or_else(|| lost(line.process, "it hung up"))?;
            answers.push((line.range.clone(), answer));
        }
        Ok(answers)
    }

    fn strange(&self, index: usize) -> Broken {
        let process = self.lines.get(index).map_or(0, |line| line.process);
        Broken::Refused { process, problem: "the server holds another state".into() }
    }
}

fn lost(process: u32, problem: impl ToString) -> Broken {
    Broken::Lost { process, problem: problem.to_string() }
}
