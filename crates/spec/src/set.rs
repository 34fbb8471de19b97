//! `--set train.epochs=5`: changes a tree before it is read.
//!
//! The schema says what a path means: `train.optimizer.adam.beta_1` also works on a file that says
//! `optimizer: adam`, or `optimizer: sgd`, or nothing about it.

use crate::error::{Complaint, Path};
use crate::rule::{Choice, Rule, Schema, Table};
use crate::tree::{self, At, Entry, Node, Value};
use crate::words;

/// Applies one `path=value`, the so many-th.
pub(crate) fn apply(
    tree: &mut Node,
    schema: Schema,
    set: &str,
    number: usize,
) -> Result<(), Complaint> {
    let at = At::Set(number);
    let (path, text) = set.split_once('=').ok_or_else(|| {
        Complaint::new([set], "expected `path=value`").with_hint("such as `--set train.epochs=5`")
    })?;
    let path = path.trim();
    let value = value(path, text, at)?;
    let mut node = tree;
    let mut schema = Some(schema);
    for (depth, part) in path.split('.').enumerate() {
        if part.is_empty() || depth == tree::DEPTH_LIMIT {
            return Err(Complaint::new([path], "expected names with dots between them")
                .with_hint("such as `--set train.epochs=5`"));
        }
        if let Some(schema) = schema {
            make_room(node, schema, part, at);
        }
        schema = schema.and_then(|schema| below(node, schema, part));
        node = descend(node, part, at).map_err(|message| Complaint::new([path], message))?;
    }
    *node = value;
    Ok(())
}

/// The value: a list or mapping in YAML's flow form, a text in quotes, or a word as it stands.
fn value(path: &str, text: &str, at: At) -> Result<Node, Complaint> {
    let text = text.trim();
    if !text.starts_with(['[', '{', '"', '\'']) {
        let text = text.to_string();
        let value = Value::Scalar { text, quoted: false };
        return Ok(Node { at, value });
    }
    let wrong =
        |message| Complaint { path: Path::from([path]), about_key: true, message, hint: None };
    match tree::read(text) {
        Ok(Some(mut node)) => {
            mark(&mut node, at);
            Ok(node)
        }
        Ok(None) => Err(wrong("expected a value".into())),
        Err(error) => Err(wrong(error.message)),
    }
}

/// Says of a whole tree that it came from a `--set`.
fn mark(node: &mut Node, at: At) {
    node.at = at;
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => items.iter_mut().for_each(|item| mark(item, at)),
        Value::Map(entries) => entries.iter_mut().for_each(|entry| {
            entry.at = at;
            mark(&mut entry.node, at);
        }),
    }
}

/// Writes shorthand out, and drops another choice, so that a field can be put below.
fn make_room(node: &mut Node, schema: Schema, part: &str, at: At) {
    match Rule::of(schema) {
        Rule::Table(Table { short: Some(field), .. }) => write_out(node, field),
        Rule::Choice(choice) => {
            if let Value::Scalar { text, .. } = &node.value {
                let text = text.clone();
                let path = choice.short_path.filter(|_| crate::rule::looks_like_path(&text));
                if let Some(field) = choice.named(&text).map(|named| named.field).or(path) {
                    write_out(node, field);
                } else if choice.tagged(&text).is_some() {
                    let nothing = map(node.at, Vec::new());
                    let at = node.at;
                    let entry = Entry { key: text, at, node: nothing };
                    *node = map(at, vec![entry]);
                }
            }
            if choice.fields().contains(&part) && node.get(part).is_none() {
                *node = map(at, Vec::new());
            }
        }
        _ => {}
    }
}

/// `mnist` becomes `{from: mnist}`.
fn write_out(node: &mut Node, field: &str) {
    if matches!(node.value, Value::Scalar { .. }) && !node.is_null() {
        let entry = Entry { key: field.into(), at: node.at, node: node.clone() };
        *node = map(node.at, vec![entry]);
    }
}

/// The schema of a field of a node.
fn below(node: &Node, schema: Schema, part: &str) -> Option<Schema> {
    match Rule::of(schema) {
        Rule::Table(table) => table.field(part),
        Rule::List { items, .. } => Some(items),
        Rule::Choice(choice) => {
            let own = choice.tagged(part).or_else(|| chosen(node, &choice)?.field(part));
            own.or_else(|| choice.beside(part)).or_else(|| {
                choice.others.iter().find_map(|other| match Rule::of(other) {
                    Rule::Table(table) => table.field(part),
                    Rule::List { items, .. } => Some(items),
                    _ => None,
                })
            })
        }
        _ => None,
    }
}

/// The table that a mapping's name chooses.
fn chosen(node: &Node, choice: &Choice) -> Option<Table> {
    let field = choice.named.first()?.field;
    let Value::Scalar { text, .. } = &node.get(field)?.node.value else {
        return None;
    };
    match Rule::of(choice.named(text)?.schema) {
        Rule::Table(table) => Some(table),
        _ => None,
    }
}

/// The field or item of that name, made if need be.
fn descend<'n>(node: &'n mut Node, part: &str, at: At) -> Result<&'n mut Node, String> {
    if let Value::Scalar { .. } = node.value {
        *node = map(at, Vec::new());
    }
    match &mut node.value {
        Value::List(items) => {
            let count = items.len();
            let item = part.parse().ok().and_then(|i: usize| items.get_mut(i));
            item.ok_or_else(|| {
                let part = words::shortened(part);
                format!(
                    "`{part}` is no item of this list; they are numbered 0 to {}",
                    count.saturating_sub(1)
                )
            })
        }
        Value::Map(entries) => {
            let index = match entries.iter().position(|entry| entry.key == part) {
                Some(index) => index,
                None => {
                    entries.push(Entry { key: part.into(), at, node: map(at, Vec::new()) });
                    entries.len() - 1
                }
            };
            Ok(&mut entries[index].node)
        }
        Value::Scalar { .. } => Err("expected a mapping".into()),
    }
}

fn map(at: At, entries: Vec<Entry>) -> Node {
    Node { at, value: Value::Map(entries) }
}
