//! Training: the loop, checkpoints, what a task's process does, and the events that tell of it.
//!
//! [`perform`] is what a process does with its [`Orders`]. [`Trainer`] is one worker's training, a
//! step at a time, and [`fit`] the loop around it. [`Event`] is what happened, [`Standing`] what
//! that amounts to, [`Report`] what came out of it.

mod card;
mod checkpoint;
mod clock;
mod context;
mod describe;
mod early_stop;
mod error;
mod event;
mod event_log;
mod fit;
mod measure;
mod memory;
mod perform;
mod report;
mod roles;
mod saver;
mod schedule;
mod settings;
mod standing;
mod tally;
mod trainer;

pub use card::Origin;
pub use checkpoint::{Checkpoints, Found, Position, Snapshot};
pub use clock::Clock;
pub use context::Context;
pub use describe::{bytes, describe, describe_kind, duration};
pub use error::Error;
pub use event::{Epoch, Event, Kind, Metrics, Progress, Published, VERSION};
pub use event_log::{EventLog, read_events};
pub use fit::{Ending, fit};
pub use measure::{input, measure, session};
pub use memory::{evaluate_bytes, prepare_bytes, worker_bytes};
pub use perform::{Orders, Performed, Surroundings, perform};
pub use report::{ModelReport, Report, Results};
pub use roles::starting_point;
pub use saver::Saver;
pub use settings::Settings;
pub use standing::{ModelStanding, Standing, State, TaskStanding};
pub use trainer::{Material, Trainer};
