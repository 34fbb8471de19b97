//! Counting what goes to and fro, so that one who looks now and then can tell slow from stuck.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::Stream;

/// A count that grows with everything that is exchanged. Its clones are the same count.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    /// The count. It goes round, and only whether it has changed means anything.
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts something that was exchanged.
    pub fn count(&self, exchanged: usize) {
        self.0.fetch_add(exchanged as u64, Ordering::Relaxed);
    }

    /// The same stream, counted.
    pub(crate) fn watch(&self, stream: Box<dyn Stream>) -> Box<dyn Stream> {
        Box::new(Watched { stream, meter: self.clone() })
    }
}

struct Watched {
    stream: Box<dyn Stream>,
    meter: Meter,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut *self.stream).poll_read(cx, buffer))?;
        self.meter.count(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut *self.stream).poll_write(cx, bytes))?;
        self.meter.count(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut *self.stream).poll_write_vectored(cx, slices))?;
        self.meter.count(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn what_goes_and_what_comes_counts_once_for_each_end() {
        let (near, far) = tokio::io::duplex(10);
        let (here, there) = (Meter::default(), Meter::default());
        let (mut near, mut far) = (here.watch(Box::new(near)), there.watch(Box::new(far)));
        let mut read = [0; 1_000];
        let (sent, received) = tokio::join!(near.write_all(&[7; 1_000]), far.read_exact(&mut read));
        sent.unwrap();
        received.unwrap();
        assert_eq!((here.read(), there.read(), read[999]), (1_000, 1_000, 7));
        // Nobody takes what is sent: the count stands still.
        near.write_all(&[7; 10]).await.unwrap();
        assert!(near.write(&[7]).now_or_never().is_none());
        assert_eq!((here.read(), there.read()), (1_010, 1_000));
    }
}
