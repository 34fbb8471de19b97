//! What a network is: the layer graph, its shapes and weights, the built-in networks, and its files.

mod average;
mod build;
mod card;
mod ensemble;
mod error;
mod format;
mod graph;
mod hash;
mod initialize;
mod layer;
mod manifest;
mod model;
mod network;
mod orthogonal;
mod published;
mod safetensors;
mod sequence;
mod summary;
mod vote;
mod weight;
mod xception;

pub use average::{Part, average, mean};
pub use card::{Card, DataFacts, Metrics, Preprocess, Trained};
pub use ensemble::{ENSEMBLE_FILE, Ensemble};
pub use error::{Error, FileProblem, GraphError};
pub use format::Format;
pub use graph::{Graph, Node};
pub use hash::weights_sha256;
pub use model::{FILE_NAME, Model};
pub use network::{Network, network};
pub use published::Published;
pub use summary::summary;
pub use vote::{Verdict, vote};
pub use weight::{Kind, Weight};
