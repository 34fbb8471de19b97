//! Training: the loop, the strategies, membership, checkpoints, what a process does, and the events
//! that tell of it.
//!
//! [`serve`] is a process of a run from its first words to its last; it learns what to do from its
//! [`Orders`]. [`Trainer`] is what it trains with, [`fit`] the loop, and a strategy takes training a move
//! further. [`membership`] decides, purely, who trains. [`Event`] is what happened, [`Standing`] what that
//! amounts to, [`Report`] what came out of it.

mod card;
mod checkpoint;
mod clock;
mod context;
mod describe;
mod early_stop;
mod epoch;
mod error;
mod event;
mod event_log;
mod faces;
pub mod files;
mod fit;
mod join;
mod measure;
pub mod membership;
mod memory;
pub mod message;
mod orders;
mod pace;
mod process;
mod pulse;
mod report;
mod roles;
mod saver;
mod schedule;
mod servers;
mod settings;
mod shares;
mod standing;
mod strategy;
mod tally;
mod trainer;
mod triplets;

pub use card::Origin;
pub use checkpoint::{Checkpoints, Found, Position, Snapshot};
pub use clock::Clock;
pub use context::Context;
pub use describe::{bytes, describe, describe_kind, duration, of_all, processes};
pub use error::Error;
pub use event::{Epoch, Event, Kind, Metrics, Progress, Published, VERSION, WorkerProgress};
pub use event_log::{EventLog, read_events};
pub use faces::{Faces, Recognition, recognize};
pub use files::RunFolder;
pub use fit::{Ending, RankPlaces, Saving, fit, fit_alone};
pub use join::Join;
pub use measure::{check_ids, check_vocabulary, input, measure};
pub use memory::{evaluate_bytes, prepare_bytes, server_bytes, worker_bytes};
pub use orders::{Orders, Performed, Surroundings};
pub use process::{Station, serve};
pub use pulse::Pulse;
pub use report::{ModelReport, Report, Results};
pub use roles::starting_point;
pub use saver::Saver;
pub use settings::Settings;
pub use shares::Shares;
pub use standing::{Living, ModelStanding, Standing, State, TaskStanding};
pub use trainer::{Material, Trainer};
