//! Runs a plan: starts its tasks as processes, watches them, restarts what died, and writes down
//! everything that happens.
//!
//! [`drive`] is the loop of a driver. What may start next is decided purely, in `schedule`; how a
//! process is started and heard is in `process`.

mod drive;
mod error;
mod process;
mod schedule;

pub use drive::{Driver, Ending, drive};
pub use error::ExecError;
pub use process::{Launcher, ask_to_stop};
pub use schedule::Limits;
