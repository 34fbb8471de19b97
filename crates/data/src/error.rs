//! What can go wrong with data, told by what the user can do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why data could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file is there but does not hold what it should.
    #[error("{place}: {problem}")]
    Malformed {
        /// The file, or what stands for it, and the array in it.
        place: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The system refused a file or a folder.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: read, write, create.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A source that names nothing we know.
    #[error(
        "data `{from}` is neither a built-in dataset ({}) nor a path that exists and is understood: an \
         .npz with x and y (or x_train, y_train, x_test, y_test), a .csv, or a folder or archive (.zip, \
         .tar, .tar.gz, .tar.xz) with the four idx files, or with a folder of texts or pictures for \
         each class",
        spec::BUILTIN_DATA.join(", ")
    )]
    Unknown {
        /// The source as the run file has it.
        from: String,
    },
    /// A dataset that must be downloaded and could not be.
    #[error(
        "dataset `{name}` is not here: {reason}; set `data.mirror` to a folder or URL that has its \
         {files}, or put them into {}, or use `mnist-sample`, which needs no download",
        cache.display()
    )]
    Missing {
        /// The dataset.
        name: String,
        /// Why it could not be fetched.
        reason: String,
        /// What it consists of.
        files: &'static str,
        /// Where its files would be looked for.
        cache: PathBuf,
    },
    /// The store refused a file.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// What was asked cannot be had from this data.
    #[error("{0}")]
    Impossible(String),
    /// A thread that gathers batches ended before its time.
    #[error("the thread that gathers batches stopped: {0}")]
    Stopped(String),
}

impl DataError {
    /// A file's content is wrong; [`in_place`](Self::in_place) adds where.
    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        DataError::Malformed { place: String::new(), problem: problem.into() }
    }

    /// Names the file or array, from the inside out: `x` becomes `data.npz: x`.
    #[must_use]
    pub(crate) fn in_place(self, outer: &str) -> Self {
        match self {
            DataError::Malformed { place, problem } => DataError::Malformed {
                place: match place.is_empty() {
                    true => outer.to_owned(),
                    false => format!("{outer}: {place}"),
                },
                problem,
            },
            other => other,
        }
    }

    /// Names the file.
    #[must_use]
    pub(crate) fn in_file(self, path: &Path) -> Self {
        self.in_place(&path.display().to_string())
    }

    /// For `map_err` on what the system does with `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| DataError::Io { action, path, source }
    }
}

/// What everything here returns.
pub type Result<T, E = DataError> = std::result::Result<T, E>;
