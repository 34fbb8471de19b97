//! `trainyard split`: S0's and S2's splitter. Every sample in exactly one file.

use std::path::PathBuf;

use spec::Assign;

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::{find, output};

/// Cut a dataset into N files 0.npz … N-1.npz with arrays `x` and `y`
///
/// Shuffled by the seed; every training sample is in exactly one file, and sizes differ by at most
/// one. numpy reads the files.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard split --data mnist-sample --n_container 3 --savedir d/")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) shards: Shards,
}

/// What `split` and `copy` are told.
#[derive(clap::Args)]
pub(crate) struct Shards {
    /// A built-in dataset or a path
    #[arg(long)]
    data: String,
    /// How many files
    #[arg(long = "n_container", alias = "n-container", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    files: u32,
    /// The folder they go to
    #[arg(long, value_name = "DIR")]
    savedir: PathBuf,
    /// What the shuffling is a function of
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    write(&args.shards, Assign::Split, env)
}

/// Writes the files either way.
pub(crate) fn write(args: &Shards, assign: Assign, env: &Env) -> Result<(), Failure> {
    let dataset = find::dataset(&args.data, args.seed, env)?;
    let paths =
        data::write_shards(&dataset.train, args.files as usize, &args.savedir, assign, args.seed)
            .or_usage()?;
    for path in paths {
        output::print(&path.display().to_string());
    }
    Ok(())
}
