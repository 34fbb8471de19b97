//! A network that is slow: so many bytes a second one way, each so much later.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::net::{BoxFuture, Listen, Net, Stream};

/// Bytes that are written at a time.
const QUANTUM: usize = 8 * 1024;
/// Pieces that may be on their way to a reader.
const ON_THE_WAY: usize = 64;

/// How slow.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// What a connection carries one way.
    pub bytes_per_second: u64,
    /// How long a byte travels.
    pub latency: Duration,
}

/// A slow network.
pub struct Throttled<N> {
    net: N,
    pace: Pace,
}

struct Listener {
    listener: Box<dyn Listen>,
    pace: Pace,
}

struct Slow {
    stream: Box<dyn Stream>,
    pace: Pace,
    /// When the next bytes may be written.
    next_write: Alarm,
    /// What has come and is not due yet.
    coming: VecDeque<(Instant, Vec<u8>)>,
    next_read: Alarm,
    has_ended: bool,
}

impl<N: Net> Throttled<N> {
    /// `net`, at this pace.
    pub fn new(net: N, pace: Pace) -> Throttled<N> {
        Throttled { net, pace }
    }
}

impl<N: Net> Net for Throttled<N> {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>> {
        Box::pin(async move {
            let listener = self.net.listen(at).await?;
            Ok(Box::new(Listener { listener, pace: self.pace }) as Box<dyn Listen>)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move { Ok(Slow::around(self.net.connect(to).await?, self.pace)) })
    }
}

impl Listen for Listener {
    fn address(&self) -> &str {
        self.listener.address()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            Ok((Slow::around(stream, self.pace), from))
        })
    }
}

impl Slow {
    fn around(stream: Box<dyn Stream>, pace: Pace) -> Box<dyn Stream> {
        let (next_write, next_read) = (Alarm::new(), Alarm::new());
        let coming = VecDeque::new();
        Box::new(Slow { stream, pace, next_write, coming, next_read, has_ended: false })
    }

    /// Takes in what has come, as far as there is room.
    fn take_in(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while !self.has_ended && self.coming.len() < ON_THE_WAY {
            let mut bytes = vec![0; QUANTUM];
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(outcome) => outcome?,
                Poll::Pending => break,
            }
            let length = buffer.filled().len();
            bytes.truncate(length);
            self.has_ended = length == 0;
            self.coming.push_back((Instant::now() + self.pace.latency, bytes));
        }
        Ok(())
    }
}

impl AsyncRead for Slow {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let slow = self.get_mut();
        slow.take_in(cx)?;
        let Some((due, bytes)) = slow.coming.front_mut() else {
            return if slow.has_ended { Poll::Ready(Ok(())) } else { Poll::Pending };
        };
        ready!(slow.next_read.poll_at(*due, cx));
        let length = bytes.len().min(buffer.remaining());
        buffer.put_slice(&bytes[..length]);
        bytes.drain(..length);
        if bytes.is_empty() {
            slow.coming.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Slow {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let slow = self.get_mut();
        ready!(slow.next_write.poll(cx));
        let some = &bytes[..bytes.len().min(QUANTUM)];
        let written = ready!(Pin::new(&mut slow.stream).poll_write(cx, some))?;
        let takes = written as f64 / slow.pace.bytes_per_second as f64;
        slow.next_write.set(Instant::now() + Duration::from_secs_f64(takes));
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A time to wait for.
struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    fn new() -> Alarm {
        Alarm { sleep: None }
    }

    fn set(&mut self, at: Instant) {
        self.sleep = Some(Box::pin(sleep_until(at)));
    }

    /// Ready when the time that was set has come.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(cx));
            self.sleep = None;
        }
        Poll::Ready(())
    }

    /// Ready when this time has come.
    fn poll_at(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if self.sleep.as_ref().is_none_or(|sleep| sleep.deadline() != at) {
            self.set(at);
        }
        self.poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::Memory;

    #[tokio::test(start_paused = true)]
    async fn bytes_take_their_time_and_arrive_whole() {
        let pace = Pace { bytes_per_second: 100_000, latency: Duration::from_secs(3) };
        let net = Throttled::new(Memory::new(), pace);
        let mut listener = net.listen("").await.unwrap();
        let mut near = net.connect(listener.address()).await.unwrap();
        let (mut far, _) = listener.accept().await.unwrap();
        let bytes: Vec<u8> = (0..200_000).map(|place| place as u8).collect();
        let start = Instant::now();
        let send = async {
            near.write_all(&bytes).await.unwrap();
            near.shutdown().await.unwrap();
        };
        let mut read = vec![];
        let (_, received) = tokio::join!(send, far.read_to_end(&mut read));
        received.unwrap();
        assert!(read == bytes);
        let seconds = start.elapsed().as_secs_f64();
        assert!((4.9..5.1).contains(&seconds), "{seconds}");
    }
}
