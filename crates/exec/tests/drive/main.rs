//! The driver with processes that follow a script: what it makes of those that end well, die, talk
//! nonsense, claim what is not theirs, or outlive it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod actor;
mod adoption;
mod endings;
mod lines;
mod stage;
