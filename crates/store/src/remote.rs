//! A store on another machine, asked over whatever connection there is to it.

use std::fmt::Debug;
use std::io;

use bytes::Bytes;

use crate::Entry;

/// What a folder elsewhere must be able to do to be a [`Store`](crate::Store). Paths are those of the
/// store; what the other side says comes back as a system error of the same kind.
pub trait Remote: Debug + Send + Sync {
    /// The size of a thing, and its bytes from `offset` on.
    fn get(&self, path: &str, offset: u64) -> io::Result<(u64, Box<dyn io::Read + Send>)>;

    /// Publishes a thing, whole or not at all; with `new` only where there is nothing of this name.
    fn put(&self, path: &str, bytes: Bytes, new: bool) -> io::Result<()>;

    /// Everything below a folder, at any depth.
    fn list(&self, prefix: &str) -> io::Result<Vec<Entry>>;

    /// Removes a thing.
    fn delete(&self, path: &str) -> io::Result<()>;

    /// The size of a thing.
    fn size(&self, path: &str) -> io::Result<u64>;
}
