//! `trainyard init`: a run file to start from.

use std::io::Write;

use anyhow::{Context, anyhow};

use crate::examples::EXAMPLES;
use crate::failure::{Failure, OrUsage};
use crate::output;

/// Write a commented run file to start from
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard init               writes mnist-sample.yaml
  trainyard init mnist-mlp     writes mnist-mlp.yaml
  trainyard init --list        lists the examples")]
pub(crate) struct Args {
    /// Which example
    #[arg(default_value = "mnist-sample")]
    example: String,
    /// List the examples instead
    #[arg(long)]
    list: bool,
}

pub(crate) fn act(args: &Args) -> Result<(), Failure> {
    if args.list {
        output::print(&list());
        return Ok(());
    }
    let example = EXAMPLES
        .iter()
        .find(|example| example.name == args.example)
        .ok_or_else(|| anyhow!("there is no example `{}`; these are:\n{}", args.example, list()))
        .or_usage()?;
    let file = example.target();
    let mut options = std::fs::OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .open(&file)
        .with_context(|| format!("{file} is left as it is; move it away to write it anew"))?
        .write_all(example.text().as_bytes())
        .with_context(|| format!("cannot write {file}"))?;
    output::talk(&format!("wrote {file}; next: trainyard run {file}"));
    Ok(())
}

fn list() -> String {
    let row = |name: &str, purpose: &str| vec![name.to_owned(), purpose.to_owned()];
    let rows: Vec<_> = EXAMPLES.iter().map(|e| row(e.name, e.purpose())).collect();
    output::table(&rows)
}
