//! Processes that exchange numbers for one generation.

use std::ops::DerefMut;

use tokio::sync::watch;

use crate::alone::Alone;
use crate::fence::Fence;
use crate::shm::Shared;
use crate::streams::Streams;
use crate::{Broken, Layout};

/// A few numbers of a rank that ride along with its values. What they mean is the caller's business.
pub type Note = [u8; 64];

/// What a rank brings.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// To be summed with those of the other ranks; as many for every rank.
    pub values: &'a [f32],
    /// To be shown to everyone.
    pub note: Note,
}

/// What all ranks brought.
#[derive(Clone, Copy, Debug)]
pub struct Sum<'a> {
    /// The values of all ranks, summed in the canonical order.
    pub values: &'a [f32],
    /// The notes, by rank.
    pub notes: &'a [Note],
}

/// The processes of one generation, as one of them sees them.
///
/// Everyone calls the same operations in the same order, but for sums, which only those call that host
/// ranks, and passes, which concern two. An operation ends with an error as soon as
/// a newer generation is announced; otherwise it waits for the others as long as they take. After an
/// error a group can only be dropped.
pub struct Group {
    layout: Layout,
    fence: Fence,
    link: Link,
    /// Why nothing works any more. Set while an operation is under way, so that one that is given up
    /// half way leaves it behind.
    broken: Option<Broken>,
}

/// What lies between the processes.
pub(crate) enum Link {
    Alone(Alone),
    Streams(Streams),
    Shared(Shared),
}

impl Group {
    /// A group of this process alone, which hosts every rank.
    pub fn alone(world: usize, len: usize) -> Group {
        let layout = Layout::alone(world, len);
        let link = Link::Alone(Alone::new(&layout));
        Group { layout, fence: Fence::none(), link, broken: None }
    }

    pub(crate) fn new(layout: Layout, fence: watch::Receiver<u64>, link: Link) -> Group {
        let fence = Fence::new(layout.generation, fence);
        Group { layout, fence, link, broken: None }
    }

    /// How many ranks there are.
    pub fn world(&self) -> usize {
        self.layout.world
    }

    /// The ranks that this process hosts.
    pub fn ranks(&self) -> &[usize] {
        &self.layout.seats[self.layout.me].ranks
    }

    /// The seat of this process.
    pub fn me(&self) -> usize {
        self.layout.me
    }

    /// Who hosts what.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What lies between the processes: `none`, `shm` or `tcp`.
    pub fn link(&self) -> &'static str {
        match self.link {
            Link::Alone(_) => "none",
            Link::Streams(_) => "tcp",
            Link::Shared(_) => "shm",
        }
    }

    /// Room for the values of a rank, `len` floats, where they are best put: handing in a slice that
    /// starts at its slot saves a copy. A slot outlives its group. Where a rank is not hosted here, or
    /// its slot was given out before, it is room as any other.
    pub fn slot(&mut self, rank: usize) -> Box<dyn DerefMut<Target = [f32]> + Send> {
        let slot = match &mut self.link {
            Link::Shared(shared) => shared.slot(rank),
            Link::Alone(_) | Link::Streams(_) => None,
        };
        slot.unwrap_or_else(|| Box::new(vec![0.0; self.layout.len]))
    }

    /// Sums what the ranks bring; `parts` are in the order of [`Group::ranks`]. Every process that
    /// hosts ranks calls it, and gets the same bits; the others have no part in sums.
    pub async fn all_reduce(&mut self, parts: &[Part<'_>]) -> Result<Sum<'_>, Broken> {
        self.begin()?;
        let outcome = match &mut self.link {
            _ if self.layout.seats[self.layout.me].ranks.is_empty() => {
                Err(Broken::misused("who hosts no rank has no part in sums"))
            }
            Link::Alone(alone) => self.fence.check().and_then(|()| alone.all_reduce(parts)),
            Link::Streams(streams) => self.fence.guard(streams.all_reduce(parts)).await,
            Link::Shared(shared) => shared.all_reduce(parts, &self.fence).await,
        };
        let len = self.end(outcome)?;
        let (values, notes) = match &self.link {
            Link::Alone(alone) => (&alone.result[..len], &alone.notes),
            Link::Streams(streams) => (&streams.result[..len], &streams.notes),
            Link::Shared(shared) => (shared.result(len), &shared.notes),
        };
        Ok(Sum { values, notes })
    }

    /// Shows every rank's note to everyone; `notes` are in the order of [`Group::ranks`].
    pub async fn gather(&mut self, notes: &[Note]) -> Result<&[Note], Broken> {
        let part = |note: &Note| Part { values: &[], note: *note };
        let parts: Vec<Part<'_>> = notes.iter().map(part).collect();
        Ok(self.all_reduce(&parts).await?.notes)
    }

    /// Returns when every process that hosts ranks has called it.
    pub async fn barrier(&mut self) -> Result<(), Broken> {
        let notes = vec![[0; 64]; self.ranks().len()];
        self.gather(&notes).await.map(|_| ())
    }

    /// Gives everyone the values of the process at seat `from`; everyone's are as many.
    pub async fn broadcast(&mut self, from: usize, values: &mut [f32]) -> Result<(), Broken> {
        self.begin()?;
        let outcome = match &mut self.link {
            _ if from >= self.layout.seats.len() => Err(no_seat(from)),
            Link::Alone(_) => self.fence.check(),
            Link::Streams(streams) => self.fence.guard(streams.broadcast(from, values)).await,
            Link::Shared(shared) => shared.broadcast(from, values, &self.fence).await,
        };
        self.end(outcome)
    }

    /// Gives the process at seat `to` the values of that at seat `from`. Only these two call it, in
    /// the same order among all that they do together.
    pub async fn pass(&mut self, from: usize, to: usize, values: &mut [f32]) -> Result<(), Broken> {
        self.begin()?;
        let (seats, me) = (self.layout.seats.len(), self.layout.me);
        let outcome = match &mut self.link {
            _ if from >= seats || to >= seats => Err(no_seat(from.max(to))),
            _ if from != me && to != me => {
                Err(Broken::misused(format!("seat {me} passes values from {from} to {to}")))
            }
            _ if from == to => self.fence.check(),
            Link::Alone(_) => self.fence.check(),
            Link::Streams(streams) => self.fence.guard(streams.pass(from, to, values)).await,
            Link::Shared(shared) => shared.pass(from, to, values, &self.fence).await,
        };
        self.end(outcome)
    }

    /// How many bytes this process has given to others so far: what went over connections, or what it
    /// wrote for others to read.
    pub fn bytes_sent(&self) -> u64 {
        match &self.link {
            Link::Alone(_) => 0,
            Link::Streams(streams) => streams.bytes_sent(),
            Link::Shared(shared) => shared.bytes_written,
        }
    }

    fn begin(&mut self) -> Result<(), Broken> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        self.broken = Some(Broken::misused("an earlier operation was given up half way"));
        Ok(())
    }

    fn end<T>(&mut self, outcome: Result<T, Broken>) -> Result<T, Broken> {
        let outcome = outcome.map_err(|broken| self.fence.explain(broken));
        self.broken = outcome.as_ref().err().cloned();
        outcome
    }
}

/// The length of the parts, which must be one for each rank and equally long.
pub(crate) fn check_parts(parts: &[Part<'_>], ranks: usize, max: usize) -> Result<usize, Broken> {
    if parts.len() != ranks {
        let problem = format!("{} parts for the {ranks} ranks of this process", parts.len());
        return Err(Broken::misused(problem));
    }
    let len = parts.first().map_or(0, |part| part.values.len());
    let longest = parts.iter().map(|part| part.values.len()).max().unwrap_or(0);
    if parts.iter().any(|part| part.values.len() != len) || longest > max {
        let problem = format!("parts of different lengths, or longer than {max} values: {longest}");
        return Err(Broken::misused(problem));
    }
    Ok(len)
}

fn no_seat(seat: usize) -> Broken {
    Broken::misused(format!("there is no seat {seat}"))
}
