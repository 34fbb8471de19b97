//! `join.json`: how a process finds its run and proves that it belongs to it. Readable by its owner
//! only, for it holds the run's secret.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;

/// No such file is longer.
const MAX_BYTES: u64 = 1 << 16;

/// The contents of `join.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// `mnist-1`.
    pub run: String,
    /// Where the driver listens.
    pub address: String,
    /// SHA-256 of the driver's certificate.
    pub fingerprint: String,
    /// What peers prove to know, in hexadecimal.
    pub secret: String,
}

impl std::fmt::Debug for Join {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Join({} at {})", self.run, self.address)
    }
}

impl Join {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Join, Error> {
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|error| Error::io(path, error))?;
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| Error::io(path, error))?;
        serde_json::from_str(&text).map_err(|error| Error::Corrupt {
            path: path.into(),
            // The text of the error could quote the file.
            problem: format!(
                "line {} is not as a driver writes it; take the join.json of a run that goes on",
                error.line()
            ),
        })
    }

    /// Writes the file, in the place of an older one, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).expect("four texts are always JSON");
        Ok(store::publish_private(path, &text)?)
    }
}
