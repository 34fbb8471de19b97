//! What is wrong with a run file, shown as its author would want to see it.

use std::fmt;

use crate::tree::{At, Entry, Node, Value};
use crate::words::shortened;

/// Everything that is wrong with a run file. Printed, it shows each place with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SpecError {
    problems: Vec<Problem>,
    /// How many more there are that are not kept.
    more: usize,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `mnist.yaml:7:3`, or `--set`; empty for a text that is no file.
    pub place: String,
    /// The path in the file: `train.epochs`. Empty when it is about the whole file.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What would be right, where that can be said.
    pub hint: Option<String>,
    /// The line of the file, with a mark under the place.
    pub excerpt: Option<String>,
}

/// Something that is wrong at a path, before its place is looked up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    pub(crate) path: Path,
    /// Whether the name itself is wrong, rather than the value.
    pub(crate) about_key: bool,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// Keys and numbers from the top of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path(Vec<String>);

/// What places are looked up in.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

/// More than this many problems are counted, not kept: nobody reads them.
const KEPT: usize = 20;

impl SpecError {
    /// What is wrong, in the order of the file; the first of it when there is much.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub(crate) fn one(problem: Problem) -> Self {
        SpecError { problems: vec![problem], more: 0 }
    }

    /// The same for a text that is no file.
    pub(crate) fn without_places(mut self) -> Self {
        self.problems.iter_mut().for_each(|problem| problem.place.clear());
        self
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            if number > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "{problem}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place.as_str() {
            "" => self.path.clone(),
            place if self.path.is_empty() => place.into(),
            "--set" => format!("--set {}", self.path),
            place => format!("{place}: {}", self.path),
        };
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl Complaint {
    /// About the value at a path.
    pub(crate) fn new(path: impl Into<Path>, message: impl Into<String>) -> Self {
        Complaint { path: path.into(), about_key: false, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.0.as_slice() {
            [] => f.write_str(&self.message),
            _ => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

impl Path {
    pub(crate) fn push(&mut self, part: String) {
        self.0.push(part);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// This path with more below it.
    pub(crate) fn join<const N: usize>(&self, parts: [&str; N]) -> Path {
        let mut path = self.clone();
        path.0.extend(parts.iter().map(|part| (*part).to_string()));
        path
    }
}

impl<const N: usize> From<[&str; N]> for Path {
    fn from(parts: [&str; N]) -> Self {
        Path::default().join(parts)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|part| shortened(part)).collect();
        f.write_str(&parts.join("."))
    }
}

impl Source<'_> {
    /// Looks complaints up in the tree they are about.
    pub(crate) fn error(&self, tree: &Node, complaints: Vec<Complaint>) -> SpecError {
        let more = complaints.len().saturating_sub(KEPT);
        let kept = complaints.into_iter().take(KEPT);
        let mut placed: Vec<(At, Problem)> = kept
            .map(|complaint| {
                let (at, path) = locate(tree, &complaint);
                let problem = self.problem(at, path, complaint.message, complaint.hint);
                (at, problem)
            })
            .collect();
        placed.sort_by_key(|(at, _)| match *at {
            At::File { line, column, .. } => (0, line, column),
            At::Set(number) => (1, number, 0),
        });
        let problems = placed.into_iter().map(|(_, problem)| problem).collect();
        SpecError { problems, more }
    }

    /// A problem at a place.
    pub(crate) fn problem(
        &self,
        at: At,
        path: Path,
        message: String,
        hint: Option<String>,
    ) -> Problem {
        let (place, excerpt) = match at {
            At::Set(_) => ("--set".into(), None),
            At::File { line, column, width } => {
                (format!("{}:{line}:{column}", self.file), excerpt(self.text, line, column, width))
            }
        };
        Problem { place, path: path.to_string(), message, hint, excerpt }
    }
}

/// Where a complaint's path leads, and the path as far as the file spells it out.
fn locate(tree: &Node, complaint: &Complaint) -> (At, Path) {
    let mut node = tree;
    let mut key: Option<At> = None;
    let mut reached = complaint.path.0.len();
    for (depth, part) in complaint.path.0.iter().enumerate() {
        let next: Option<(At, &Node)> = match &node.value {
            Value::Map(_) => node.get(part).map(|Entry { at, node, .. }| (*at, node)),
            Value::List(items) => {
                let item = part.parse().ok().and_then(|i: usize| items.get(i));
                item.map(|item| (item.at, item))
            }
            Value::Scalar { .. } => None,
        };
        match next {
            Some((at, found)) => {
                key = Some(at);
                node = found;
            }
            None => {
                reached = depth;
                break;
            }
        }
    }
    // A word alone that stands for a field is shown under its own name.
    let mut path = complaint.path.clone();
    if matches!(node.value, Value::Scalar { .. }) {
        path.0.truncate(reached);
    }
    // A mapping or list is best found by its name, unless it came from elsewhere than the name.
    let points_at_value = (matches!(node.value, Value::Scalar { .. }) && !node.is_null())
        || matches!(node.at, At::Set(_));
    match key {
        Some(key) if complaint.about_key || !points_at_value => (key, path),
        _ => (node.at, path),
    }
}

/// A line of the text with a mark under a place.
fn excerpt(text: &str, line: usize, column: usize, width: usize) -> Option<String> {
    const WIDEST: usize = 100;
    let source = text.lines().nth(line.checked_sub(1)?)?;
    let chars: Vec<char> = source.chars().collect();
    // A long line is shown from a little before the place.
    let start = if column > WIDEST { column - 20 } else { 0 };
    let show = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = chars.iter().skip(start).take(WIDEST).map(|&c| show(c)).collect();
    let before = column.saturating_sub(1 + start);
    let width = width.clamp(1, shown.chars().count().saturating_sub(before).max(1));
    let gutter = line.to_string().len();
    Some(format!(
        "  {line} | {}\n  {:gutter$} | {}{}",
        shown.trim_end(),
        "",
        " ".repeat(before),
        "^".repeat(width)
    ))
}
