//! A file holds one idea. Length is the sign by which we notice that it holds two.

use super::Finding;
use crate::tree::{Tree, extension};

const WARN_OVER: usize = 400;
const REFUSE_OVER: usize = 600;
const CODE: [&str; 4] = ["rs", "py", "sh", "js"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let code = tree.texts().filter(|(path, _)| CODE.contains(&extension(path)));
    code.filter_map(|(path, text)| check_length(path, text.lines().count())).collect()
}

fn check_length(path: &str, lines: usize) -> Option<Finding> {
    let problem = || format!("{lines} lines; is it still one idea? Split it by what it is about");
    match lines {
        _ if lines > REFUSE_OVER => Some(Finding::error(path, problem())),
        _ if lines > WARN_OVER => Some(Finding::warning(path, problem())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_warned_of_and_longer_ones_refused() {
        let weight = |lines| check_length("a.rs", lines).map(|finding| finding.error);
        assert_eq!(weight(400), None);
        assert_eq!(weight(401), Some(false));
        assert_eq!(weight(600), Some(false));
        assert_eq!(weight(601), Some(true));
    }
}
