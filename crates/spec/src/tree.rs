//! YAML as a tree whose every part knows where it was written.
//!
//! The tree holds texts, not numbers or flags: what a text means is for the schema to say, so that
//! `name: 5` is a name and `epochs: 5` is a number.

use std::collections::BTreeMap;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span};

use crate::words::shortened;

/// How large a run file may be, in bytes.
pub const FILE_LIMIT: usize = 1 << 20;

/// How many values a file may hold once aliases are written out. It stops files that grow without
/// bound when read.
const NODE_LIMIT: usize = 100_000;
/// So many bytes of text count as one more value.
const TEXT_PER_NODE: usize = 32;
/// How deep values may lie in one another.
pub(crate) const DEPTH_LIMIT: usize = 64;

/// Where something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// In the file. Line and column count from 1; the width is 0 when not known.
    File { line: usize, column: usize, width: usize },
    /// In so many-th `--set`.
    Set(usize),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, quoted: bool },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A field: its name, where the name was written, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: At,
    pub(crate) node: Node,
}

/// What is wrong with YAML, and where.
#[derive(Debug)]
pub(crate) struct YamlError {
    pub(crate) at: At,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

impl Node {
    /// The value of a field.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Whether nothing was written: an empty value, `~` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, quoted: false }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// Reads one document; `None` when there is nothing in it.
pub(crate) fn read(text: &str) -> Result<Option<Node>, YamlError> {
    let mut builder = Builder {
        parser: Parser::new_from_str(text),
        anchors: BTreeMap::new(),
        budget: NODE_LIMIT,
    };
    let mut document = None;
    while let Some((event, span)) = builder.next()? {
        match event {
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            _ if document.is_some() => {
                return Err(fail(span, "a second document begins here")
                    .with_hint("a file holds one run; put the other into a file of its own"));
            }
            event => document = Some(builder.node(event, span, 0)?),
        }
    }
    Ok(document.filter(|node| !node.is_null()))
}

struct Builder<'t> {
    parser: Parser<'t, serde_saphyr::granit_parser::StrInput<'t>>,
    /// What each anchor stands for, once it is whole.
    anchors: BTreeMap<usize, (Node, usize)>,
    /// How many more nodes may be made.
    budget: usize,
}

impl<'t> Builder<'t> {
    /// The next event that is not a comment.
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, YamlError> {
        loop {
            match self.parser.next_event() {
                None => return Ok(None),
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(event)) => return Ok(Some(event)),
                Some(Err(error)) => {
                    let marker = error.marker();
                    let message = format!("not valid YAML: {}", error.info());
                    let tabs = message.contains("tab").then_some("indent with spaces, not tabs");
                    return Err(YamlError {
                        at: At::File { line: marker.line(), column: marker.col() + 1, width: 0 },
                        message,
                        hint: tabs,
                    });
                }
            }
        }
    }

    /// The next event inside a list or mapping.
    fn inside(&mut self, opened: Span) -> Result<(Event<'t>, Span), YamlError> {
        self.next()?.ok_or_else(|| fail(opened, "this list or mapping does not end"))
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, YamlError> {
        if depth > DEPTH_LIMIT {
            return Err(fail(span, "values lie too deep in one another"));
        }
        if event.tag().is_some() {
            return Err(fail(span, "YAML tags such as `!this` have no meaning here"));
        }
        let before = self.budget;
        self.spend(1, span)?;
        let anchor = event.anchor_id();
        let value = match event {
            Event::Scalar(text, style, ..) => {
                // A long text costs as much as many short ones: aliases could repeat it.
                self.spend(text.len() / TEXT_PER_NODE, span)?;
                Value::Scalar { text: text.into_owned(), quoted: style != ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => self.list(span, depth)?,
            Event::MappingStart(..) => self.map(span, depth)?,
            Event::Alias(id) => self.alias(id, span)?,
            _ => return Err(fail(span, "not valid YAML: a value was expected here")),
        };
        let node = Node { at: place(span), value };
        if let Some(id) = anchor {
            self.anchors.insert(id, (node.clone(), before - self.budget));
        }
        Ok(node)
    }

    fn list(&mut self, opened: Span, depth: usize) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.inside(opened)? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, opened: Span, depth: usize) -> Result<Value, YamlError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let (key, span) = match self.inside(opened)? {
                (Event::MappingEnd, _) => return Ok(Value::Map(entries)),
                (event, span) => (self.node(event, span, depth + 1)?, span),
            };
            let Value::Scalar { text: key, .. } = key.value else {
                return Err(fail(span, "a field's name must be a word, not a list or mapping"));
            };
            if let Some(line) = lines.insert(key.clone(), span.start.line()) {
                let key = shortened(&key);
                let message = format!("`{key}` is given twice; it was first given in line {line}");
                return Err(fail(span, &message));
            }
            let (event, value_span) = self.inside(opened)?;
            entries.push(Entry {
                key,
                at: place(span),
                node: self.node(event, value_span, depth + 1)?,
            });
        }
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<Value, YamlError> {
        let Some(&(_, size)) = self.anchors.get(&id) else {
            return Err(fail(span, "an alias cannot stand inside what it stands for"));
        };
        self.spend(size, span)?;
        Ok(self.anchors[&id].0.value.clone())
    }

    fn spend(&mut self, nodes: usize, span: Span) -> Result<(), YamlError> {
        match self.budget.checked_sub(nodes) {
            Some(rest) => {
                self.budget = rest;
                Ok(())
            }
            None => Err(fail(span, "the file holds too many values for a run file")),
        }
    }
}

impl YamlError {
    fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

fn fail(span: Span, message: &str) -> YamlError {
    YamlError { at: place(span), message: message.into(), hint: None }
}

fn place(span: Span) -> At {
    let same_line = span.start.line() == span.end.line();
    At::File {
        line: span.start.line(),
        column: span.start.col() + 1,
        width: if same_line { span.len() } else { 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one() {
        let tree = read("a: 1\nb:\n  - x\n").unwrap().unwrap();
        let at = |line, column, width| At::File { line, column, width };
        assert_eq!(tree.get("a").unwrap().at, at(1, 1, 1));
        assert_eq!(tree.get("a").unwrap().node.at, at(1, 4, 1));
        let Value::List(items) = &tree.get("b").unwrap().node.value else {
            panic!("a list");
        };
        assert_eq!(items[0].at, at(3, 5, 1));
    }

    #[test]
    fn files_that_grow_when_read_are_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_string();
        for level in 1..10 {
            let last = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", vec![last; 10].join(", "));
        }
        let error = read(&text).unwrap_err();
        assert!(error.message.contains("too many values"), "{error:?}");
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(read(&deep).unwrap_err().message.contains("too deep"));
        assert!(read("a: &a [*a]").is_err());
    }
}
