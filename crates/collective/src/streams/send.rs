//! What an all-reduce sends a peer.
//!
//! As much as is ready goes in one call of the system: every call may wake the other process, and
//! waking is dear.

use std::io::IoSlice;
use std::task::{Context, Poll};

use super::reduce::{Reduce, Talk};
use super::turns::Turn;
use crate::Broken;

/// Bytes of a result that are worth a call before all of its chunk is summed.
const WORTH_SENDING: usize = 64 * 1024;
/// How many pieces of memory go in one call: a megabyte of what is swapped, and more.
const MOST: usize = 40;

/// What goes in one call.
struct Load<'a> {
    slices: [IoSlice<'a>; MOST],
    count: usize,
    /// How many bytes of what is put in have gone before.
    gone: usize,
}

impl<'a> Load<'a> {
    fn new(gone: usize) -> Load<'a> {
        Load { slices: [IoSlice::new(&[]); MOST], count: 0, gone }
    }

    fn put(&mut self, values: &'a [f32]) {
        self.put_bytes(bytemuck::cast_slice(values));
    }

    /// Puts something in, as long as there is room.
    fn put_bytes(&mut self, bytes: &'a [u8]) {
        let gone = self.gone.min(bytes.len());
        self.gone -= gone;
        if gone < bytes.len() && !self.is_full() {
            self.slices[self.count] = IoSlice::new(&bytes[gone..]);
            self.count += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.count == MOST
    }
}

impl Reduce<'_> {
    /// Writes once to a peer; whether something went.
    pub(super) fn send(&mut self, place: usize, cx: &mut Context<'_>) -> Result<bool, Broken> {
        if self.talks[place].outgoing.is_flushed {
            return Ok(false);
        }
        self.stage(place);
        let (me, len) = (self.plan.me, self.len);
        let Talk { line, outgoing, .. } = &mut self.talks[place];
        let (opening, staged, progress) = (&outgoing.opening, &outgoing.staged, &outgoing.progress);
        let mut load = Load::new(progress.at);
        let turns = progress.turn.into_iter().chain(progress.turns.clone());
        for (number, turn) in turns.enumerate() {
            match turn {
                Turn::Opening => load.put_bytes(opening),
                Turn::Result(chunk) if chunk < self.summed => {
                    load.put(&self.result[self.plan.chunk_of(me, len, chunk)]);
                }
                // The rest of a chunk follows when it is summed.
                Turn::Result(chunk) if chunk == self.summed => {
                    let summed = self.plan.chunk_of(me, len, chunk).start;
                    if 4 * self.added >= load.gone + WORTH_SENDING {
                        load.put(&self.result[summed..summed + self.added]);
                    }
                    break;
                }
                // There is one place to add pieces up in: only what goes first can be there.
                Turn::Partial(chunk) if number == 0 || !self.plan.stages() => {
                    let range = self.plan.chunk_of(line.seat, len, chunk);
                    for piece in 0..self.plan.pieces[me] {
                        load.put(self.plan.piece(piece, self.parts, range.clone(), staged));
                    }
                }
                Turn::Result(_) | Turn::Partial(_) => break,
            }
            if load.is_full() {
                break;
            }
        }
        if load.count == 0 {
            return self.flush(place, cx);
        }
        match line.poll_send(cx, &load.slices[..load.count])? {
            Poll::Ready(bytes) => self.sent(place, bytes),
            Poll::Pending => return Ok(false),
        }
        Ok(true)
    }

    /// Adds up the pieces of a partial that goes next.
    fn stage(&mut self, place: usize) {
        let Talk { line, outgoing, .. } = &mut self.talks[place];
        if let Some(Turn::Partial(chunk)) = outgoing.progress.turn
            && !std::mem::replace(&mut outgoing.is_staged, true)
        {
            let range = self.plan.chunk_of(line.seat, self.len, chunk);
            self.plan.stage(self.parts, range, &mut outgoing.staged);
        }
    }

    /// So many bytes have gone: what goes next?
    fn sent(&mut self, place: usize, mut bytes: usize) {
        let (me, len) = (self.plan.me, self.len);
        let Talk { line, outgoing, .. } = &mut self.talks[place];
        while let Some(turn) = outgoing.progress.turn {
            let whole = match turn {
                Turn::Opening => outgoing.opening.len(),
                Turn::Result(chunk) => 4 * self.plan.chunk_of(me, len, chunk).len(),
                Turn::Partial(chunk) => {
                    4 * self.plan.chunk_of(line.seat, len, chunk).len() * self.plan.pieces[me]
                }
            };
            let left = whole - outgoing.progress.at;
            if bytes < left {
                outgoing.progress.at += bytes;
                return;
            }
            bytes -= left;
            outgoing.progress.advance();
            outgoing.is_staged = false;
        }
    }

    /// There is nothing to write now: what the stream holds back must not wait.
    fn flush(&mut self, place: usize, cx: &mut Context<'_>) -> Result<bool, Broken> {
        let Talk { line, outgoing, .. } = &mut self.talks[place];
        if line.poll_flush(cx)?.is_ready() && outgoing.progress.turn.is_none() {
            outgoing.is_flushed = true;
        }
        Ok(false)
    }
}
