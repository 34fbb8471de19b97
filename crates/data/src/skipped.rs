//! Files that could not be used: counted, and the first few named.

use serde::{Deserialize, Serialize};

use crate::error::{DataError, Result};

/// How many are named.
const NAMED: usize = 5;

/// Files that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// How many.
    pub files: usize,
    /// The first few by path, each with the reason.
    pub first: Vec<String>,
}

impl Skipped {
    /// Whether nothing was left out.
    pub fn is_none(&self) -> bool {
        self.files == 0
    }

    /// Leaves a file out.
    pub(crate) fn add(&mut self, path: &str, reason: &str) {
        self.files += 1;
        if self.first.len() < NAMED {
            self.first.push(format!("{path}: {reason}"));
        }
    }

    /// More than a share of all files is an error that names some.
    pub(crate) fn check(&self, of: usize, share: f64, place: &str) -> Result<()> {
        if self.files as f64 <= share * of as f64 {
            return Ok(());
        }
        let problem = format!(
            "{} of {of} files cannot be decoded ({}{}); mend or remove them, or raise \
             `data.skip_up_to`, which is {share}",
            self.files,
            self.first.join("; "),
            if self.files > self.first.len() { "; …" } else { "" }
        );
        Err(DataError::malformed(problem).in_place(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_share_is_an_error_that_names_some() {
        let mut skipped = Skipped::default();
        for number in 0..6 {
            skipped.add(&format!("cat/{number}.jpg"), "it is empty");
        }
        assert!(skipped.check(120, 0.05, "pets").is_ok());
        let error = skipped.check(119, 0.05, "pets").unwrap_err().to_string();
        assert!(error.contains("pets: 6 of 119 files"), "{error}");
        assert!(error.contains("cat/4.jpg: it is empty; …"), "{error}");
        assert!(!error.contains("cat/5.jpg"), "{error}");
        assert!(Skipped::default().check(0, 0.0, "").is_ok());
    }
}
