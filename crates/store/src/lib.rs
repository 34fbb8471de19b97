//! Where datasets, checkpoints and models live.
//!
//! A [`Store`] is a folder of immutable things, here or behind a URL: what is published in it is
//! there whole or not at all, and stays through a crash or a full disk. [`Runs`] is the folder of a
//! user's runs, [`RunDir`] the layout of one, and [`Lock`] keeps a run to one driver.
//!
//! Everything here blocks; async code calls it from a blocking thread. Neither clock nor environment
//! is read: times, names and waiting come in as arguments.

mod alive;
mod error;
mod hex;
mod http;
mod lock;
mod publish;
mod reader;
mod remote;
mod run_dir;
mod runs;
mod store;

pub use alive::Alive;
pub use error::StoreError;
pub use hex::hex;
pub use lock::{Lock, Owner};
pub use publish::{publish, publish_file, publish_private};
pub use reader::Reader;
pub use remote::Remote;
pub use run_dir::RunDir;
pub use runs::{Runs, check_name};
pub use store::{Entry, Store};

/// What store functions return.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
