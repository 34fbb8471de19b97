//! `trainyard copy`: S0's copier. Every sample in every file.

use spec::Assign;

use super::split::{Shards, write};
use crate::env::Env;
use crate::failure::Failure;

/// Write a whole dataset N times, as 0.npz … N-1.npz with arrays `x` and `y`
///
/// Each file has every training sample: for several models that vote. To move files between machines,
/// this is not the verb.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard copy --data mnist-sample --n_container 5 --savedir d/")]
pub(crate) struct Args {
    #[command(flatten)]
    shards: Shards,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    write(&args.shards, Assign::Copy, env)
}
