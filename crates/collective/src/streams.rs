//! A group over connections: TCP, pipes, or a simulation's.
//!
//! Every two seats have a connection. What is done with it: [`reduce`] sums values over all ranks,
//! [`copy`] brings one process' values to others.

mod copy;
mod line;
mod plan;
mod receive;
mod reduce;
mod send;
#[cfg(test)]
mod tests;
mod turns;
mod window;

use std::future::poll_fn;
use std::task::Poll;

use crate::group::{Note, Part, check_parts};
use crate::net::Stream;
use crate::{Broken, Layout};
use line::{Kind, Line};
use plan::{CHUNK, Plan};
use reduce::{Reduce, Talk};

/// Looks before a wait sleeps: some hundred µs. What is missing is often as good as there, and being woken
/// takes longer, on virtual machines many times so.
const LOOKS: u32 = 300;
/// Looks after which a process that waits lets others have its core, if there are any who want it.
const SELFISH: u32 = 20;

pub(crate) struct Streams {
    plan: Plan,
    /// One for each other seat, in their order.
    talks: Vec<Talk>,
    pub(crate) result: Vec<f32>,
    pub(crate) notes: Vec<Note>,
}

impl Streams {
    /// `streams` are the connections to all other seats, in their order.
    pub(crate) fn new(layout: &Layout, streams: Vec<Box<dyn Stream>>) -> Streams {
        Streams::with_chunks(layout, streams, CHUNK)
    }

    fn with_chunks(layout: &Layout, streams: Vec<Box<dyn Stream>>, chunk: usize) -> Streams {
        let plan = Plan::new(layout, chunk);
        let others = (0..layout.seats.len()).filter(|seat| *seat != layout.me);
        let talk = |(seat, stream): (usize, Box<dyn Stream>)| {
            Talk::new(Line::new(seat, layout.seats[seat].process, stream), &plan)
        };
        let talks = others.zip(streams).map(talk).collect();
        let (result, notes) = (vec![0.0; layout.len], vec![[0; 64]; layout.world]);
        Streams { plan, talks, result, notes }
    }

    /// How many values were summed.
    pub(crate) async fn all_reduce(&mut self, parts: &[Part<'_>]) -> Result<usize, Broken> {
        let ranks = &self.plan.ranks[self.plan.me];
        let len = check_parts(parts, ranks.len(), self.result.len())?;
        for (rank, part) in ranks.iter().zip(parts) {
            self.notes[*rank] = part.note;
        }
        let mut reduce = Reduce {
            plan: &mut self.plan,
            talks: &mut self.talks,
            parts,
            result: &mut self.result,
            notes: &mut self.notes,
            len,
            summed: 0,
            added: 0,
        };
        reduce.begin();
        finish(reduce).await
    }

    pub(crate) async fn broadcast(
        &mut self,
        from: usize,
        values: &mut [f32],
    ) -> Result<(), Broken> {
        if from == self.plan.me {
            let lines = self.talks.iter_mut().map(|talk| &mut talk.line);
            return copy::send(lines, Kind::Broadcast, values).await;
        }
        copy::receive(self.line(from), Kind::Broadcast, values).await
    }

    pub(crate) async fn pass(
        &mut self,
        from: usize,
        to: usize,
        values: &mut [f32],
    ) -> Result<(), Broken> {
        if from == self.plan.me {
            copy::send(std::iter::once(self.line(to)), Kind::Pass, values).await
        } else {
            copy::receive(self.line(from), Kind::Pass, values).await
        }
    }

    pub(crate) fn bytes_sent(&self) -> u64 {
        self.talks.iter().map(|talk| talk.line.sent).sum()
    }

    /// The connection to another seat.
    fn line(&mut self, seat: usize) -> &mut Line {
        &mut self.talks[seat - usize::from(seat > self.plan.me)].line
    }
}

/// Goes on with an all-reduce until it is done.
async fn finish(mut reduce: Reduce<'_>) -> Result<usize, Broken> {
    let mut looks = LOOKS;
    loop {
        let look = poll_fn(|cx| match reduce.poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if looks > 0 => Poll::Ready(None),
            Poll::Pending => {
                looks = LOOKS;
                Poll::Pending
            }
        });
        if let Some(outcome) = look.await {
            return outcome;
        }
        looks -= 1;
        if looks < LOOKS - SELFISH {
            std::thread::yield_now();
        }
        tokio::task::yield_now().await;
    }
}
