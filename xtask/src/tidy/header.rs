//! Every crate root opens by saying what the crate is.

use std::path::Path;

use super::Finding;
use crate::tree;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let roots = workspace.packages.iter().flat_map(|package| &package.roots);
    roots.filter_map(|root| check_root(root)).collect()
}

fn check_root(root: &Path) -> Option<Finding> {
    let text = std::fs::read_to_string(root).unwrap_or_default();
    if text.starts_with("//! ") {
        return None;
    }
    let place = root.strip_prefix(tree::root()).unwrap_or(root).display();
    let problem = "a crate root begins with a `//!` line that says what the crate is";
    Some(Finding::error(place.to_string(), problem))
}
