//! What an all-reduce does with what a peer sends.

use std::task::Context;

use super::line::{HEAD_BYTES, Kind};
use super::reduce::{Reduce, Talk};
use super::turns::Turn;
use crate::Broken;
use crate::group::Note;

impl Reduce<'_> {
    /// Reads once from a peer; whether something came.
    pub(super) fn receive(&mut self, place: usize, cx: &mut Context<'_>) -> Result<bool, Broken> {
        let (me, len) = (self.plan.me, self.len);
        let Talk { line, incoming, .. } = &mut self.talks[place];
        let target: &mut [u8] = match incoming.progress.turn {
            None => return Ok(false),
            Some(Turn::Opening) => &mut incoming.opening,
            Some(Turn::Partial(number)) => {
                let length = self.plan.chunk_of(me, len, number).len();
                match incoming.window.filling(length * self.plan.pieces[line.seat]) {
                    Some(place) => bytemuck::cast_slice_mut(place),
                    None => return Ok(false),
                }
            }
            Some(Turn::Result(number)) => {
                let range = self.plan.chunk_of(line.seat, len, number);
                bytemuck::cast_slice_mut(&mut self.result[range])
            }
        };
        if line.poll_fill(cx, target, &mut incoming.progress.at)?.is_pending() {
            return Ok(false);
        }
        if incoming.progress.at == target.len() {
            self.received(place)?;
        }
        Ok(true)
    }

    /// Something has come whole: what does it mean, and what comes next?
    fn received(&mut self, place: usize) -> Result<(), Broken> {
        match self.talks[place].incoming.progress.turn {
            Some(Turn::Opening) => self.open(place)?,
            Some(Turn::Partial(_)) => self.talks[place].incoming.window.filled(),
            Some(Turn::Result(_)) | None => (),
        }
        self.talks[place].incoming.progress.advance();
        Ok(())
    }

    /// Reads a peer's opening: the length must be everyone's.
    fn open(&mut self, place: usize) -> Result<(), Broken> {
        let Talk { line, incoming, .. } = &mut self.talks[place];
        let (head, notes) = incoming.opening.split_at(HEAD_BYTES);
        let theirs = line.check(head, Kind::AllReduce, self.result.len())?;
        if theirs != self.len {
            let problem = format!("it sums {theirs} values where others sum {}", self.len);
            return Err(Broken::refused(line.process, problem));
        }
        let ranks = &self.plan.ranks[line.seat];
        for (rank, note) in ranks.iter().zip(notes.chunks_exact(size_of::<Note>())) {
            self.notes[*rank].copy_from_slice(note);
        }
        incoming.progress.turns = self.plan.turns(line.seat, self.plan.me, self.len);
        Ok(())
    }
}
