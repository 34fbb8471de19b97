//! A process' own door for exchanging numbers, kept from one generation to the next.
//!
//! Forming a group over connections: the process at seat i knocks at those of all seats before it and
//! introduces itself; those behind it come by themselves. So every two have one connection. Who
//! comes before this process has heard of the generation waits ([`Arrivals`]). A process that has not
//! come in time, or that means another layout, ends the forming; the driver then decides anew.

use std::io;
use std::sync::Arc;

use futures::future::try_join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::alone::Alone;
use crate::arrivals::{Arrivals, Introduction};
use crate::door::{Door, knock};
use crate::fence::Fence;
use crate::forming::Forming;
use crate::group::Link;
use crate::layout::{Contact, Seat};
use crate::lobby::Lobby;
use crate::net::{Net, Stream, be_patient};
use crate::refusal::{Complaints, Tell};
use crate::shm::Passing;
use crate::streams::Streams;
use crate::{Access, Broken, Group, Layout, Meter, Refusal, Wire};

/// Which ways a group may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Shared memory when all processes are on one machine, connections otherwise.
    Anywhere,
    /// Connections always.
    Network,
}

/// A process' place in the groups of its run.
pub struct Port {
    net: Arc<dyn Net>,
    access: Access,
    contact: Contact,
    arrivals: Arc<Arrivals<Box<dyn Stream>>>,
    acceptor: JoinHandle<()>,
    meter: Meter,
    /// Where memory is passed, if it can be.
    passing: Option<Passing>,
}

impl Port {
    /// Opens a port at `at` and lets a task look after it. `refused` is told of those who knocked in
    /// vain.
    pub async fn open(
        net: Arc<dyn Net>,
        at: &str,
        access: Access,
        reach: Reach,
        refused: Tell,
    ) -> io::Result<Port> {
        let door = Door::open(Arc::clone(&net), at, access.clone(), Arc::clone(&refused)).await?;
        let passing = match reach {
            Reach::Anywhere => Passing::open(&access, Arc::clone(&refused)),
            Reach::Network => None,
        };
        let contact = Contact {
            address: door.address().to_owned(),
            fingerprint: access.fingerprint().to_owned(),
            host: passing.as_ref().map(|passing| passing.host.clone()),
        };
        let arrivals = Arc::new(Arrivals::new());
        let acceptor = tokio::spawn(receive(door, Arc::clone(&arrivals), refused));
        let meter = Meter::default();
        Ok(Port { net, access, contact, arrivals, acceptor, meter, passing })
    }

    /// Where this process can be found.
    pub fn contact(&self) -> Contact {
        self.contact.clone()
    }

    /// Counts what goes over the connections of its groups.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Forms the group of a generation. `fence` holds the newest generation that was announced.
    pub async fn form(&self, layout: Layout, fence: watch::Receiver<u64>) -> Result<Group, Broken> {
        layout.check()?;
        self.arrivals.begin(layout.generation);
        if let Some(passing) = &self.passing {
            passing.begin(layout.generation);
        }
        let guard = Fence::new(layout.generation, fence.clone());
        let link = guard.guard(self.link(&layout)).await?;
        Ok(Group::new(layout, fence, link))
    }

    /// Which link it is depends on the layout alone, so all choose the same.
    async fn link(&self, layout: &Layout) -> Result<Link, Broken> {
        let forming = Forming::new(layout);
        match &self.passing {
            _ if layout.seats.len() == 1 => Ok(Link::Alone(Alone::new(layout))),
            Some(passing) if passing.reaches(&layout.seats) => {
                Ok(Link::Shared(passing.form(layout, &forming).await?))
            }
            _ => Ok(Link::Streams(self.connect(layout, &forming).await?)),
        }
    }

    /// A connection with every other seat.
    async fn connect(&self, layout: &Layout, forming: &Forming) -> Result<Streams, Broken> {
        let peer = |(number, seat)| async move {
            match number < layout.me {
                true => forming.meet(seat, self.go_to(seat, forming)).await,
                false => forming.meet(seat, self.wait_for(seat, forming)).await,
            }
        };
        let others = layout.seats.iter().enumerate().filter(|(number, _)| *number != layout.me);
        let streams = try_join_all(others.map(peer)).await?;
        let watched = streams.into_iter().map(|stream| self.meter.watch(stream)).collect();
        Ok(Streams::new(layout, watched))
    }

    /// Knocks at an earlier seat. One that says nothing may be busy: it is tried again.
    async fn go_to(&self, seat: &Seat, forming: &Forming) -> Result<Box<dyn Stream>, Broken> {
        let Contact { address, fingerprint, .. } = &seat.contact;
        let wire = loop {
            match knock(&*self.net, address, fingerprint, &self.access).await {
                Err(Refusal::Silent { .. }) => (),
                outcome => break outcome,
            }
        };
        let refused = |refusal| Broken::of_refusal(seat.process, &refusal);
        let mut stream = wire.map_err(refused)?.into_stream();
        let lost = |problem: io::Error| Broken::lost(seat.process, problem);
        be_patient(&*stream).map_err(lost)?;
        stream.write_all(&forming.me.to_bytes()).await.map_err(lost)?;
        stream.flush().await.map_err(lost)?;
        Ok(stream)
    }

    /// Waits for a later seat to come.
    async fn wait_for(&self, seat: &Seat, forming: &Forming) -> Result<Box<dyn Stream>, Broken> {
        let (digest, stream) = self.arrivals.take(forming.me.generation, seat.process).await;
        forming.check(seat, &digest)?;
        Ok(stream)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

/// Hears the introductions of those who come, all at the same time, for as long as the port is open.
async fn receive(mut door: Door, arrivals: Arc<Arrivals<Box<dyn Stream>>>, refused: Tell) {
    let mut complaints = Complaints::new(refused);
    let mut lobby = Lobby::new();
    let who = format!("a peer that came to {}", door.address());
    loop {
        tokio::select! {
            biased;
            guest = lobby.next() => {
                let added = match guest {
                    Ok((introduction, stream)) => arrivals.add(introduction, stream),
                    Err(refusal) => Err(refusal.to_string()),
                };
                added.unwrap_or_else(|problem| complaints.add(&problem));
            }
            wire = door.accept() => match wire {
                Ok(wire) => {
                    if let Some(left) = lobby.admit(&who, introduction(wire, who.clone())) {
                        complaints.add(&left.to_string());
                    }
                }
                Err(problem) => {
                    complaints.add(&format!("nobody can come to {} any more: {problem}", door.address()));
                    return;
                }
            },
        }
    }
}

async fn introduction(wire: Wire, who: String) -> Result<(Introduction, Box<dyn Stream>), Refusal> {
    let mut stream = wire.into_stream();
    let mut bytes = [0; Introduction::BYTES];
    let read = stream.read_exact(&mut bytes).await.and_then(|_| be_patient(&*stream));
    read.map_err(|problem| Refusal::Torn { who, problem: problem.to_string() })?;
    Ok((Introduction::from_bytes(&bytes), stream))
}
