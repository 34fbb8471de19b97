//! `trainyard completions`: for shells.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{Cli, output};

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard completions bash > ~/.local/share/bash-completion/completions/trainyard
  trainyard completions zsh > ~/.zfunc/_trainyard")]
pub(crate) struct Args {
    /// Which shell
    shell: Shell,
}

pub(crate) fn act(args: &Args) -> Result<(), Failure> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "trainyard", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Ok(())
}
