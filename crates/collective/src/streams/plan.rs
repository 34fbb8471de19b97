//! Who sends what to whom, worked out once from the layout. All processes must come to the same: these numbers are part
//! of the protocol.

use std::ops::Range;

use super::turns::{LAG, Turns};
use crate::Layout;
use crate::group::Part;
use crate::share::{LINE, chunk, largest_portion, portion};
use crate::tree::{Span, Sum, pieces};

/// The most floats in a chunk. Large, since every call of the system that reads one wakes another process,
/// which costs as much as copying some hundred kilobytes; what is summed is summed as it comes in, so it
/// need not fit in a cache.
pub(super) const CHUNK: usize = 1024 * 1024;
/// But a portion has this many chunks, as long as they are not so many times smaller: both directions
/// are to be busy from beginning to end.
const CHUNKS: usize = 16;
const SMALLER: usize = 8;
/// Where many processes or pieces meet, chunks are smaller, so that the windows stay within this many
/// floats.
const WINDOWS: usize = 8 * 1024 * 1024;
/// And no smaller than this.
const SMALLEST_CHUNK: usize = 1024;

/// Up to one chunk of all values, two seats **swap**: each sends the other all of its values, and both add up
/// everything. That is as many bytes as by portions, and nobody waits for a sum that has to be made
/// first; but all is added twice, which costs more than the wait where there is much of it. What is swapped
/// goes in chunks so many times smaller: they are added up before they have left the core's own cache.
const SWAPPED_PARTS: usize = 64;

/// How many chunks of partials from one peer may wait to be summed. One more than the lag: a sender
/// is never further ahead.
pub(super) const WINDOW: usize = LAG + 1;

/// The fixed facts of a group's all-reduces.
pub(super) struct Plan {
    pub(super) me: usize,
    /// Ranks by seat.
    pub(super) ranks: Vec<Vec<usize>>,
    /// How many pieces of the sum each seat brings.
    pub(super) pieces: Vec<usize>,
    /// Floats in a chunk.
    pub(super) chunk: usize,
    /// For each seat its number among those that own a portion.
    owner: Vec<Option<usize>>,
    owners: usize,
    /// Up to how many floats are swapped, and in which chunks.
    swapped: usize,
    swapped_chunk: usize,
    /// What this seat brings: pieces of the sum.
    own: Vec<Piece>,
    /// The whole sum, and where its terms are.
    whole: Sum,
    terms: Vec<Term>,
}

/// A subtree that this seat hosts.
struct Piece {
    /// The places of its ranks in the parts.
    parts: Vec<usize>,
    sum: Sum,
}

/// A term of the whole sum.
#[derive(Clone, Copy)]
enum Term {
    /// A rank of this seat, by its place in the parts.
    Own(usize),
    /// A piece that the process of another seat brings.
    Brought { seat: usize, piece: usize },
}

impl Plan {
    /// Chunks have at most `most` floats, and fewer where there would be no room for that.
    pub(super) fn new(layout: &Layout, most: usize) -> Plan {
        let me = layout.me;
        let owners = layout.owners();
        let ranks: Vec<Vec<usize>> = layout.seats.iter().map(|seat| seat.ranks.clone()).collect();
        let spans: Vec<Vec<Span>> = ranks.iter().map(|ranks| pieces(ranks, layout.world)).collect();
        let brought = spans.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let fair = WINDOWS / (owners.len() * WINDOW * brought) / LINE * LINE;
        let chunk = fair.max(SMALLEST_CHUNK).min(most);
        let chunk = chunk.min(largest_portion(layout.len, owners.len())).max(LINE);
        let (whole, terms) = whole(me, &ranks[me], &spans, layout.world);
        Plan {
            me,
            swapped: if owners.len() == 2 && brought == 1 { most } else { 0 },
            swapped_chunk: most.div_ceil(SWAPPED_PARTS).next_multiple_of(LINE).min(chunk),
            pieces: spans.iter().map(Vec::len).collect(),
            chunk,
            owner: (0..ranks.len())
                .map(|seat| owners.iter().position(|own| *own == seat))
                .collect(),
            owners: owners.len(),
            own: spans[me].iter().map(|span| Piece::new(span, &ranks[me])).collect(),
            ranks,
            whole,
            terms,
        }
    }

    /// Whether both seats add up all values.
    fn swaps(&self, len: usize) -> bool {
        len <= self.swapped
    }

    /// The part of the values that a seat adds up.
    pub(super) fn portion(&self, seat: usize, len: usize) -> Range<usize> {
        match self.owner[seat] {
            None => 0..0,
            Some(_) if self.swaps(len) => 0..len,
            Some(owner) => portion(len, self.owners, owner),
        }
    }

    /// Floats in a chunk.
    fn chunk_size(&self, len: usize) -> usize {
        if self.swaps(len) {
            return self.swapped_chunk;
        }
        let fair = largest_portion(len, self.owners).div_ceil(CHUNKS);
        fair.max(self.chunk / SMALLER).next_multiple_of(LINE).min(self.chunk)
    }

    /// How many chunks a seat's portion has.
    pub(super) fn chunks(&self, seat: usize, len: usize) -> usize {
        self.portion(seat, len).len().div_ceil(self.chunk_size(len))
    }

    /// A chunk of a seat's portion.
    pub(super) fn chunk_of(&self, seat: usize, len: usize, number: usize) -> Range<usize> {
        chunk(&self.portion(seat, len), self.chunk_size(len), number)
    }

    /// What goes from one seat to another. Who swaps has no use for the other's sums.
    pub(super) fn turns(&self, from: usize, to: usize, len: usize) -> Turns {
        let results = if self.swaps(len) { 0 } else { self.chunks(from, len) };
        Turns::new(self.chunks(to, len), results)
    }

    /// Whether own pieces have to be added up before they are sent.
    pub(super) fn stages(&self) -> bool {
        self.own.iter().any(|piece| piece.parts.len() > 1)
    }

    /// The floats that takes for one peer.
    pub(super) fn staged(&self) -> usize {
        if self.stages() { self.own.len() * self.chunk } else { 0 }
    }

    /// Adds up those own pieces of a chunk that have several ranks.
    pub(super) fn stage(&mut self, parts: &[Part<'_>], range: Range<usize>, staged: &mut [f32]) {
        for (number, piece) in self.own.iter_mut().enumerate() {
            if piece.parts.len() > 1 {
                let ranks = piece.parts.iter().map(|&part| &parts[part].values[range.clone()]);
                let leaves: Vec<&[f32]> = ranks.collect();
                piece.sum.run(&leaves, &mut staged[number * self.chunk..][..range.len()]);
            }
        }
    }

    /// An own piece of a chunk: what was staged, or the values themselves.
    pub(super) fn piece<'a>(
        &self,
        number: usize,
        parts: &[Part<'a>],
        range: Range<usize>,
        staged: &'a [f32],
    ) -> &'a [f32] {
        match self.own[number].parts[..] {
            [part] => &parts[part].values[range],
            _ => &staged[number * self.chunk..][..range.len()],
        }
    }

    /// Adds up some of this seat's portion; `brought` gives the same values of a piece of another
    /// seat.
    pub(super) fn add_up<'a>(
        &mut self,
        parts: &[Part<'a>],
        range: Range<usize>,
        brought: impl Fn(usize, usize) -> &'a [f32],
        out: &mut [f32],
    ) {
        let terms = self.terms.iter().map(|term| match *term {
            Term::Own(part) => &parts[part].values[range.clone()],
            Term::Brought { seat, piece } => brought(seat, piece),
        });
        let leaves: Vec<&[f32]> = terms.collect();
        self.whole.run(&leaves, out);
    }
}

impl Piece {
    fn new(span: &Span, ranks: &[usize]) -> Piece {
        let places = span.clone().filter_map(|rank| ranks.iter().position(|own| *own == rank));
        let leaves: Vec<Span> = span.clone().map(|rank| rank..rank + 1).collect();
        Piece { parts: places.collect(), sum: Sum::new(span.clone(), &leaves) }
    }
}

/// The whole sum as this seat does it: from its own ranks and from what others bring.
fn whole(me: usize, own: &[usize], spans: &[Vec<Span>], world: usize) -> (Sum, Vec<Term>) {
    let mut terms: Vec<(Span, Term)> =
        own.iter().enumerate().map(|(part, &rank)| (rank..rank + 1, Term::Own(part))).collect();
    for (seat, spans) in spans.iter().enumerate().filter(|(seat, _)| *seat != me) {
        let brought = spans.iter().enumerate();
        terms.extend(brought.map(|(piece, span)| (span.clone(), Term::Brought { seat, piece })));
    }
    terms.sort_by_key(|(span, _)| span.start);
    let (leaves, terms): (Vec<Span>, Vec<Term>) = terms.into_iter().unzip();
    (Sum::new(0..world, &leaves), terms)
}
