//! Where those wait who knocked and have not yet proved who they are.
//!
//! All are heard at the same time, so one who says nothing keeps nobody waiting. There is room for
//! a fixed number; when it is full, the one who has waited longest leaves. A peer that knows the secret
//! needs a few milliseconds, so it is never that one, however many strangers knock.

use std::collections::VecDeque;
use std::task::Poll;

use crate::Refusal;
use crate::handshake;
use crate::net::BoxFuture;

/// How many may wait.
pub(crate) const ROOM: usize = 64;

pub(crate) struct Lobby<T> {
    waiting: VecDeque<Guest<T>>,
}

struct Guest<T> {
    who: String,
    handshake: BoxFuture<'static, Result<T, Refusal>>,
}

impl<T: 'static> Lobby<T> {
    pub(crate) fn new() -> Lobby<T> {
        Lobby { waiting: VecDeque::new() }
    }

    /// Lets one in, who has a handshake's time from now. Returns who had to leave.
    pub(crate) fn admit<F>(&mut self, who: &str, handshake: F) -> Option<Refusal>
    where
        F: Future<Output = Result<T, Refusal>> + Send + 'static,
    {
        let name = who.to_owned();
        let handshake = async move { handshake::in_time(handshake, &name).await };
        let full = self.waiting.len() == ROOM;
        let left = if full { self.waiting.pop_front() } else { None };
        self.waiting.push_back(Guest { who: who.to_owned(), handshake: Box::pin(handshake) });
        left.map(|guest| Refusal::Crowded { who: guest.who, limit: ROOM })
    }

    /// The next one who is done, for better or worse. Giving up the call loses nobody; while nobody
    /// waits it never returns.
    pub(crate) async fn next(&mut self) -> Result<T, Refusal> {
        std::future::poll_fn(|cx| {
            for place in 0..self.waiting.len() {
                if let Poll::Ready(outcome) = self.waiting[place].handshake.as_mut().poll(cx) {
                    self.waiting.remove(place);
                    return Poll::Ready(outcome);
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_silent_keep_nobody_waiting_and_leave_in_time() {
        let mut lobby = Lobby::new();
        lobby.admit("mute", std::future::pending::<Result<u32, Refusal>>());
        lobby.admit("quick", async { Ok(7) });
        assert_eq!(lobby.next().await, Ok(7));
        let silent = Refusal::Silent { who: "mute".to_owned(), seconds: 5 };
        assert_eq!(lobby.next().await, Err(silent));
    }

    #[tokio::test(start_paused = true)]
    async fn the_one_who_waited_longest_makes_room() {
        let mut lobby = Lobby::new();
        for number in 0..ROOM {
            let who = format!("mute {number}");
            let left = lobby.admit(&who, std::future::pending::<Result<u32, Refusal>>());
            assert_eq!(left, None);
        }
        let left = lobby.admit("quick", async { Ok(7) });
        assert_eq!(left, Some(Refusal::Crowded { who: "mute 0".to_owned(), limit: ROOM }));
        assert_eq!(lobby.next().await, Ok(7));
    }
}
