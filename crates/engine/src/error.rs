//! What can be wrong with a program before it runs.

use thiserror::Error;

/// Why a graph cannot be made into a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The loss compares classes, and the network's answer is not a row of them.
    #[error(
        "the network's output is {shape:?}, and sparse_categorical_crossentropy takes one row of \
         probabilities; end the network with Flatten and Dense"
    )]
    Output {
        /// The shape of the answer to one sample.
        shape: Vec<usize>,
    },
    /// Elements of a batch are counted with 32 bits.
    #[error(
        "layer {name} has {elements} elements in a batch of {batch}; a batch below {limit} fits"
    )]
    Batch {
        /// The layer's name.
        name: String,
        /// Elements of its output, for the whole batch.
        elements: u128,
        /// The batch that was asked for.
        batch: usize,
        /// The first batch that is too large.
        limit: usize,
    },
    /// Nothing can be computed with no samples.
    #[error("the batch is 0; it is at least 1")]
    Empty,
}
