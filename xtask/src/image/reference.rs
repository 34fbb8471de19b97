//! What an image is called: `localhost/trainyard:dev`.

use std::fmt;

use anyhow::{Result, ensure};

/// A whole name: registry, path and tag. Engines complete shorter ones, each in its own way, so that
/// an image would be looked for under another name than it was loaded with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    name: String,
    tag: String,
}

const MAX_TAG_BYTES: usize = 128;

impl Reference {
    pub(super) fn parse(text: &str) -> Result<Reference> {
        let (name, tag) = match text.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, tag),
            _ => (text, ""),
        };
        ensure!(
            is_tag(tag),
            "`{text}` has no tag that engines take; write localhost/trainyard:dev"
        );
        let (registry, path) = name.split_once('/').unwrap_or(("", name));
        let is_registry = registry == "localhost" || registry.contains(['.', ':']);
        ensure!(is_registry, "`{text}` names no registry; write localhost/{path}:{tag}");
        let is_path = path.split('/').all(is_part);
        ensure!(is_path, "`{path}` in `{text}`: use lower-case letters, digits, and - . _ between");
        Ok(Reference { name: name.into(), tag: tag.into() })
    }

    pub(super) fn tag(&self) -> &str {
        &self.tag
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.tag)
    }
}

fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.len() <= MAX_TAG_BYTES
        && tag.starts_with(is_word)
        && tag.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

fn is_part(part: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    part.starts_with(is_letter)
        && part.ends_with(is_letter)
        && part.chars().all(|c| is_letter(c) || "-._".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_taken_as_they_are() {
        for text in ["localhost/trainyard:dev", "registry.example:5000/a/b-c:0.1.0"] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn others_are_refused_with_what_to_write() {
        let told = |text| Reference::parse(text).unwrap_err().to_string();
        assert!(told("trainyard:dev").contains("write localhost/trainyard:dev"));
        assert!(told("localhost/trainyard").contains("no tag"));
        assert!(told("localhost:5000/trainyard").contains("no tag"));
        assert!(told("localhost/Trainyard:dev").contains("lower-case"));
        assert!(told("localhost/trainyard:-dev").contains("no tag"));
    }
}
