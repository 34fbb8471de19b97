//! The roles a process can have, one file each.

mod evaluate;
mod prepare;
mod worker;

pub(crate) use evaluate::evaluate;
pub(crate) use prepare::prepare;
pub use worker::starting_point;
pub(crate) use worker::{Worker, server_rules};
