//! Checks what the compiler does not: one file a rule, each a function from the tree to findings.

mod direction;
mod examples;
mod header;
mod leftovers;
mod links;
mod names;
mod paths;
mod size;

use anyhow::Result;

use crate::output::say;
use crate::tree::Tree;
use crate::workspace::Workspace;

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// A file, with a line where there is one, or a crate.
    place: String,
    /// What is wrong, and what to do.
    problem: String,
    /// Whether it must be mended before anything lands.
    error: bool,
}

impl Finding {
    fn error(place: impl Into<String>, problem: impl Into<String>) -> Finding {
        Finding { place: place.into(), problem: problem.into(), error: true }
    }

    fn warning(place: impl Into<String>, problem: impl Into<String>) -> Finding {
        Finding { error: false, ..Finding::error(place, problem) }
    }
}

/// Runs every rule, prints what they found, and says whether nothing must be mended.
pub(crate) fn tidy(tree: &Tree) -> Result<bool> {
    let workspace = Workspace::read()?;
    let findings = [
        direction::check(&workspace),
        header::check(&workspace),
        size::check(tree),
        names::check(tree),
        leftovers::check(tree),
        paths::check(tree),
        examples::check(tree),
        links::check(tree),
    ]
    .concat();
    for finding in &findings {
        let weight = if finding.error { "error" } else { "warning" };
        say(&format!("{weight}: {}: {}", finding.place, finding.problem));
    }
    let errors = findings.iter().filter(|finding| finding.error).count();
    let (files, warnings) = (tree.files.len(), findings.len() - errors);
    say(&format!("tidy: {files} files, {errors} errors, {warnings} warnings"));
    Ok(errors == 0)
}

/// Each line of a text with its place, `path:line`.
fn lines<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = (String, &'a str)> {
    let numbered = text.lines().enumerate();
    numbered.map(move |(number, line)| (format!("{path}:{}", number + 1), line))
}
