//! How the program ends when something is wrong, and with what code.

use std::process::ExitCode;

use crate::output;

/// Why a verb did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or the run file is wrong (code 2).
    Usage(anyhow::Error),
    /// It was tried and did not work (code 1).
    Failed(anyhow::Error),
    /// The user interrupted it (code 130).
    Interrupted,
}

impl Failure {
    pub(crate) fn tell(&self) {
        match self {
            Failure::Usage(error) | Failure::Failed(error) => output::error(&sentence(error)),
            Failure::Interrupted => {}
        }
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Failed(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Interrupted => 130,
        })
    }
}

/// An error with its causes, leaving out those that it already names.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |mut text, cause| {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
        text
    })
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Failed(error.into())
    }
}

/// Marks an error as the user's to mend.
pub(crate) trait OrUsage<T> {
    fn or_usage(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrUsage<T> for Result<T, E> {
    fn or_usage(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::Usage(error.into()))
    }
}
