//! The reference of the command line: what the binary itself answers to `--help`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Page;
use crate::tree;
use crate::workspace::{Workspace, cargo};

pub(super) fn help() -> Result<Page> {
    let binary = build()?;
    let overview = ask(&binary, &[])?;
    let mut text = format!(
        "# The command line\n\n\
         Written by `cargo xtask generate` from the binary's own help; do not edit.\n\n\
         ```text\n{overview}\n```\n"
    );
    for verb in verbs(&overview) {
        let answer = ask(&binary, &[verb])?;
        write!(text, "\n## trainyard {verb}\n\n```text\n{answer}\n```\n")?;
        for below in verbs(&answer) {
            let answer = ask(&binary, &[verb, below])?;
            write!(text, "\n### trainyard {verb} {below}\n\n```text\n{answer}\n```\n")?;
        }
    }
    Ok(Page { path: "docs/reference/cli.md", text })
}

/// Builds the binary as `cargo xtask test` does, so that it is not compiled twice: with a test beside it, what is
/// only needed by tests counts too, and every crate has the same features.
fn build() -> Result<std::path::PathBuf> {
    let status = cargo()
        .args(["build", "--quiet", "--workspace", "--bin", "trainyard", "--test", "help"])
        .current_dir(tree::root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the binary does not build");
    Ok(Workspace::read()?.target.join("debug/trainyard"))
}

/// The answer to `--help`, the same on every terminal: it is wrapped by the width of the terminal
/// or `COLUMNS`, so both are kept from it.
fn ask(binary: &Path, verb: &[&str]) -> Result<String> {
    let output = Command::new(binary)
        .args(verb)
        .arg("--help")
        .env_remove("COLUMNS")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", binary.display()))?;
    ensure!(output.status.success(), "`trainyard {} --help` fails", verb.join(" "));
    let answer = String::from_utf8(output.stdout)?;
    let lines: Vec<&str> = answer.trim().lines().map(str::trim_end).collect();
    Ok(lines.join("\n"))
}

/// The verbs in an overview: the first word of each entry under `Commands:`.
fn verbs(overview: &str) -> Vec<&str> {
    let entries = overview.lines().skip_while(|line| *line != "Commands:").skip(1);
    let entries = entries.take_while(|line| !line.is_empty());
    let entries = entries.filter_map(|line| line.strip_prefix("  "));
    let words = entries.filter(|entry| !entry.starts_with(' '));
    words
        .filter_map(|entry| entry.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_read_from_the_overview() {
        let overview = "Usage: x\n\nCommands:\n  run   Runs\n          more\n  plan  Plans\n  help  Helps\n\nOptions:\n  -h\n";
        assert_eq!(verbs(overview), ["run", "plan"]);
    }
}
