//! How work stands to the rest of the world: the time, a flag that asks it to leave, and its voice.

use crate::event::Kind;
use crate::{Clock, Pulse};

/// Handed to whatever takes long.
pub struct Context<'a> {
    /// The time.
    pub clock: &'a Clock,
    /// Whether the work is to be left.
    pub stop: &'a dyn Fn() -> bool,
    /// What heartbeats tell of the work.
    pub pulse: &'a Pulse,
    /// Where lines for people go.
    pub log: &'a (dyn Fn(&str) + Send + Sync),
    /// Where events go.
    pub voice: &'a mut dyn FnMut(Kind),
}

impl Context<'_> {
    /// Tells of an event.
    pub fn emit(&mut self, kind: Kind) {
        (self.voice)(kind);
    }

    /// Whether it is time to leave.
    pub fn is_asked_to_stop(&self) -> bool {
        (self.stop)()
    }
}
