//! Files and standard streams as the two ends of a connection to a pod. They are fast enough to be waited
//! for.

use std::io::{Read, Result, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Writes what comes out of a pod.
pub(super) struct Sink<W>(pub(super) W);

impl<W: Write + Unpin> AsyncWrite for Sink<W> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Poll::Ready(self.get_mut().0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(self.get_mut().0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.poll_flush(context)
    }
}

/// Reads what goes into a pod.
pub(super) struct Source<R>(pub(super) R);

impl<R: Read + Unpin> AsyncRead for Source<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let read = self.get_mut().0.read(buffer.initialize_unfilled());
        Poll::Ready(read.map(|read| buffer.advance(read)))
    }
}
