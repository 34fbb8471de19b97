//! `trainyard plan`: what would run.

use crate::env::Env;
use crate::failure::Failure;
use crate::run_file::RunFile;
use crate::{facts, output};

/// Print what a run file will do, in order, with the memory each task needs, without doing it
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard plan mnist-sample.yaml
  trainyard plan mnist-sample.yaml --set train.batch=1000 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    file: RunFile,
    /// Print the plan as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (plan, facts) = facts::plan(&args.file.spec()?, env)?;
    if args.json {
        return output::json(&plan);
    }
    output::print(&plan::explain(&plan, &facts));
    Ok(())
}
