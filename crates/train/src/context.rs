//! How work stands to the rest of the world: the time, a flag that asks it to leave, and its voice.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::Clock;
use crate::event::Kind;

/// Handed to whatever takes long.
pub struct Context<'a> {
    /// The time.
    pub clock: &'a Clock,
    /// Set from outside when the work is to be saved and left.
    pub stop: &'a AtomicBool,
    /// Where events go.
    pub voice: &'a mut dyn FnMut(Kind),
}

impl Context<'_> {
    /// Tells of an event.
    pub fn emit(&mut self, kind: Kind) {
        (self.voice)(kind);
    }

    /// Whether it is time to save and leave.
    pub fn is_asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
