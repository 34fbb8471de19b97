//! Sources become a dataset; a dataset becomes seeded batches.
//!
//! A source is a built-in name or a path ([`facts`], [`load`]). [`prepare`] writes it as a dataset:
//! shards, splits and a [`Manifest`] with counts and hashes. A logical worker opens its shard and
//! takes [`Batches`] from it. [`write_shards`] makes the plain npz files S0's and S2's components
//! hand to each other.
//!
//! Which sample goes where and when is a pure function of the seed; no file is trusted.

mod batches;
mod classes;
mod columns;
pub mod csv;
mod dataset;
mod elements;
mod error;
mod fetch;
mod folder;
pub mod idx;
mod inputs;
mod known;
mod known_texts;
mod manifest;
mod npy;
pub mod npz;
mod order;
mod pictures;
mod prepare;
mod samples;
mod shards;
mod skipped;
mod source;
mod split;
mod table;
mod texts;
mod tree;
mod triplet_file;
mod triplets;
mod vocabulary;
mod xy;

pub use batches::{Batch, Batches, steps_per_epoch};
pub use error::{DataError, Result};
pub use inputs::{inputs, is_arrays};
pub use manifest::{Manifest, Origin, Part};
pub use order::Order;
pub use pictures::is_picture;
pub use prepare::prepare;
pub use samples::{Samples, ValueKind, Values, View};
pub use shards::write_shards;
pub use skipped::Skipped;
pub use source::{Dataset, Facts, Places, Progress, facts, load};
pub use split::split;
pub use tree::read_archive;
pub use triplets::{Draw, picture_shape, triplets};
