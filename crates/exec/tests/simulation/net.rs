//! The simulation's sockets as a network.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use collective::{BoxFuture, Listen, Net, Stream};
use tokio::time::{sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};

use crate::yard::Yard;

/// As for real sockets.
const CONNECT: Duration = Duration::from_secs(3);
/// How long it takes to be refused.
const REFUSED: Duration = Duration::from_millis(5);

/// The network as a machine of this name sees it.
pub(crate) struct Wires {
    pub(crate) name: String,
    pub(crate) yard: Yard,
}

struct Listener {
    listener: TcpListener,
    address: String,
}

impl Net for Wires {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>> {
        Box::pin(async move {
            let listener = TcpListener::bind(at).await?;
            let port = listener.local_addr()?.port();
            let address = format!("{}:{port}", turmoil::lookup(self.name.as_str()));
            Ok(Box::new(Listener { listener, address }) as Box<dyn Listen>)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let address: SocketAddr = to.parse().map_err(io::Error::other)?;
            if self.yard.refuses(address.ip()) {
                sleep(REFUSED).await;
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            match timeout(CONNECT, TcpStream::connect(address)).await {
                Ok(stream) => Ok(Box::new(stream?) as Box<dyn Stream>),
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            }
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
            Ok((Box::new(stream) as Box<dyn Stream>, from.to_string()))
        })
    }
}
