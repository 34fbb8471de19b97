//! A network inside one process: bounded pipes between tasks and threads.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::{BoxFuture, Listen, Net, Stream};

/// What a pipe holds before its writer waits. Small, so that tests meet full pipes.
const PIPE_BYTES: usize = 16 * 1024;
/// How many may have knocked before one who knocks waits.
const BACKLOG: usize = 128;

/// A network of pipes. Clones are the same network; two networks never meet.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    places: Arc<Mutex<Places>>,
}

#[derive(Debug, Default)]
struct Places {
    listening: HashMap<String, mpsc::Sender<Box<dyn Stream>>>,
    made: u64,
}

struct Listener {
    knocks: mpsc::Receiver<Box<dyn Stream>>,
    address: String,
}

impl Memory {
    /// A network where nobody listens yet.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Listens at a new address, whatever was asked for.
    fn place(&self) -> Box<dyn Listen> {
        let (sender, knocks) = mpsc::channel(BACKLOG);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.made += 1;
        let address = format!("memory:{}", places.made);
        places.listening.retain(|_, sender| !sender.is_closed());
        places.listening.insert(address.clone(), sender);
        Box::new(Listener { knocks, address })
    }

    fn find(&self, address: &str) -> Option<mpsc::Sender<Box<dyn Stream>>> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.listening.get(address).cloned()
    }
}

impl Net for Memory {
    fn listen<'a>(&'a self, _at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>> {
        Box::pin(async move { Ok(self.place()) })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let nobody = || {
                let problem = format!("nobody listens at {to}");
                io::Error::new(io::ErrorKind::ConnectionRefused, problem)
            };
            let place = self.find(to).ok_or_else(nobody)?;
            let (near, far) = tokio::io::duplex(PIPE_BYTES);
            place.send(Box::new(far)).await.map_err(|_| nobody())?;
            Ok(Box::new(near) as Box<dyn Stream>)
        })
    }
}

impl Listen for Listener {
    fn address(&self) -> &str {
        &self.address
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let closed = || io::Error::other("the network is gone");
            let stream = self.knocks.recv().await.ok_or_else(closed)?;
            // Whoever connects here has no address.
            Ok((stream, "memory".to_owned()))
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_pipe_joins_two_ends() {
        let net = Memory::new();
        let mut listener = net.listen("anywhere").await.unwrap();
        let mut near = net.connect(listener.address()).await.unwrap();
        let (mut far, _) = listener.accept().await.unwrap();
        near.write_all(b"hello").await.unwrap();
        drop(near);
        let mut read = vec![];
        far.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"hello");
    }

    #[tokio::test]
    async fn nobody_listens_after_the_listener_is_gone() {
        let net = Memory::new();
        let listener = net.listen("").await.unwrap();
        let address = listener.address().to_owned();
        drop(listener);
        assert!(net.connect(&address).await.is_err());
        assert!(Memory::new().connect("memory:1").await.is_err());
    }
}
