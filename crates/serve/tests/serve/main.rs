//! Servers that real connections ask.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod pictures;
mod routes;
mod running;
