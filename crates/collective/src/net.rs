//! How bytes travel between processes.
//!
//! Everything above knows a [`Net`]: a place where one can listen and connect. Real sockets are one,
//! pipes inside a process another, and a simulation brings its own, so the code that is tested is the
//! code that runs.

mod memory;
mod sockets;

use std::any::Any;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

pub use memory::Memory;
pub use sockets::Sockets;
pub(crate) use sockets::be_patient;

/// A future that can be kept and moved to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Bytes both ways, in order, whole or torn.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + Any {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + Any> Stream for T {}

/// A place where others knock. Giving up a call of `accept` loses nobody.
pub trait Listen: Send {
    /// Where others connect to.
    fn address(&self) -> &str;

    /// The next one who knocks, whoever it is, and the address it comes from.
    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>>;
}

/// A way to listen and to connect.
pub trait Net: Send + Sync + 'static {
    /// Listens at an address such as `127.0.0.1:0`, where 0 leaves the port to the system.
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>>;

    /// Connects to an address that somebody listens at.
    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>>;
}
