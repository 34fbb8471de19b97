//! `trainyard convert`: a model from one kind of file to another.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use model::{Model, Published};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::{find, output};

/// Write a model as another kind of file
///
/// The endings say which: .safetensors, .h5 and .keras (which Keras 2 and 3 load), .npz. Weights, layers and card stay
/// what they are.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard convert keras-model.h5 model.safetensors
  trainyard convert mnist-sample final.keras
  trainyard convert my.weights.h5 model.h5 --onto model.keras")]
pub(crate) struct Args {
    /// A model file, or a run
    #[arg(value_name = "FROM")]
    from: String,
    /// The file it goes to
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// The model whose layers get the weights of FROM, which may be a file of weights alone
    #[arg(long, value_name = "MODEL")]
    onto: Option<String>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    Model::can_save(&args.to).or_usage()?;
    let model = match &args.onto {
        None => one(&args.from, env)?,
        Some(onto) => one(onto, env)?.with_weights_of(Path::new(&args.from)).or_usage()?,
    };
    model.save(&args.to)?;
    output::print(&format!("{}  {}", args.to.display(), model.weights_sha256()));
    Ok(())
}

fn one(name: &str, env: &Env) -> Result<Model, Failure> {
    match find::model(name, env)? {
        (_, Published::One(model)) => Ok(*model),
        (path, Published::Many(_)) => {
            let shown = path.display();
            Err(anyhow!("{shown} is an ensemble; convert its models one by one")).or_usage()
        }
    }
}
