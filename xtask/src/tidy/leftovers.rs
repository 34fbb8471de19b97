//! Nothing unfinished is committed: a stub in the tree is a promise to users that nobody kept.

use super::{Finding, lines};
use crate::tree::{Tree, extension};

/// Written in two parts, so that this file does not find itself.
const STUBS: [&str; 3] =
    [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let rust = tree.texts().filter(|(path, _)| extension(path) == "rs");
    rust.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let finding = |(place, line): (String, &str)| {
        let stub = STUBS.iter().find(|stub| line.contains(*stub))?;
        Some(Finding::error(place, format!("`{stub}…)` is left; finish it or leave it out")))
    };
    lines(path, text).filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_are_found_with_their_line() {
        let found = check_file("a.rs", &format!("fn a() {{\n    {})\n}}\n", STUBS[0]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "a.rs:2");
    }
}
