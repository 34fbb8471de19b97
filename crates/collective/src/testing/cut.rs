//! A network that breaks: on command, or when a connection has carried so many bytes.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::{BoxFuture, Listen, Net, Stream};

/// A network whose connections can be cut. Clones are the same network.
pub struct Cut<N> {
    net: Arc<N>,
    cutter: Arc<Mutex<Cutter>>,
}

#[derive(Default)]
struct Cutter {
    /// Nothing gets through.
    is_cut: bool,
    /// What a connection carries in all before it breaks.
    limit: Option<u64>,
    threads: Vec<Weak<Thread>>,
}

struct Listener {
    listener: Box<dyn Listen>,
    cutter: Arc<Mutex<Cutter>>,
}

/// What a connection and the one who cuts it both hold.
#[derive(Default)]
struct Thread {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_torn: bool,
    left: Option<u64>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

struct Fragile {
    stream: Box<dyn Stream>,
    thread: Arc<Thread>,
}

impl<N: Net> Cut<N> {
    /// `net`, whole for now.
    pub fn new(net: N) -> Cut<N> {
        Cut { net: Arc::new(net), cutter: Arc::default() }
    }

    /// Connections made from now on break when they have carried this many bytes, both ways together.
    pub fn after(&self, bytes: u64) {
        lock(&self.cutter).limit = Some(bytes);
    }

    /// Breaks all connections, and lets no new ones be made.
    pub fn cut(&self) {
        let mut cutter = lock(&self.cutter);
        cutter.is_cut = true;
        for thread in cutter.threads.drain(..).filter_map(|thread| thread.upgrade()) {
            thread.tear();
        }
    }

    /// New connections can be made again.
    pub fn mend(&self) {
        lock(&self.cutter).is_cut = false;
    }
}

impl<N> Clone for Cut<N> {
    fn clone(&self) -> Cut<N> {
        Cut { net: Arc::clone(&self.net), cutter: Arc::clone(&self.cutter) }
    }
}

impl<N: Net> Net for Cut<N> {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>> {
        Box::pin(async move {
            let (listener, cutter) = (self.net.listen(at).await?, Arc::clone(&self.cutter));
            Ok(Box::new(Listener { listener, cutter }) as Box<dyn Listen>)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            if lock(&self.cutter).is_cut {
                return Err(torn());
            }
            Ok(Fragile::around(self.net.connect(to).await?, &self.cutter))
        })
    }
}

impl Listen for Listener {
    fn address(&self) -> &str {
        self.listener.address()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            Ok((Fragile::around(stream, &self.cutter), from))
        })
    }
}

impl Fragile {
    fn around(stream: Box<dyn Stream>, cutter: &Mutex<Cutter>) -> Box<dyn Stream> {
        let mut cutter = lock(cutter);
        let state = State { is_torn: cutter.is_cut, left: cutter.limit, ..State::default() };
        let thread = Arc::new(Thread { state: Mutex::new(state) });
        cutter.threads.retain(|thread| thread.strong_count() > 0);
        cutter.threads.push(Arc::downgrade(&thread));
        Box::new(Fragile { stream, thread })
    }
}

impl Thread {
    fn tear(&self) {
        let mut state = lock(&self.state);
        state.is_torn = true;
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// How many bytes may pass; who asks is woken when it is torn.
    fn allow(&self, cx: &Context<'_>, reads: bool) -> io::Result<usize> {
        let mut state = lock(&self.state);
        if state.is_torn || state.left == Some(0) {
            return Err(torn());
        }
        let waker = if reads { &mut state.reader } else { &mut state.writer };
        *waker = Some(cx.waker().clone());
        Ok(state.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX)))
    }

    fn passed(&self, bytes: usize) {
        let mut state = lock(&self.state);
        state.left = state.left.map(|left| left.saturating_sub(bytes as u64));
        let is_used_up = state.left == Some(0);
        drop(state);
        if is_used_up {
            self.tear();
        }
    }
}

impl AsyncRead for Fragile {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let allowed = self.thread.allow(cx, true)?.min(buffer.remaining());
        let mut some = ReadBuf::new(buffer.initialize_unfilled_to(allowed));
        let outcome = Pin::new(&mut self.stream).poll_read(cx, &mut some);
        let read = some.filled().len();
        buffer.advance(read);
        self.thread.passed(read);
        outcome
    }
}

impl AsyncWrite for Fragile {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let allowed = self.thread.allow(cx, false)?.min(bytes.len());
        let outcome = Pin::new(&mut self.stream).poll_write(cx, &bytes[..allowed]);
        if let Poll::Ready(Ok(written)) = outcome {
            self.thread.passed(written);
        }
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

fn torn() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the connection was cut")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::Memory;

    async fn connection(net: &Cut<Memory>) -> (Box<dyn Stream>, Box<dyn Stream>) {
        let mut listener = net.listen("").await.unwrap();
        let near = net.connect(listener.address()).await.unwrap();
        (near, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn a_cut_ends_waits() {
        let net = Cut::new(Memory::new());
        let (mut near, mut far) = connection(&net).await;
        near.write_all(b"whole").await.unwrap();
        far.read_exact(&mut [0; 5]).await.unwrap();
        let (mut byte, cutting) = ([0], async { net.cut() });
        let (outcome, ()) = tokio::join!(far.read(&mut byte), cutting);
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        assert!(near.write(b"more").await.is_err());
        assert!(net.connect("memory:1").await.is_err());
        net.mend();
        connection(&net).await;
    }

    #[tokio::test]
    async fn a_connection_breaks_when_it_has_carried_enough() {
        let net = Cut::new(Memory::new());
        net.after(7);
        let (mut near, mut far) = connection(&net).await;
        near.write_all(b"0123").await.unwrap();
        far.write_all(b"45").await.unwrap();
        assert_eq!(near.read(&mut [0; 10]).await.unwrap(), 2);
        assert_eq!(near.write(b"6789").await.unwrap(), 1);
        assert!(near.write(b"789").await.is_err());
    }
}
