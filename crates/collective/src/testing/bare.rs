//! The parts that listen to others, each on its own, for those who want to throw bytes at them.

use tokio::sync::watch;

use crate::group::Link;
use crate::handshake;
use crate::net::Stream;
use crate::streams::Streams;
use crate::{Access, Broken, Group, Layout, Refusal, Wire};

/// What a door does with one who knocked.
pub async fn answer(stream: Box<dyn Stream>, access: &Access) -> Result<Wire, Refusal> {
    handshake::answer(stream, access, "a peer").await.map(Wire::new)
}

/// What one who knocks does with a door.
pub async fn ask(stream: Box<dyn Stream>, access: &Access) -> Result<Wire, Refusal> {
    handshake::ask(stream, "", access, "a peer").await.map(Wire::new)
}

/// A wire to somebody who proved nothing.
pub fn wire(stream: Box<dyn Stream>) -> Wire {
    Wire::new(stream)
}

/// A group over connections to all other seats, in their order.
pub fn group(layout: Layout, streams: Vec<Box<dyn Stream>>) -> Result<Group, Broken> {
    layout.check()?;
    let fence = watch::channel(layout.generation).1;
    let link = Link::Streams(Streams::new(&layout, streams));
    Ok(Group::new(layout, fence, link))
}
