//! Runs every test of the workspace and says at the end what was skipped. A test that cannot run
//! where it is passes and prints a line that begins with `skipped`; cargo alone would hide it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::output;
use crate::workspace::cargo;

/// What the closing lines of the test binaries add up to.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs the tests. `further` arguments go to `cargo test`.
pub(crate) fn test(further: &[&str]) -> Result<bool> {
    let mut cargo = cargo()
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(further)
        .args(["--", "--show-output"])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let stdout = cargo.stdout.take().context("cargo has no output")?;
    let mut counts = Counts::default();
    let mut skipped = BTreeSet::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("cannot read cargo's output")?;
        counts.add(&line);
        if line.starts_with("skipped") {
            skipped.insert(line.clone());
        }
        output::say(&line);
    }
    let well = cargo.wait().context("cannot wait for cargo")?.success();
    output::say("");
    for line in &skipped {
        output::say(line);
    }
    output::say("skipped: the suites under testbed/, which need more than a Rust toolchain");
    let Counts { passed, failed, ignored } = counts;
    output::say(&format!(
        "{passed} passed, {failed} failed, {} skipped",
        ignored + skipped.len() as u64
    ));
    Ok(well)
}

impl Counts {
    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let words: Vec<&str> = result.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1] {
                "passed;" => self.passed += number,
                "failed;" => self.failed += number,
                "ignored;" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_add_up() {
        let mut counts = Counts::default();
        counts.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        counts.add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured");
        counts.add("test another ... ok");
        assert_eq!(counts, Counts { passed: 7, failed: 2, ignored: 1 });
    }
}
