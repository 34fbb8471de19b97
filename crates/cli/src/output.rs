//! The one place that prints. Standard output is data, standard error is talk.

use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Prints lines of data. A reader that went away, as `head` does, is not an error; a disk that is
/// full is.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let printed = write!(out, "{text}{end}").and_then(|()| out.flush());
    if let Err(problem) = printed
        && problem.kind() != ErrorKind::BrokenPipe
    {
        error(&format!("cannot write the output: {problem}"));
        std::process::exit(1);
    }
}

/// Prints one JSON document, in one line.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(value)?);
    Ok(())
}

/// Says something to the person at the terminal.
pub(crate) fn talk(line: &str) {
    // Nobody may be listening any more, and work goes on without.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Says what went wrong.
pub(crate) fn error(message: &str) {
    talk(&format!("error: {message}"));
}

/// Whether a person watches standard error.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Rows as columns of equal width, two spaces apart; the last column is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|s| s.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// `1234567` as `1,234,567`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `rank 3`, or `ranks 0-2, 5`, or `no rank`.
pub(crate) fn ranks(ranks: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = vec![];
    for &rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let shown = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    match ranks {
        [] => "no rank".into(),
        [rank] => format!("rank {rank}"),
        _ => format!("ranks {}", ranges.iter().map(shown).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "bb".into()], vec!["ccc".into(), "d".into()]];
        assert_eq!(table(&rows), "a    bb\nccc  d\n");
    }

    #[test]
    fn ranks_in_a_row_are_short() {
        assert_eq!([&[][..], &[3], &[0, 1]].map(ranks), ["no rank", "rank 3", "ranks 0-1"]);
        assert_eq!(ranks(&[0, 1, 2, 5, 7, 8]), "ranks 0-2, 5, 7-8");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([7, 110_986, 1_000_000].map(thousands), ["7", "110,986", "1,000,000"]);
    }
}
