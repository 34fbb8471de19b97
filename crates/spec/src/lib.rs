//! The run file: types, defaults, checks, schema. Pure: nothing here reads a file or a clock.

mod data;
mod evaluate;
mod file;
mod layer;
mod nearest;
mod network;
mod objective;
mod quantity;
mod resolve;
mod run;
mod train;

pub use data::{BUILTIN_DATA, Data, Holdout, Prepare};
pub use evaluate::{Evaluate, Split};
pub use layer::{
    Activation, ActivationLayer, Conv2D, Dense, Dropout, Flatten, Initializer, Input, Layer,
    MaxPooling2D, Padding, Pair,
};
pub use nearest::nearest;
pub use network::{Builtin, Model};
pub use objective::{Adam, Loss, LossName, Optimizer, Reduction, Rmsprop, Sgd};
pub use quantity::{Bytes, Duration, QuantityError};
pub use run::{Action, RunSpec, Step};
pub use train::{Checkpoint, Clip, EarlyStop, Length, Monitor, Schedule, Strategy, Train};

/// Reads a run file.
pub fn parse(text: &str, _file: &str, _sets: &[String]) -> Result<RunSpec, SpecError> {
    serde_saphyr::from_str(text).map_err(|e| SpecError(e.to_string()))
}

/// What is wrong with a run file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);
