//! Names say what a thing is. A few words say only that someone could not think of one.

use super::{Finding, lines};
use crate::tree::{Tree, extension};

const EMPTY_WORDS: [&str; 6] = ["manager", "helper", "util", "common", "base", "info"];
const TYPE_KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.files.iter().filter_map(|file| {
        let word = empty_word(&file.path)?;
        Some(Finding::error(&file.path, format!("`{word}` in a file name; say what it holds")))
    });
    let rust = tree.texts().filter(|(path, _)| extension(path) == "rs");
    let types = rust.flat_map(|(path, text)| {
        lines(path, text).filter_map(|(place, line)| {
            let name = type_name(line)?;
            let word = empty_word(name)?;
            Some(Finding::error(place, format!("`{word}` in the type {name}; say what it is")))
        })
    });
    files.chain(types).collect()
}

/// The name that a line of Rust defines, if it defines a type.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    if !TYPE_KEYWORDS.contains(&words.next()?) {
        return None;
    }
    let rest = words.next()?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The first empty word in `snake_case`, `kebab-case`, `CamelCase` or a path of them.
fn empty_word(name: &str) -> Option<&'static str> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
    }
    let is_used =
        |empty: &&str| words.iter().any(|word| word.strip_suffix('s').unwrap_or(word) == *empty);
    EMPTY_WORDS.into_iter().find(is_used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_words_are_found_as_words_only() {
        assert_eq!(empty_word("crates/data/src/utils.rs"), Some("util"));
        assert_eq!(empty_word("TaskManager"), Some("manager"));
        assert_eq!(empty_word("base_model.py"), Some("base"));
        assert_eq!(empty_word("Database"), None);
        assert_eq!(empty_word("information.md"), None);
    }

    #[test]
    fn types_are_recognised_where_they_are_defined() {
        assert_eq!(type_name("pub(crate) struct Plan<'a> {"), Some("Plan"));
        assert_eq!(type_name("    type Error = GraphError;"), Some("Error"));
        assert_eq!(type_name("let plan = Plan::new();"), None);
    }
}
