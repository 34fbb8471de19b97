//! The system's TCP sockets.
//!
//! Frames are sent at once rather than gathered, and a connection whose other end is gone without a
//! word (a pulled cable, a frozen machine) ends by itself within a few seconds: idle ones are probed,
//! and bytes that stay untaken count as a broken connection.
//!
//! The latter holds also when the other process is well and does not read, since it computes. So the
//! connections of a group are [made patient](be_patient): there it is the driver who notices.

use std::any::Any;
use std::io;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::{client, server};

use super::{BoxFuture, Listen, Net, Stream};

/// Nobody on a network that can train together takes longer to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a connection may be silent before it is probed, and between probes.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBES: u32 = 2;
/// How long bytes may stay untaken.
const UNTAKEN_MS: u32 = 3_000;

/// TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sockets;

struct Listener {
    listener: TcpListener,
    address: String,
}

impl Net for Sockets {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>> {
        Box::pin(async move {
            let listener = TcpListener::bind(at).await?;
            let address = listener.local_addr()?.to_string();
            Ok(Box::new(Listener { listener, address }) as Box<dyn Listen>)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(to)).await;
            let stream = connected.map_err(|_| {
                let seconds = CONNECT_TIMEOUT.as_secs();
                let problem = format!("{to} did not answer within {seconds} seconds");
                io::Error::new(io::ErrorKind::TimedOut, problem)
            })??;
            prepare(&stream)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }
}

impl Listen for Listener {
    fn address(&self) -> &str {
        &self.address
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            prepare(&stream)?;
            Ok((Box::new(stream) as Box<dyn Stream>, from.to_string()))
        })
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, PROBE_EVERY)?;
    sockopt::set_tcp_keepintvl(stream, PROBE_EVERY)?;
    sockopt::set_tcp_keepcnt(stream, PROBES)?;
    sockopt::set_tcp_user_timeout(stream, UNTAKEN_MS)?;
    Ok(())
}

/// Lets the other process take bytes when it likes, if this is a socket, encrypted or not.
pub(crate) fn be_patient(stream: &dyn Stream) -> io::Result<()> {
    let stream: &dyn Any = stream;
    if let Some(stream) = stream.downcast_ref::<TcpStream>() {
        return Ok(sockopt::set_tcp_user_timeout(stream, 0)?);
    }
    let asked = stream.downcast_ref::<client::TlsStream<Box<dyn Stream>>>();
    let answered = stream.downcast_ref::<server::TlsStream<Box<dyn Stream>>>();
    let inner = asked.map(|tls| tls.get_ref().0).or_else(|| answered.map(|tls| tls.get_ref().0));
    inner.map_or(Ok(()), |inner| be_patient(&**inner))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_go_both_ways() {
        let mut listener = Sockets.listen("127.0.0.1:0").await.unwrap();
        let address = listener.address().to_owned();
        let (near, far) = tokio::join!(Sockets.connect(&address), listener.accept());
        let (mut near, (mut far, from)) = (near.unwrap(), far.unwrap());
        assert!(from.starts_with("127.0.0.1:") && from != address, "{from}");
        near.write_all(b"there").await.unwrap();
        far.write_all(b"back!").await.unwrap();
        let mut read = [0; 5];
        far.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"there");
        near.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"back!");
    }

    #[tokio::test]
    async fn nobody_there_is_an_error() {
        let listener = Sockets.listen("127.0.0.1:0").await.unwrap();
        let address = listener.address().to_owned();
        drop(listener);
        assert!(Sockets.connect(&address).await.is_err());
    }
}
