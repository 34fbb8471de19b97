//! What a network is: the layer graph, its shapes and weights, the built-in networks, and its files.

mod average;
mod card;
mod error;
mod format;
mod graph;
mod hash;
mod initialize;
mod layer;
mod model;
mod network;
mod safetensors;
mod summary;
mod weight;

pub use average::{Part, average, mean};
pub use card::{Card, DataFacts, Metrics, Preprocess, Trained};
pub use error::{Error, FileProblem, GraphError};
pub use format::Format;
pub use graph::{Graph, Node};
pub use hash::weights_sha256;
pub use model::{FILE_NAME, Model};
pub use network::{Network, network};
pub use summary::summary;
pub use weight::{Kind, Weight};
