//! What a process asks of the run's folder where that lies with the driver, and what it is answered.
//!
//! Each question is one frame of JSON. What is put follows it, and what is got follows the answer, in
//! frames of at most [`CHUNK`] bytes.

use std::io;

use collective::{Reader, Writer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::StoreError;

/// The longest frame of a file's bytes.
pub const CHUNK: usize = 1 << 20;
/// The longest question or answer: a list of files may be long.
const MAX_WORDS: usize = 16 << 20;
/// The largest file that a process may hand in.
pub const MAX_PUT: u64 = 8 << 30;

/// A question. Paths are those of the run's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A file's bytes.
    Get {
        /// Which file.
        path: String,
        /// From where on.
        offset: u64,
    },
    /// To write a file, whole or not at all.
    Put {
        /// Which file.
        path: String,
        /// How many bytes follow.
        size: u64,
        /// Only where there is none of this name.
        new: bool,
    },
    /// What there is below a folder.
    List {
        /// Which folder.
        path: String,
    },
    /// To remove a file.
    Delete {
        /// Which file.
        path: String,
    },
    /// How large a file is.
    Size {
        /// Which file.
        path: String,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done.
    Done,
    /// A file has so many bytes; those asked for follow, if they were.
    Size(u64),
    /// Files and their sizes.
    Listed(Vec<(String, u64)>),
    /// It cannot be done.
    Failed(Failure),
}

/// Why something cannot be done: what the asking side can act on, and a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of problem it is.
    pub kind: FailureKind,
    /// The sentence.
    pub problem: String,
}

/// Kinds of problems that make a difference to who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FailureKind {
    NotFound,
    AlreadyExists,
    Denied,
    Full,
    Other,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let kind = match &error {
            StoreError::NotFound { .. } => FailureKind::NotFound,
            StoreError::AlreadyExists { .. } => FailureKind::AlreadyExists,
            StoreError::Denied { .. } | StoreError::BadPath { .. } => FailureKind::Denied,
            StoreError::Full { .. } => FailureKind::Full,
            _ => FailureKind::Other,
        };
        Failure { kind, problem: error.to_string() }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> io::Error {
        let kind = match failure.kind {
            FailureKind::NotFound => io::ErrorKind::NotFound,
            FailureKind::AlreadyExists => io::ErrorKind::AlreadyExists,
            FailureKind::Denied => io::ErrorKind::PermissionDenied,
            FailureKind::Full => io::ErrorKind::StorageFull,
            FailureKind::Other => io::ErrorKind::Other,
        };
        io::Error::new(kind, failure.problem)
    }
}

/// Sends a question or an answer.
pub async fn say(writer: &mut Writer, words: &impl Serialize) -> io::Result<()> {
    let frame = serde_json::to_vec(words).expect("messages are plain data");
    writer.send(&frame).await
}

/// Receives a question or an answer; nothing where the other side has closed.
pub async fn hear<T: DeserializeOwned>(reader: &mut Reader) -> io::Result<Option<T>> {
    let Some(frame) = reader.receive(MAX_WORDS).await? else { return Ok(None) };
    let words = serde_json::from_slice(&frame);
    words.map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
