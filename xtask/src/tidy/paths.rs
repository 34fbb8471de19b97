//! The project names no path outside itself, so that it works wherever it is cloned. The one
//! exception is `../shared/data`, which tests use when it is there and skip when it is not.

use super::{Finding, lines};
use crate::tree::Tree;

/// Folders of one machine. Written in two parts, so that this file does not find itself.
const MACHINE: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
/// Folders beside the clone.
const BESIDE: [&str; 2] = [concat!("../.lib", "rary"), concat!("../sha", "red")];
const ALLOWED: &str = concat!("../sha", "red/data");

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let finding = |(place, line): (String, &str)| {
        let path = foreign_path(line)?;
        Some(Finding::error(place, format!("`{path}` exists on one machine only; take it out")))
    };
    let all = tree.texts().flat_map(|(path, text)| lines(path, text));
    all.filter_map(finding).collect()
}

fn foreign_path(line: &str) -> Option<&'static str> {
    let is_absolute = |path: &str| {
        let starts = line.match_indices(path).map(|(start, _)| &line[..start]);
        // A letter before it makes it part of a longer path, such as an address.
        starts
            .into_iter()
            .any(|before| !before.ends_with(|c: char| c.is_alphanumeric() || "._-~}".contains(c)))
    };
    let beside = |path: &str| line.matches(path).count() > line.matches(ALLOWED).count();
    let machine = MACHINE.into_iter().find(|path| is_absolute(path));
    machine.or_else(|| BESIDE.into_iter().find(|path| beside(path) && line.contains(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_are_found() {
        for path in MACHINE {
            assert_eq!(foreign_path(&format!("open(\"{path}main/x\")")), Some(path));
            assert_eq!(foreign_path(&format!("https://example.org{path}x")), None);
        }
        assert_eq!(foreign_path(&format!("{}/design.md", BESIDE[1])), Some(BESIDE[1]));
        assert_eq!(foreign_path(&format!("mirror: {ALLOWED}/mnist")), None);
    }
}
