//! Values from one process to others, through the sender's outbox.
//!
//! The sender first says how many values come, then puts them piece by piece into the two halves of
//! its outbox in turn. It counts each piece as given, the receiver counts it as taken. A half is
//! filled again when everyone has taken what was in it, and the sender returns when everything is
//! taken, so the outbox is empty whenever an operation begins.
#![expect(unsafe_code, reason = "floats in memory that other processes write to")]

use std::sync::atomic::Ordering::Relaxed;

use super::Shared;
use super::areas::HALF;
use crate::Broken;
use crate::fence::Fence;

impl Shared {
    /// Gives everyone the values of the process at seat `from`.
    pub(crate) async fn broadcast(
        &mut self,
        from: usize,
        values: &mut [f32],
        fence: &Fence,
    ) -> Result<(), Broken> {
        if from != self.board.me {
            return self.take(from, values, fence).await;
        }
        let others: Vec<usize> = (0..self.board.seats()).filter(|seat| *seat != from).collect();
        self.give(&others, values, fence).await
    }

    /// Gives the process at seat `to` the values of that at seat `from`; this is one of them.
    pub(crate) async fn pass(
        &mut self,
        from: usize,
        to: usize,
        values: &mut [f32],
        fence: &Fence,
    ) -> Result<(), Broken> {
        if from == self.board.me {
            self.give(&[to], values, fence).await
        } else {
            self.take(from, values, fence).await
        }
    }

    async fn give(&mut self, to: &[usize], values: &[f32], fence: &Fence) -> Result<(), Broken> {
        fence.check()?;
        let inside = self.board.enter();
        let me = self.board.me;
        for &seat in to {
            let offer = self.board.segment.long(self.board.areas.offer(me, seat));
            offer.store(values.len() as u64, Relaxed);
            self.give_one(seat);
        }
        for (number, piece) in values.chunks(HALF).enumerate() {
            self.wait_until_taken(to, 1, fence).await?;
            let at = self.board.areas.outbox(me, number % 2);
            // SAFETY: all have taken what was in this half, and nobody reads on before the next
            // piece is counted.
            let half = unsafe { self.board.segment.floats_mut(at, piece.len()) };
            half.copy_from_slice(piece);
            to.iter().for_each(|&seat| self.give_one(seat));
        }
        self.wait_until_taken(to, 0, fence).await?;
        self.bytes_written += size_of_val(values) as u64;
        inside.end(self.barriers);
        Ok(())
    }

    fn give_one(&mut self, seat: usize) {
        self.given[seat] = self.given[seat].wrapping_add(1);
        self.board.raise(self.board.areas.given(self.board.me, seat), self.given[seat]);
    }

    /// Waits until these seats have taken all that was given to them but the last `but`.
    async fn wait_until_taken(&self, by: &[usize], but: u32, fence: &Fence) -> Result<(), Broken> {
        for &seat in by {
            let number = self.given[seat].wrapping_sub(but);
            let taken = self.board.areas.taken(self.board.me, seat);
            self.board.wait(seat, taken, number, fence).await?;
        }
        Ok(())
    }

    async fn take(&mut self, from: usize, values: &mut [f32], fence: &Fence) -> Result<(), Broken> {
        fence.check()?;
        let inside = self.board.enter();
        self.wait_for_one(from, fence).await?;
        let offer = self.board.segment.long(self.board.areas.offer(from, self.board.me));
        let theirs = offer.load(Relaxed);
        if theirs != values.len() as u64 {
            let len = values.len();
            let problem = format!("it sends {theirs} values where this process expects {len}");
            return Err(Broken::refused(self.board.process(from), problem));
        }
        self.take_one(from);
        for (number, piece) in values.chunks_mut(HALF).enumerate() {
            self.wait_for_one(from, fence).await?;
            let at = self.board.areas.outbox(from, number % 2);
            // SAFETY: the sender does not touch this half before the piece is counted as taken.
            piece.copy_from_slice(unsafe { self.board.segment.floats(at, piece.len()) });
            self.take_one(from);
        }
        inside.end(self.barriers);
        Ok(())
    }

    async fn wait_for_one(&self, from: usize, fence: &Fence) -> Result<(), Broken> {
        let number = self.taken[from].wrapping_add(1);
        let given = self.board.areas.given(from, self.board.me);
        self.board.wait(from, given, number, fence).await
    }

    fn take_one(&mut self, from: usize) {
        self.taken[from] = self.taken[from].wrapping_add(1);
        self.board.raise(self.board.areas.taken(from, self.board.me), self.taken[from]);
    }
}
