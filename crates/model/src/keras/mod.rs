//! Keras' files: `.h5` as it was written for years, and `.keras` archives.
//!
//! Both hold a configuration in JSON, which `config` turns into a [`Graph`](crate::Graph) and back, and
//! weights in HDF5, which are matched by layer and by their place in the layer. Whatever a file says is
//! data: nothing in it is ever run, and a layer we do not have is refused by its name.
//!
//! Our own files carry two strings beside what Keras reads, the layers and the card as they are in
//! `.safetensors`, so that a model comes back as it was.

mod archive;
mod config;
mod edges;
mod extras;
mod h5;
mod hdf5;
mod layers;
mod order;
#[cfg(test)]
mod refusals;
mod training;
mod words;

pub(crate) use archive::{read as read_archive, write as write_archive};
pub(crate) use extras::UNKNOWN_INITIALIZERS;
pub(crate) use h5::{read as read_h5, read_alone as read_weights, write as write_h5};
pub(crate) use order::keras_order;

/// The version of Keras that our files are written as.
const VERSION: &str = "3.0.0";

/// The most bytes of a configuration or a card. Networks of thousands of layers have less.
const MAX_JSON: usize = 16 << 20;
