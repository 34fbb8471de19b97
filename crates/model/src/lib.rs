//! What a network is: the layer graph, its shapes and weights, the built-in networks, and its files.

mod error;
mod graph;
mod weight;

pub use error::GraphError;
pub use graph::{Graph, Node};
pub use weight::{Kind, Weight};
