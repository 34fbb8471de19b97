//! How a segment gets from the process that made it to the others.
//!
//! Every process listens at an abstract unix socket, which has no file that could be left behind. The
//! process at seat 0 makes the segment; the others connect to it, prove the secret as on any other
//! connection, introduce themselves, and are sent the segment's file descriptor. Processes of other
//! users are turned away before they have said anything. Who comes early waits, as at a port.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as std_unix;
use std::sync::Arc;

use futures::future::try_join_all;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::getuid;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::{Duration, sleep};

use super::host::this_host;
use super::{Shared, segment};
use crate::arrivals::{Arrivals, Introduction};
use crate::forming::Forming;
use crate::handshake;
use crate::layout::{Host, Seat};
use crate::lobby::Lobby;
use crate::refusal::{Complaints, Tell};
use crate::{Access, Broken, Layout, Refusal};

/// Sets proofs for memory apart from those for connections.
const BINDING: &[u8] = b"memory";
/// What a listener that fails is given to recover.
const PAUSE: Duration = Duration::from_millis(50);

/// A process' place for passing memory.
pub(crate) struct Passing {
    pub(crate) host: Host,
    access: Access,
    arrivals: Arc<Arrivals<UnixStream>>,
    acceptor: JoinHandle<()>,
}

impl Passing {
    /// `None` where memory cannot be shared.
    pub(crate) fn open(access: &Access, refused: Tell) -> Option<Passing> {
        let host = this_host()?;
        let listener = std_unix::UnixListener::bind_addr(&address(&host.socket).ok()?).ok()?;
        listener.set_nonblocking(true).ok()?;
        let listener = UnixListener::from_std(listener).ok()?;
        let arrivals = Arc::new(Arrivals::new());
        let host_socket = host.socket.clone();
        let reception = Reception {
            listener,
            who: format!("a process that came to {host_socket} for memory"),
            access: access.clone(),
            arrivals: Arc::clone(&arrivals),
            complaints: Complaints::new(refused),
        };
        let acceptor = tokio::spawn(reception.run());
        Some(Passing { host, access: access.clone(), arrivals, acceptor })
    }

    /// Whether all of these can share memory.
    pub(crate) fn reaches(&self, seats: &[Seat]) -> bool {
        let id = |seat: &Seat| seat.contact.host.as_ref().map(|host| host.id.clone());
        seats.iter().all(|seat| id(seat).is_some_and(|id| id == self.host.id))
    }

    /// Sends those away who came for an older generation.
    pub(crate) fn begin(&self, generation: u64) {
        self.arrivals.begin(generation);
    }

    /// Takes a seat at the segment of a generation.
    pub(crate) async fn form(&self, layout: &Layout, forming: &Forming) -> Result<Shared, Broken> {
        let areas = Shared::areas(layout)?;
        let (first, others) = (&layout.seats[0], &layout.seats[1..]);
        let file = if layout.me == 0 {
            let file = segment::create(areas.size).map_err(Broken::unable)?;
            let pass = |seat| forming.meet(seat, self.pass(seat, forming, &file));
            try_join_all(others.iter().map(pass)).await?;
            file
        } else {
            forming.meet(first, self.fetch(first, forming)).await?
        };
        Shared::sit_down(layout, areas, file)
    }

    /// Waits for a process to come, and passes it the segment.
    async fn pass(&self, seat: &Seat, forming: &Forming, file: &OwnedFd) -> Result<(), Broken> {
        let (digest, stream) = self.arrivals.take(forming.me.generation, seat.process).await;
        forming.check(seat, &digest)?;
        send(&stream, file).await.map_err(|problem| Broken::lost(seat.process, problem))
    }

    /// Goes to the process that made the segment, and fetches it. One that says nothing may be busy: it is
    /// tried again.
    async fn fetch(&self, seat: &Seat, forming: &Forming) -> Result<OwnedFd, Broken> {
        let host = seat.contact.host.as_ref();
        let host = host.ok_or_else(|| Broken::refused(seat.process, "it shares no memory"))?;
        let lost = |problem: io::Error| Broken::lost(seat.process, problem);
        let who = format!("the process at {}", host.socket);
        let mut stream = loop {
            let mut stream = connect(&host.socket).await.map_err(lost)?;
            let asking = handshake::ask_plainly(&mut stream, self.access.secret(), BINDING, &who);
            match handshake::in_time(asking, &who).await {
                Ok(()) => break stream,
                Err(Refusal::Silent { .. }) => {}
                Err(refusal) => return Err(Broken::of_refusal(seat.process, &refusal)),
            }
        };
        stream.write_all(&forming.me.to_bytes()).await.map_err(lost)?;
        receive(&stream).await.map_err(lost)
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

/// Receives those who come for memory.
struct Reception {
    listener: UnixListener,
    who: String,
    access: Access,
    arrivals: Arc<Arrivals<UnixStream>>,
    complaints: Complaints,
}

impl Reception {
    async fn run(mut self) {
        let mut lobby = Lobby::new();
        loop {
            let outcome = tokio::select! {
                biased;
                guest = lobby.next() => match guest {
                    Ok((introduction, stream)) => self.arrivals.add(introduction, stream),
                    Err(refusal) => Err(Refusal::to_string(&refusal)),
                },
                stream = self.listener.accept() => match stream {
                    Ok((stream, _)) => {
                        let greeting = greet(stream, self.access.clone(), self.who.clone());
                        lobby.admit(&self.who, greeting).map_or(Ok(()), |left| Err(left.to_string()))
                    }
                    Err(problem) => {
                        sleep(PAUSE).await;
                        Err(format!("nobody could come for memory: {problem}"))
                    }
                },
            };
            outcome.unwrap_or_else(|problem| self.complaints.add(&problem));
        }
    }
}

/// Hears who somebody is, if it may come at all.
async fn greet(
    mut stream: UnixStream,
    access: Access,
    who: String,
) -> Result<(Introduction, UnixStream), Refusal> {
    let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == getuid().as_raw());
    if !is_ours {
        return Err(Refusal::Foreign { who });
    }
    handshake::answer_plainly(&mut stream, access.secret(), BINDING, &who).await?;
    let mut bytes = [0; Introduction::BYTES];
    let read = stream.read_exact(&mut bytes).await;
    read.map_err(|problem| Refusal::Torn { who, problem: problem.to_string() })?;
    Ok((Introduction::from_bytes(&bytes), stream))
}

fn address(socket: &str) -> io::Result<std_unix::SocketAddr> {
    std_unix::SocketAddr::from_abstract_name(socket)
}

/// Such a connection is there at once, unless too many wait to be received: then it is tried again.
async fn connect(socket: &str) -> io::Result<UnixStream> {
    loop {
        // A name that begins so is an abstract one.
        match UnixStream::connect(format!("\0{socket}")).await {
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => sleep(PAUSE).await,
            outcome => return outcome,
        }
    }
}

/// Sends a file descriptor, with one byte to carry it.
async fn send(stream: &UnixStream, file: &OwnedFd) -> io::Result<()> {
    let send = || {
        let files = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = SendAncillaryBuffer::new(&mut space);
        message.push(SendAncillaryMessage::ScmRights(&files));
        sendmsg(stream, &[IoSlice::new(&[1])], &mut message, SendFlags::NOSIGNAL)?;
        Ok(())
    };
    stream.async_io(Interest::WRITABLE, send).await
}

async fn receive(stream: &UnixStream) -> io::Result<OwnedFd> {
    let receive = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let slices = &mut [IoSliceMut::new(&mut byte)];
        recvmsg(stream, slices, &mut message, RecvFlags::CMSG_CLOEXEC)?;
        let file = message.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        file.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "it passed no memory"))
    };
    stream.async_io(Interest::READABLE, receive).await
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;
    use crate::{Contact, Secret};

    /// No more may wait at this listener than there are already.
    async fn fill(listener: &std_unix::UnixListener, socket: &str) -> Vec<UnixStream> {
        rustix::net::listen(listener, 1).unwrap();
        let mut waiting = vec![];
        while let Ok(stream) = UnixStream::connect(format!("\0{socket}")).await {
            assert!(waiting.len() < 9, "there is room for all");
            waiting.push(stream);
        }
        waiting
    }

    #[tokio::test]
    async fn who_comes_to_a_full_house_waits_and_blocks_nobody() {
        let socket = format!("trainyard-test-{}", Secret::random().to_hex());
        let listener = std_unix::UnixListener::bind_addr(&address(&socket).unwrap()).unwrap();
        let _waiting = fill(&listener, &socket).await;
        let mut coming = std::pin::pin!(connect(&socket));
        assert!(timeout(PAUSE, &mut coming).await.is_err());
        let _first = listener.accept().unwrap();
        coming.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_asked_again() {
        let access = Access::plain(Secret::random());
        let Some(passing) = Passing::open(&access, Arc::new(|_| {})) else { return };
        let socket = format!("trainyard-test-{}", Secret::random().to_hex());
        let listener = std_unix::UnixListener::bind_addr(&address(&socket).unwrap()).unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = UnixListener::from_std(listener).unwrap();
        let seat = |process: u32, host: Host| {
            let (address, fingerprint) = (String::new(), String::new());
            let contact = Contact { address, fingerprint, host: Some(host) };
            Seat { process, contact, ranks: vec![process as usize] }
        };
        let other = Host { socket, ..passing.host.clone() };
        let seats = vec![seat(0, other), seat(1, passing.host.clone())];
        let layout = Layout { generation: 1, world: 2, seats, me: 1, len: 1 };
        let pass = async {
            let (_silent, _) = listener.accept().await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let (_, stream) = greet(stream, access.clone(), "it".into()).await.unwrap();
            send(&stream, &segment::create(4096).unwrap()).await.unwrap();
        };
        let forming = Forming::new(&layout);
        let (fetched, ()) = tokio::join!(passing.fetch(&layout.seats[0], &forming), pass);
        fetched.unwrap();
    }
}
