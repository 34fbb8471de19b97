//! What can be wrong with a network.

use thiserror::Error;

/// Why layers do not make a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("layer {number} ({name}): {problem}")]
pub struct GraphError {
    /// The layer's place, counted from 1 as a reader counts.
    pub number: usize,
    /// The layer's name.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}
