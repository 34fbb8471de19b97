//! The one place that prints: results to standard output, talk to standard error.

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "the place that prints")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// Prints a line for the person at the terminal.
#[expect(clippy::print_stderr, reason = "the place that prints")]
pub(crate) fn complain(line: &str) {
    eprintln!("{line}");
}
