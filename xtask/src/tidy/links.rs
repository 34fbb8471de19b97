//! Every link from a Markdown file to a file of ours leads somewhere.

use std::path::{Component, Path, PathBuf};

use super::{Finding, lines};
use crate::tree::{Tree, extension};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.texts().filter(|(path, _)| extension(path) == "md");
    let exists = |path: &Path| tree.root.join(path).exists();
    pages.flat_map(|(path, text)| check_page(path, text, &exists)).collect()
}

fn check_page(page: &str, text: &str, exists: &dyn Fn(&Path) -> bool) -> Vec<Finding> {
    let mut findings = vec![];
    let mut in_code = false;
    for (place, line) in lines(page, text) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for link in links(line) {
            let target = resolve(page, link);
            if !target.as_deref().is_none_or(exists) {
                findings.push(Finding::error(&place, format!("the link `{link}` leads nowhere")));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` and `[name]: target` in a line.
fn links(line: &str) -> Vec<&str> {
    let prose = line.split('`').step_by(2);
    let inline = prose.flat_map(|part| part.split("](").skip(1));
    let inline = inline.filter_map(|rest| rest.split([')', ' ']).next());
    let named = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    inline.chain(named.map(|(_, target)| target.trim())).collect()
}

/// Where a link from a page leads, or nothing where it leads out of the project or to a heading.
fn resolve(page: &str, link: &str) -> Option<PathBuf> {
    let target = link.split('#').next()?;
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let mut path = PathBuf::new();
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir if !path.pop() => return Some(PathBuf::from(link)),
            Component::ParentDir | Component::CurDir => {}
            other => path.push(other),
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> usize {
        let exists =
            |path: &Path| path == Path::new("docs/style.md") || path == Path::new("README.md");
        check_page("docs/guide.md", text, &exists).len()
    }

    #[test]
    fn links_to_files_are_followed() {
        assert_eq!(broken("[a](style.md) and [b](../README.md#first) and [c](#here)"), 0);
        assert_eq!(broken("[a](https://example.org/x.md), `[b](gone.md)`"), 0);
        assert_eq!(broken("```\n[a](gone.md)\n```\n"), 0);
        assert_eq!(broken("[a](gone.md) [b](also/gone.md)"), 2);
        assert_eq!(broken("[a]: gone.md"), 1);
        assert_eq!(broken("[a](../../outside.md)"), 1);
    }
}
