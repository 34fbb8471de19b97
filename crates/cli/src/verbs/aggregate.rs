//! `trainyard aggregate`: S0's and S2's aggregator. Many models in; out comes their mean, or the
//! ensemble that S0 came to, in which they vote.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use model::{Ensemble, Format, Model, Part};

use crate::failure::{Failure, OrUsage};
use crate::output;

/// Make one model, or an ensemble, of all models in a folder
///
/// Every model counts the same. All must be of one network; files are taken in the order of their names.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard aggregate --dir models/ --savefile final.safetensors
  trainyard aggregate --dir models/ --combine vote --savefile final/")]
pub(crate) struct Args {
    /// The folder of models
    #[arg(long)]
    dir: PathBuf,
    /// How they become one
    #[arg(long, value_enum, default_value_t = Combine::Mean)]
    combine: Combine,
    /// The file their mean goes to, or the folder of the ensemble
    #[arg(long, value_name = "PATH")]
    savefile: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Combine {
    /// The mean of their weights: one model
    Mean,
    /// They stay as they are and vote: an ensemble
    Vote,
}

/// A model and the file it is from.
struct Found {
    from: String,
    model: Model,
}

pub(crate) fn act(args: &Args) -> Result<(), Failure> {
    let hash = match args.combine {
        Combine::Mean => {
            Model::can_save(&args.savefile).or_usage()?;
            mean(&found(args)?, &args.savefile)?
        }
        Combine::Vote => {
            check_folder(args)?;
            ensemble(&found(args)?, &args.savefile)?
        }
    };
    output::print(&format!("{}  {hash}", args.savefile.display()));
    Ok(())
}

/// Every model of the folder.
fn found(args: &Args) -> Result<Vec<Found>, Failure> {
    let shown = args.dir.display();
    // The result of an earlier call must not be combined with the rest.
    let result = args.savefile.canonicalize().ok();
    let mut paths = vec![];
    for entry in
        std::fs::read_dir(&args.dir).with_context(|| format!("cannot list {shown}")).or_usage()?
    {
        let path = entry?.path();
        if Format::of(&path).is_ok_and(|format| format != Format::Npz)
            && Some(path.canonicalize()?) != result
        {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(anyhow!("{shown} holds no .safetensors, .h5 or .keras file")).or_usage();
    }
    let mut found = vec![];
    for (number, path) in paths.iter().enumerate() {
        let from = path.display().to_string();
        let model = Model::load(path).or_usage()?;
        output::talk(&format!("{}/{} {from}", number + 1, paths.len()));
        found.push(Found { from, model });
    }
    Ok(found)
}

fn mean(found: &[Found], file: &Path) -> Result<String, Failure> {
    let parts: Vec<_> =
        found.iter().map(|Found { from, model }| Part { from, model, samples: 1 }).collect();
    let mean = model::average(&parts).or_usage()?;
    mean.save(file)?;
    Ok(mean.card.weights_sha256)
}

fn ensemble(found: &[Found], folder: &Path) -> Result<String, Failure> {
    let models: Vec<_> = found.iter().map(|Found { from, model }| (&from[..], model)).collect();
    match Ensemble::publish(folder, &models) {
        Err(error @ model::Error::Store(_)) => Err(error.into()),
        published => published.or_usage(),
    }
}

/// The members of an ensemble have names of its own, so they need a folder of their own.
fn check_folder(Args { dir, savefile, .. }: &Args) -> Result<(), Failure> {
    let shown = savefile.display();
    let problem = if savefile.is_file() || Format::of(savefile).is_ok() {
        "an ensemble is a folder, not a file; name a folder with --savefile, without an ending"
    } else if savefile.canonicalize().is_ok_and(|path| dir.canonicalize().ok() == Some(path)) {
        "the ensemble cannot go where its models are; give --savefile another folder"
    } else {
        return Ok(());
    };
    Err(anyhow!("{shown}: {problem}")).or_usage()
}
