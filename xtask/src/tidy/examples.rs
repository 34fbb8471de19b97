//! Every example opens with three comment lines (what it shows, how to run it, what to expect) and
//! is in the README's table, so that people find it.

use super::Finding;
use crate::tree::Tree;

const COMMENT_LINES: usize = 3;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let readme = tree.text("README.md").unwrap_or_default();
    let is_example = |path: &str| path.starts_with("examples/") && path.ends_with(".yaml");
    let examples = tree.texts().filter(|(path, _)| is_example(path));
    examples.flat_map(|(path, text)| check_example(path, text, readme)).collect()
}

fn check_example(path: &str, text: &str, readme: &str) -> Vec<Finding> {
    let mut findings = vec![];
    let comments = text.lines().take_while(|line| line.starts_with("# ")).count();
    if comments < COMMENT_LINES {
        let problem =
            "begin with three comment lines: what it shows, how to run it, what to expect";
        findings.push(Finding::error(path, problem));
    }
    let mut rows = readme.lines().filter(|line| line.trim_start().starts_with('|'));
    if !rows.any(|row| row.contains(path)) {
        let problem = "no row of a table in README.md names it";
        findings.push(Finding::error(path, problem));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_needs_comments_and_a_row() {
        let readme = "| example | shows |\n|---|---|\n| [one](examples/01.yaml) | one |\n";
        let told = "# Shows.\n# Run.\n# Expect.\nname: one\n";
        assert_eq!(check_example("examples/01.yaml", told, readme), vec![]);
        assert_eq!(check_example("examples/01.yaml", "name: one\n", readme).len(), 1);
        assert_eq!(check_example("examples/02.yaml", told, readme).len(), 1);
    }
}
