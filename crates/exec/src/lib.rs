//! Runs a plan: starts its tasks as processes, keeps them together, replaces what died, and writes down
//! everything that happens.
//!
//! [`drive`] is the loop of a driver. What may start next is decided purely, in `schedule`, and what is
//! to be done about a group in [`train::membership`]. How processes are started is a [`Launcher`]'s
//! part: [`Local`] is that of this machine.

mod copy;
mod door;
mod drive;
mod error;
mod files;
mod hear;
pub mod kubernetes;
mod launch;
mod lead;
mod local;
mod reception;
mod schedule;
mod troop;

pub use copy::restore;
pub use drive::{Driver, Ending, drive};
pub use error::ExecError;
pub use launch::{Launcher, Started};
pub use local::{Local, ask_to_stop};
pub use schedule::Limits;
