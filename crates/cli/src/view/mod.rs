//! What a person sees of a run while it runs: bars on a terminal, plain lines elsewhere, JSON for
//! programs. All three only read events.

mod bars;
mod plain;
mod workers;

use train::Event;

use crate::env::Env;
use crate::output;

pub(crate) use plain::time;

/// One of the three ways to look at a run.
pub(crate) enum View {
    Bars(bars::Bars),
    Plain(plain::Plain),
    Json,
}

impl View {
    pub(crate) fn new(json: bool, env: &Env) -> Self {
        if json {
            View::Json
        } else if output::is_watched() {
            View::Bars(bars::Bars::new(env.color))
        } else {
            View::Plain(plain::Plain::default())
        }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        match self {
            View::Bars(bars) => bars.show(event),
            View::Plain(plain) => plain.show(event),
            View::Json => {
                output::print(&serde_json::to_string(event).expect("an event is plain data"));
            }
        }
    }

    /// Leaves the terminal as it was.
    pub(crate) fn close(&mut self) {
        if let View::Bars(bars) = self {
            bars.close();
        }
    }
}
