//! One connection of a group, and the few bytes that open every exchange on it.
//!
//! An exchange begins with a **head**: what it is, how many exchanges went before it on this
//! connection, and how many values it is about. Two processes that have got out of step notice it
//! there, before any value is taken for another.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::ReadBuf;

use crate::Broken;
use crate::net::Stream;

/// What is exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    AllReduce = 1,
    Broadcast = 2,
    Pass = 3,
}

pub(crate) const HEAD_BYTES: usize = 16;

/// A connection to the process of another seat.
pub(crate) struct Line {
    pub(crate) seat: usize,
    pub(crate) process: u32,
    stream: Box<dyn Stream>,
    /// How many exchanges were begun on it.
    exchanges: u32,
    /// How many bytes were handed to it.
    pub(crate) sent: u64,
}

impl Line {
    pub(crate) fn new(seat: usize, process: u32, stream: Box<dyn Stream>) -> Line {
        Line { seat, process, stream, exchanges: 0, sent: 0 }
    }

    /// The head of the next exchange. The other side's must be the same but for the length.
    pub(crate) fn begin(&mut self, kind: Kind, len: usize) -> [u8; HEAD_BYTES] {
        self.exchanges = self.exchanges.wrapping_add(1);
        let mut head = [0; HEAD_BYTES];
        head[0] = kind as u8;
        head[4..8].copy_from_slice(&self.exchanges.to_le_bytes());
        head[8..].copy_from_slice(&(len as u64).to_le_bytes());
        head
    }

    /// The length in the other side's head of the exchange that `begin` began, at most `max`.
    pub(crate) fn check(&self, head: &[u8], kind: Kind, max: usize) -> Result<usize, Broken> {
        let (mut exchanges, mut len) = ([0; 4], [0; 8]);
        exchanges.copy_from_slice(&head[4..8]);
        len.copy_from_slice(&head[8..HEAD_BYTES]);
        let (exchanges, len) = (u32::from_le_bytes(exchanges), u64::from_le_bytes(len));
        if head[..4] != [kind as u8, 0, 0, 0] || exchanges != self.exchanges {
            let (theirs, ours) = (head[0], kind as u8);
            let problem = format!(
                "it does exchange {exchanges} of kind {theirs}, this process {} of kind {ours}",
                self.exchanges
            );
            return Err(Broken::refused(self.process, problem));
        }
        let fits = usize::try_from(len).ok().filter(|len| *len <= max);
        fits.ok_or_else(|| {
            let problem = format!("it exchanges {len} values where at most {max} were agreed on");
            Broken::refused(self.process, problem)
        })
    }

    /// Reads into `bytes` from `*at` on, as much as there is. Ready when something was read or
    /// nothing is missing.
    pub(crate) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
        at: &mut usize,
    ) -> Poll<Result<(), Broken>> {
        if *at == bytes.len() {
            return Poll::Ready(Ok(()));
        }
        let mut buffer = ReadBuf::new(&mut bytes[*at..]);
        let outcome = ready!(Pin::new(&mut *self.stream).poll_read(cx, &mut buffer));
        let read = buffer.filled().len();
        *at += read;
        Poll::Ready(match outcome {
            Ok(()) if read == 0 => Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
            Ok(()) => Ok(()),
            Err(problem) => Err(self.lost(&problem)),
        })
    }

    /// Writes some of these bytes; how many.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Broken>> {
        let sent = ready!(Pin::new(&mut *self.stream).poll_write_vectored(cx, slices));
        Poll::Ready(match sent {
            Ok(0) => Err(self.lost(&io::ErrorKind::WriteZero.into())),
            Ok(bytes) => {
                self.sent += bytes as u64;
                Ok(bytes)
            }
            Err(problem) => Err(self.lost(&problem)),
        })
    }

    /// Sends off what the stream still holds back.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let flushed = ready!(Pin::new(&mut *self.stream).poll_flush(cx));
        Poll::Ready(flushed.map_err(|problem| self.lost(&problem)))
    }

    fn lost(&self, problem: &io::Error) -> Broken {
        match problem.kind() {
            // However it is encrypted, it is told the same way.
            io::ErrorKind::UnexpectedEof => Broken::lost(self.process, "it closed the connection"),
            _ => Broken::lost(self.process, problem),
        }
    }
}
