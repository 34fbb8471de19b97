//! Crates use each other in one direction only, so that a reader can learn them in that order and a
//! change stays where it belongs.

use super::Finding;
use crate::workspace::{Package, Workspace};

/// Which of our crates each may use. A crate that is not listed may use none.
const MAY_USE: &[(&str, &[&str])] = &[
    ("random", &[]),
    ("collective", &[]),
    ("spec", &[]),
    ("plan", &["spec"]),
    ("store", &["spec"]),
    ("preprocess", &["spec"]),
    ("data", &["preprocess", "random", "spec", "store"]),
    ("model", &["preprocess", "random", "spec", "store"]),
    ("engine", &["model", "random", "spec"]),
    (
        "train",
        &["collective", "data", "engine", "model", "plan", "preprocess", "random", "spec", "store"],
    ),
    ("serve", &["engine", "model", "preprocess", "spec", "store"]),
    ("exec", &["collective", "plan", "spec", "store", "train"]),
    ("cli", ALL),
    ("xtask", &["spec"]),
];

const ALL: &[&str] = &[
    "collective",
    "data",
    "engine",
    "exec",
    "model",
    "plan",
    "preprocess",
    "random",
    "serve",
    "spec",
    "store",
    "train",
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Finding> {
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == package.name) else {
        let problem = "a crate nobody placed; say in xtask/src/tidy/direction.rs what it may use";
        return vec![Finding::error(&package.name, problem)];
    };
    let forbidden = package.uses.iter().filter(|used| !allowed.contains(&used.as_str()));
    let finding = |used: &String| {
        let problem = format!("it may not use {used}; allowed: {}", allowed.join(", "));
        Finding::error(&package.name, problem)
    };
    forbidden.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, uses: &[&str]) -> usize {
        let uses = uses.iter().map(ToString::to_string).collect();
        check_package(&Package { name: name.into(), uses, roots: vec![] }).len()
    }

    #[test]
    fn uses_against_the_direction_are_found() {
        assert_eq!(findings("engine", &["model", "spec"]), 0);
        assert_eq!(findings("model", &["engine"]), 1);
        assert_eq!(findings("plan", &["data", "engine"]), 2);
        assert_eq!(findings("unheard-of", &[]), 1);
    }

    #[test]
    fn the_table_has_no_cycle() {
        let mut placed: Vec<&str> = vec![];
        for (name, uses) in MAY_USE {
            assert!(
                uses.iter().all(|used| placed.contains(used)),
                "{name} stands before what it uses"
            );
            placed.push(name);
        }
    }
}
