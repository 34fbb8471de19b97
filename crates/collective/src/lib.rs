//! Ranks that exchange numbers.
//!
//! A run's workers are a group: each process hosts some of the ranks, and together they sum what
//! every rank has, in one fixed order, so that the sum is the same bits however the ranks are hosted
//! and whatever lies between the processes.
//!
//! From below: a [`Net`] carries bytes; a [`Door`] and [`knock`] make of it connections between
//! processes that know the run's secret; a [`Port`] is a process' own door, where it meets the others
//! of its [`Layout`]; and a [`Group`] is what they then are.
//!
//! This crate knows nothing of runs, models or training, and uses nothing of ours.

mod access;
mod alone;
mod arrivals;
mod broken;
mod door;
mod fence;
mod forming;
mod group;
mod handshake;
mod identity;
mod layout;
mod lobby;
mod meter;
mod net;
mod port;
mod refusal;
mod secret;
mod share;
mod shm;
mod streams;
#[doc(hidden)]
pub mod testing;
mod tls;
mod tree;
mod wire;

pub use access::Access;
pub use broken::Broken;
pub use door::{Door, knock};
pub use group::{Group, Note, Part, Sum};
pub use identity::{BadIdentity, Identity};
pub use layout::{Contact, Host, Layout, Seat};
pub use meter::Meter;
pub use net::{BoxFuture, Listen, Memory, Net, Sockets, Stream};
pub use port::{Port, Reach};
pub use refusal::Refusal;
pub use secret::{BadSecret, Secret};
pub use tree::canonical_sum;
pub use wire::{Reader, Wire, Writer};
