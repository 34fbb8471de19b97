//! One all-reduce over streams: direct reduce-scatter and all-gather.
//!
//! Every seat that hosts ranks owns a **portion** of the values. A seat sends each owner the
//! **partials** of that owner's portion, its own pieces of the sum, chunk by chunk. An owner adds a
//! chunk up, in the canonical order, when everyone's partials of it are there, and sends the
//! **result** to everyone at once. So a seat sends (M-1)/M of the values to be summed and as much of
//! results: 2(M-1)/M in all, as a ring does, in two hops instead of 2(M-1).
//!
//! Two seats with little to sum **swap** instead: each owns everything, sends all of its values as
//! partials, and has no use for results. Those are as many bytes, in one hop.
//!
//! On each connection both directions go on at the same time, each in the order of [`Turns`].
//! Partials that come before they can be summed wait in a **window** of a few chunks for each peer;
//! when it is full, nothing more is read from that peer. That stops nobody for ever: the peer whose
//! partials are missing is always read from.
//!
//! Here is what moves an all-reduce on; [`receive`](super::receive) and [`send`](super::send) are its
//! two hands.

use std::task::{Context, Poll};

use super::line::{HEAD_BYTES, Kind, Line};
use super::plan::{Plan, WINDOW};
use super::turns::{Turn, Turns};
use super::window::Window;
use crate::Broken;
use crate::group::{Note, Part};

/// Floats that are worth adding up before their chunk is there.
const AT_ONCE: usize = 4 * 1024;

/// A connection and what is on its way over it. Kept from one all-reduce to the next.
pub(super) struct Talk {
    pub(super) line: Line,
    pub(super) incoming: Incoming,
    pub(super) outgoing: Outgoing,
}

/// What a peer sends.
pub(super) struct Incoming {
    pub(super) opening: Vec<u8>,
    /// Chunks of partials that wait to be summed.
    pub(super) window: Window,
    pub(super) progress: Progress,
}

/// What a peer is sent.
pub(super) struct Outgoing {
    pub(super) opening: Vec<u8>,
    /// Pieces of a chunk that had to be added up before they are sent.
    pub(super) staged: Vec<f32>,
    /// They are those of the chunk that goes now.
    pub(super) is_staged: bool,
    pub(super) progress: Progress,
    pub(super) is_flushed: bool,
}

/// How far one direction is.
#[derive(Default)]
pub(super) struct Progress {
    /// What is on its way now; `None` when everything has gone.
    pub(super) turn: Option<Turn>,
    /// How many bytes of it have gone.
    pub(super) at: usize,
    /// What comes after it.
    pub(super) turns: Turns,
}

/// An all-reduce under way.
pub(super) struct Reduce<'a> {
    pub(super) plan: &'a mut Plan,
    pub(super) talks: &'a mut [Talk],
    pub(super) parts: &'a [Part<'a>],
    pub(super) result: &'a mut [f32],
    pub(super) notes: &'a mut [Note],
    /// How many values there are.
    pub(super) len: usize,
    /// How many chunks of this seat's portion are summed, and how many floats of the next one.
    pub(super) summed: usize,
    pub(super) added: usize,
}

impl Talk {
    pub(super) fn new(line: Line, plan: &Plan) -> Talk {
        let opening = vec![0; HEAD_BYTES + plan.ranks[line.seat].len() * size_of::<Note>()];
        let window = Window::new(WINDOW);
        let incoming = Incoming { opening, window, progress: Progress::default() };
        let staged = vec![0.0; plan.staged()];
        let outgoing = Outgoing {
            opening: vec![],
            staged,
            is_staged: false,
            progress: Progress::default(),
            is_flushed: true,
        };
        Talk { line, incoming, outgoing }
    }

    fn begin(&mut self, len: usize, parts: &[Part<'_>], turns: Turns) {
        let head = self.line.begin(Kind::AllReduce, len);
        // What comes is known when the other side's opening is there.
        self.incoming.progress = Progress::begin(Turns::default());
        self.outgoing.opening.clear();
        self.outgoing.opening.extend_from_slice(&head);
        for part in parts {
            self.outgoing.opening.extend_from_slice(&part.note);
        }
        self.outgoing.progress = Progress::begin(turns);
        (self.outgoing.is_staged, self.outgoing.is_flushed) = (false, false);
    }

    fn is_done(&self) -> bool {
        self.incoming.progress.turn.is_none() && self.outgoing.is_flushed
    }
}

impl Progress {
    fn begin(turns: Turns) -> Progress {
        Progress { turn: Some(Turn::Opening), at: 0, turns }
    }

    pub(super) fn advance(&mut self) {
        (self.turn, self.at) = (self.turns.next(), 0);
    }
}

impl Reduce<'_> {
    /// Opens the exchange with everyone who hosts ranks.
    pub(super) fn begin(&mut self) {
        let plan = &self.plan;
        for talk in self.talks.iter_mut().filter(|talk| !plan.ranks[talk.line.seat].is_empty()) {
            let turns = plan.turns(plan.me, talk.line.seat, self.len);
            talk.begin(self.len, self.parts, turns);
        }
    }

    /// Moves everything that can be moved. Ready with the number of values when all is done.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, Broken>> {
        loop {
            let mut moved = false;
            for place in 0..self.talks.len() {
                moved |= self.receive(place, cx)?;
                moved |= self.add_up();
                moved |= self.send(place, cx)?;
            }
            if self.talks.iter().all(Talk::is_done) {
                return Poll::Ready(Ok(self.len));
            }
            if !moved {
                return Poll::Pending;
            }
        }
    }

    /// Adds up as much of this seat's portion as everyone's partials are there for. Chunks are added
    /// up while they come in, before they have left the cache.
    fn add_up(&mut self) -> bool {
        let (me, len, before) = (self.plan.me, self.len, (self.summed, self.added));
        while self.summed < self.plan.chunks(me, len) {
            let chunk = self.plan.chunk_of(me, len, self.summed);
            let (from, to) = (self.added, self.ready(chunk.len()));
            if to == from {
                break;
            }
            let talks = &*self.talks;
            // Seats are in order, this one left out.
            let talk = |seat: usize| &talks[seat - usize::from(seat > me)];
            let brought = |seat: usize, piece: usize| {
                &talk(seat).incoming.window.oldest()[piece * chunk.len()..][from..to]
            };
            let range = chunk.start + from..chunk.start + to;
            self.plan.add_up(self.parts, range.clone(), brought, &mut self.result[range]);
            self.added = to;
            if to == chunk.len() {
                self.talks.iter_mut().for_each(|talk| talk.incoming.window.free_oldest());
                (self.summed, self.added) = (self.summed + 1, 0);
            }
        }
        (self.summed, self.added) != before
    }

    /// How many floats of the next chunk can be added up, of `length`; no less than are.
    fn ready(&self, length: usize) -> usize {
        let brings = |talk: &&Talk| !self.plan.ranks[talk.line.seat].is_empty();
        let come = |talk: &Talk| match talk.incoming.progress.turn {
            _ if talk.incoming.window.has_waiting() => length,
            // Pieces come one after another, so only a single one can be used before all are there.
            Some(Turn::Partial(number))
                if number == self.summed && self.plan.pieces[talk.line.seat] == 1 =>
            {
                talk.incoming.progress.at / size_of::<f32>()
            }
            _ => 0,
        };
        let come = self.talks.iter().filter(brings).map(come).min().unwrap_or(length);
        if come == length { length } else { self.added.max(come / AT_ONCE * AT_ONCE) }
    }
}
