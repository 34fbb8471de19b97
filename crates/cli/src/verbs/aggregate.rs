//! `trainyard aggregate`: S0's and S2's aggregator. Many models in, their mean out.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use model::{Model, Part};

use crate::failure::{Failure, OrUsage};
use crate::output;

/// Average the weights of all models in a folder
///
/// Every model counts the same. All must be of one network; files are taken in the order of their names.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard aggregate --dir models/ --savefile final.safetensors")]
pub(crate) struct Args {
    /// The folder of models
    #[arg(long)]
    dir: PathBuf,
    /// The file their mean goes to
    #[arg(long, value_name = "FILE")]
    savefile: PathBuf,
}

pub(crate) fn act(args: &Args) -> Result<(), Failure> {
    Model::can_save(&args.savefile).or_usage()?;
    let shown = args.dir.display();
    // The result of an earlier call must not be averaged with the rest.
    let result = args.savefile.canonicalize().ok();
    let mut paths = vec![];
    for entry in
        std::fs::read_dir(&args.dir).with_context(|| format!("cannot list {shown}")).or_usage()?
    {
        let path = entry?.path();
        if model::Format::of(&path).is_ok() && Some(path.canonicalize()?) != result {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(anyhow!("{shown} holds no .safetensors file")).or_usage();
    }
    let mut models = vec![];
    for (number, path) in paths.iter().enumerate() {
        models.push((path.display().to_string(), Model::load(path).or_usage()?));
        output::talk(&format!("{}/{} {}", number + 1, paths.len(), path.display()));
    }
    let parts: Vec<_> =
        models.iter().map(|(from, model)| Part { from, model, samples: 1 }).collect();
    let mean = model::average(&parts).or_usage()?;
    mean.save(&args.savefile)?;
    output::print(&format!("{}  {}", args.savefile.display(), mean.card.weights_sha256));
    Ok(())
}
