//! Networks that misbehave, for the tests of this crate and of those that use it.
//!
//! Each is a [`Net`](crate::Net) around another one, so everything above it is what really runs.

pub mod bare;
mod cut;
mod throttled;

pub use cut::Cut;
pub use throttled::{Pace, Throttled};
