//! A group through shared memory, for processes of one user on one machine.
//!
//! The process at seat 0 makes a [segment](segment) of memory and [passes](passing) it to the others.
//! What lies where in it is told in [areas], how processes wait for each other in [board].
//!
//! One all-reduce: every seat puts its ranks' values where all can read them (they are there already
//! when the caller keeps them in a slot), and its notes; a barrier; each seat adds up its portion of
//! all ranks' values, in the canonical order, into the result; a barrier; everyone reads the result
//! where it is. Nothing else is copied. The result stays as it is until this seat comes to the first
//! barrier of the next all-reduce, which it does only when its caller has let go of it.
//!
//! Each generation has a segment of its own. A process that is late in an old one writes into memory
//! that nobody reads.
#![expect(unsafe_code, reason = "floats in memory that other processes write to")]

mod areas;
mod board;
mod host;
mod outbox;
mod passing;
mod segment;

use std::ops::{DerefMut, Range};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::fence::Fence;
use crate::group::{Note, Part, check_parts};
use crate::share::portion;
use crate::tree::{Span, Sum};
use crate::{Broken, Layout};
use areas::Areas;
use board::Board;
pub(crate) use passing::Passing;
use segment::{Segment, Slot};

pub(crate) struct Shared {
    board: Arc<Board>,
    ranks: Vec<usize>,
    /// Which of those that add up a portion this seat is.
    owner: usize,
    len: usize,
    sum: Sum,
    pub(crate) notes: Vec<Note>,
    /// Which ranks' slots were given out.
    given_out: Vec<bool>,
    /// How many all-reduces and barriers there were.
    rounds: usize,
    barriers: u32,
    /// How often this seat gave each other seat something, and took something from it.
    given: Vec<u32>,
    taken: Vec<u32>,
    pub(crate) bytes_written: u64,
}

impl Shared {
    /// How large a segment for this layout is.
    fn areas(layout: &Layout) -> Result<Areas, Broken> {
        let too_large =
            || Broken::unable("so many values for so many ranks have no room in memory");
        Areas::new(layout).ok_or_else(too_large)
    }

    /// Takes this process' seat at a segment.
    fn sit_down(layout: &Layout, areas: Areas, segment: impl AsFd) -> Result<Shared, Broken> {
        let segment = Segment::map(segment, areas.size).map_err(Broken::unable)?;
        let leaves: Vec<Span> = (0..layout.world).map(|rank| rank..rank + 1).collect();
        let owners = layout.owners();
        Ok(Shared {
            board: Arc::new(Board::new(segment, areas, layout)),
            ranks: layout.seats[layout.me].ranks.clone(),
            owner: owners.iter().position(|seat| *seat == layout.me).unwrap_or(0),
            len: layout.len,
            sum: Sum::new(0..layout.world, &leaves),
            notes: vec![[0; 64]; layout.world],
            given_out: vec![false; layout.world],
            rounds: 0,
            barriers: 0,
            given: vec![0; layout.seats.len()],
            taken: vec![0; layout.seats.len()],
            bytes_written: 0,
        })
    }

    /// A rank's slot, the first time it is asked for.
    pub(crate) fn slot(&mut self, rank: usize) -> Option<Box<dyn DerefMut<Target = [f32]> + Send>> {
        if !self.ranks.contains(&rank) || std::mem::replace(&mut self.given_out[rank], true) {
            return None;
        }
        let (segment, at) = (Arc::clone(&self.board.segment), self.board.areas.slot(rank));
        // SAFETY: it is given out once, by the only seat that hosts the rank. Others read it between
        // the barriers of an all-reduce, while its owner lends it to that all-reduce; if the owner
        // gives that up, they are told not to use what they read.
        let slot = unsafe { Slot::new(segment, at, self.len) };
        Some(Box::new(slot))
    }

    /// The sum of the last all-reduce.
    pub(crate) fn result(&self, len: usize) -> &[f32] {
        // SAFETY: nobody writes to it before this seat comes to the next all-reduce.
        unsafe { self.board.segment.floats(self.board.areas.result, len) }
    }

    /// How many values were summed.
    pub(crate) async fn all_reduce(
        &mut self,
        parts: &[Part<'_>],
        fence: &Fence,
    ) -> Result<usize, Broken> {
        fence.check()?;
        let len = check_parts(parts, self.ranks.len(), self.len)?;
        let inside = self.board.enter();
        let face = self.rounds % 2;
        self.rounds += 1;
        self.bring(parts, face);
        self.board.call(face, len);
        self.barrier(fence).await?;
        self.agree(face, len)?;
        for (rank, note) in self.notes.iter_mut().enumerate() {
            *note = self.board.read_note(rank, face);
        }
        if len > 0 {
            self.add_up(len, face);
            self.barrier(fence).await?;
        }
        inside.end(self.barriers);
        Ok(len)
    }

    async fn barrier(&mut self, fence: &Fence) -> Result<(), Broken> {
        self.barriers = self.barriers.wrapping_add(1);
        self.board.barrier(self.barriers, fence).await
    }

    /// Puts this seat's values and notes where all can read them.
    fn bring(&mut self, parts: &[Part<'_>], face: usize) {
        let Board { segment, areas, .. } = &*self.board;
        for (&rank, part) in self.ranks.iter().zip(parts) {
            self.board.write_note(rank, face, &part.note);
            // SAFETY: only its address is looked at.
            let slot = unsafe { segment.floats(areas.slot(rank), 0) };
            let is_in_slot = std::ptr::eq(slot.as_ptr(), part.values.as_ptr());
            segment.word(areas.is_in_slot(rank, face)).store(u32::from(is_in_slot), Relaxed);
            if !is_in_slot {
                // SAFETY: others read it only between the barriers of an all-reduce, and this seat
                // has reached the last one of the one before.
                let copy = unsafe { segment.floats_mut(areas.copy(rank), part.values.len()) };
                copy.copy_from_slice(part.values);
            }
            self.bytes_written += size_of::<Note>() as u64;
        }
    }

    /// All must have called for as many values.
    fn agree(&self, face: usize, len: usize) -> Result<(), Broken> {
        let called = |seat: usize| self.board.called(seat, face);
        let other = self.board.owners.iter().find(|seat| called(**seat) != len as u64);
        other.map_or(Ok(()), |&seat| {
            let problem = format!("it sums {} values where others sum {len}", called(seat));
            Err(Broken::refused(self.board.process(seat), problem))
        })
    }

    /// Adds up this seat's portion of everyone's values.
    fn add_up(&mut self, len: usize, face: usize) {
        let range = portion(len, self.board.owners.len(), self.owner);
        let leaves: Vec<&[f32]> =
            (0..self.notes.len()).map(|rank| values(&self.board, rank, face, &range)).collect();
        let Board { segment, areas, .. } = &*self.board;
        // SAFETY: portions do not overlap, and nobody reads the result between the two barriers.
        let out = unsafe { segment.floats_mut(areas.result + 4 * range.start, range.len()) };
        self.sum.run(&leaves, out);
        let elsewhere = (len - range.len()) * self.ranks.len();
        self.bytes_written += ((elsewhere + range.len()) * size_of::<f32>()) as u64;
    }
}

/// Some of a rank's values, between the two barriers.
fn values<'a>(board: &'a Board, rank: usize, face: usize, range: &Range<usize>) -> &'a [f32] {
    let Board { segment, areas, .. } = board;
    let is_in_slot = segment.word(areas.is_in_slot(rank, face)).load(Relaxed) == 1;
    let at = if is_in_slot { areas.slot(rank) } else { areas.copy(rank) };
    // SAFETY: its host does not write to it between the barriers; if it leaves in the middle, what is
    // read is not used.
    unsafe { segment.floats(at + 4 * range.start, range.len()) }
}
