//! What can go wrong, sorted by what the caller can do about it.

use std::io;

use thiserror::Error;

use crate::Owner;

/// Why a store, a run or a lock could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no such thing; ask for another.
    #[error("{path} does not exist in {place}")]
    NotFound {
        /// What was asked for.
        path: String,
        /// Where.
        place: String,
    },
    /// Somebody published under this name first; what they published stays.
    #[error("{path} already exists in {place}; published things are never replaced")]
    AlreadyExists {
        /// What was to be published.
        path: String,
        /// Where.
        place: String,
    },
    /// It is larger than the caller wants to hold.
    #[error("{path} in {place} is larger than {limit} bytes, the most that is read of it")]
    TooLarge {
        /// What was asked for.
        path: String,
        /// Where.
        place: String,
        /// The caller's limit.
        limit: u64,
    },
    /// The name cannot be one in a store; it needs another.
    #[error("`{path}` is not a path inside a store: {problem}")]
    BadPath {
        /// The name.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No store can be had from this address.
    #[error("`{url}` is not a store: {problem}")]
    BadUrl {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The place can do less than was asked of it.
    #[error("{place} can only be read by name: {doing} is not possible over http")]
    ReadOnly {
        /// Where.
        place: String,
        /// What was asked.
        doing: &'static str,
    },
    /// No room: what was published before is untouched.
    #[error("no space left for {path} in {place}; free some and run the same command again")]
    Full {
        /// What was being written.
        path: String,
        /// Where.
        place: String,
    },
    /// The system forbids it.
    #[error("not allowed: {path} in {place}; check the owner and the permissions")]
    Denied {
        /// What was being read or written.
        path: String,
        /// Where.
        place: String,
    },
    /// The other side does not answer properly; the same call may work later.
    #[error("{url}: {problem}; try again later, or use another mirror")]
    Unreachable {
        /// What was being fetched.
        url: String,
        /// What happened.
        problem: String,
    },
    /// Anything else the system says.
    #[error("{path} in {place}: {source}")]
    Io {
        /// What was being read or written.
        path: String,
        /// Where.
        place: String,
        /// The system's words.
        source: io::Error,
    },
    /// A run's name has the wrong form.
    #[error(
        "`{name}` is not a run's name: use a-z, 0-9 and -, a letter first, at most 40 characters"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// No run is called that.
    #[error("no run `{run}` in {root}{}", nearest_hint(nearest))]
    UnknownRun {
        /// What was asked for.
        run: String,
        /// The folder of runs.
        root: String,
        /// What exists and sounds like it, best first; all there is where nothing does.
        nearest: Vec<String>,
    },
    /// The folder is there but holds no run.
    #[error("{path} is not a run directory: it holds no spec.yaml")]
    NotARun {
        /// The folder.
        path: String,
    },
    /// Another driver has the run.
    #[error("{run} is being driven by process {} on {}; wait for it, or stop it with `trainyard stop {run}`", owner.pid, owner.host)]
    Locked {
        /// The run.
        run: String,
        /// Its driver.
        owner: Owner,
    },
    /// A driver holds the run of which nothing can be told from here.
    #[error("{run} is held by a driver that cannot be seen from here{}; wait for it, or end it", was(owner.as_ref()))]
    Held {
        /// The run.
        run: String,
        /// The driver that was.
        owner: Option<Owner>,
    },
}

impl StoreError {
    /// Sorts a system error about `path` in `place`.
    pub(crate) fn io(source: io::Error, path: &str, place: &str) -> Self {
        let (path, place) = (path.to_string(), place.to_string());
        match source.kind() {
            io::ErrorKind::NotFound => StoreError::NotFound { path, place },
            io::ErrorKind::AlreadyExists => StoreError::AlreadyExists { path, place },
            io::ErrorKind::PermissionDenied => StoreError::Denied { path, place },
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => StoreError::Full { path, place },
            _ => StoreError::Io { path, place, source },
        }
    }

    /// Sorts an error of `object_store`, whose local store wraps the system's words more than once.
    pub(crate) fn object(error: object_store::Error, path: &str, place: &str) -> Self {
        use object_store::Error;
        let owned = (path.to_string(), place.to_string());
        match error {
            Error::NotFound { .. } => StoreError::NotFound { path: owned.0, place: owned.1 },
            Error::AlreadyExists { .. } => {
                StoreError::AlreadyExists { path: owned.0, place: owned.1 }
            }
            other => match io_kind(&other) {
                Some(kind) => StoreError::io(io::Error::new(kind, other), path, place),
                None => StoreError::io(io::Error::other(other), path, place),
            },
        }
    }
}

/// The kind of the system error at the root of another, if there is one.
fn io_kind(error: &object_store::Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = current.source();
    }
    None
}

fn nearest_hint(nearest: &[String]) -> String {
    match nearest {
        [] => "; it holds no runs".into(),
        [one] => format!("; there is {one}"),
        [first @ .., last] => format!("; there are {} and {last}", first.join(", ")),
    }
}

fn was(owner: Option<&Owner>) -> String {
    owner.map_or(String::new(), |owner| format!(" (process {} on {})", owner.pid, owner.host))
}
