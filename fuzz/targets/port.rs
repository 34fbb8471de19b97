//! A peer that says anything: at the door, in frames, in a group.
//!
//! The first byte says where, the rest is what the peer sends before it hangs up. The peer takes
//! whatever is sent to it, so nobody ever has a reason to wait.
#![no_main]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use collective::testing::bare;
use collective::{Access, Contact, Group, Layout, Part, Seat, Secret, Stream};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};

/// Floats in a group's contributions. Enough for several cache lines, so that there are portions.
const LEN: usize = 200;
const LONGEST_FRAME: usize = 1 << 16;

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&place, said)) = bytes.split_first() else {
        return;
    };
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            match place % 6 {
                0 => at_the_door(said).await,
                1 => at_one_who_knocks(said).await,
                2 => in_frames(Peer::new(said)).await,
                3 => in_a_group(said, Exchange::Sum).await,
                4 => in_a_group(said, Exchange::Broadcast).await,
                _ => in_a_group(said, Exchange::Pass).await,
            }
        });
    });
});

/// Says what it was given, then hangs up; takes everything.
struct Peer {
    says: Vec<u8>,
    said: usize,
}

impl Peer {
    fn new(says: &[u8]) -> Box<dyn Stream> {
        Box::new(Peer { says: says.to_vec(), said: 0 })
    }
}

impl AsyncRead for Peer {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let peer = self.get_mut();
        // In pieces of different lengths, as a network would.
        let piece = 1 + peer.said % 97;
        let left = &peer.says[peer.said..];
        let length = left.len().min(piece).min(buffer.remaining());
        buffer.put_slice(&left[..length]);
        peer.said += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Peer {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len().min(1_000)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn at_the_door(said: &[u8]) {
    let access = Access::plain(Secret::random());
    assert!(bare::answer(Peer::new(said), &access).await.is_err(), "nobody guesses the secret");
}

async fn at_one_who_knocks(said: &[u8]) {
    let access = Access::plain(Secret::random());
    assert!(bare::ask(Peer::new(said), &access).await.is_err(), "nobody guesses the secret");
}

async fn in_frames(peer: Box<dyn Stream>) {
    let (mut reader, _writer) = bare::wire(peer).split();
    while let Ok(Some(frame)) = reader.receive(LONGEST_FRAME).await {
        assert!(frame.len() <= LONGEST_FRAME);
    }
}

#[derive(Clone, Copy)]
enum Exchange {
    Sum = 1,
    Broadcast = 2,
    Pass = 3,
}

/// Two peers in a group with us. The first byte says who hosts what, and whether the peers begin as
/// they should, so that what follows is looked at.
async fn in_a_group(said: &[u8], exchange: Exchange) {
    let Some((&shape, said)) = said.split_first() else {
        return;
    };
    let layout = layout(shape);
    let (first, second) = said.split_at(said.len() / 2);
    let head = if shape & 0x80 == 0 { head(exchange) } else { vec![] };
    let peers = [first, second].map(|said| Peer::new(&[&head[..], said].concat()));
    let mut group = bare::group(layout, peers.into()).expect("the layout is whole");
    let values = vec![1.0; LEN];
    let parts = vec![Part { values: &values, note: [7; 64] }; group.ranks().len()];
    let others: Vec<usize> = (0..3).filter(|seat| *seat != group.me()).collect();
    let outcome = match exchange {
        Exchange::Sum => group.all_reduce(&parts).await.map(|sum| {
            assert!(sum.values.len() == LEN || parts.is_empty());
            assert_eq!(sum.notes.len(), 3);
        }),
        Exchange::Broadcast => group.broadcast(others[0], &mut [0.0; LEN]).await,
        Exchange::Pass => group.pass(others[1], group.me(), &mut [0.0; LEN]).await,
    };
    check_end(&mut group, outcome.is_ok()).await;
}

/// A group that broke stays broken.
async fn check_end(group: &mut Group, is_well: bool) {
    let again = group.barrier().await;
    assert!(is_well || again.is_err());
}

/// Three seats and ranks.
fn layout(shape: u8) -> Layout {
    let mut seats: Vec<Seat> = (0..3)
        .map(|process| {
            let contact =
                Contact { address: String::new(), fingerprint: String::new(), host: None };
            Seat { process, contact, ranks: vec![] }
        })
        .collect();
    for rank in 0..3 {
        seats[usize::from(shape >> (2 * rank) & 3) % 3].ranks.push(rank);
    }
    Layout { generation: 1, world: 3, me: usize::from(shape) % 3, seats, len: LEN }
}

/// How the first exchange of a kind begins.
fn head(exchange: Exchange) -> Vec<u8> {
    let mut head = vec![exchange as u8, 0, 0, 0, 1, 0, 0, 0];
    head.extend_from_slice(&(LEN as u64).to_le_bytes());
    head
}
