//! The run file: types, defaults, checks, schema. Pure: nothing here reads a file or a clock.

mod layer;
mod objective;

pub use layer::{
    Activation, ActivationLayer, Conv2D, Dense, Dropout, Flatten, Initializer, Input, Layer,
    MaxPooling2D, Padding, Pair,
};
pub use objective::{Adam, Loss, LossName, Optimizer, Reduction, Rmsprop, Sgd};
