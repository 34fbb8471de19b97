//! Reads a tree by the schema's rules: shorthand becomes full form, texts become what the schema
//! says they are, and everything wrong is written down with its path.
//!
//! What comes out is JSON that the types of [`file`](crate::file) accept, so that serde never has
//! to explain itself to a user.

use serde_json::{Map, Value as Json};

use crate::error::{Complaint, Path};
use crate::nearest;
use crate::rule::{self, Rule, Schema, Table};
use crate::scalar;
use crate::tree::{Entry, Node, Value};
use crate::words::{self, list};

/// Reads a whole file.
pub(crate) fn read(tree: &Node) -> Result<Json, Vec<Complaint>> {
    let mut reader = Reader { path: Path::default(), complaints: Vec::new() };
    let json = reader.node(tree, rule::root());
    if reader.complaints.is_empty() { Ok(json) } else { Err(reader.complaints) }
}

pub(crate) struct Reader {
    path: Path,
    complaints: Vec<Complaint>,
}

impl Reader {
    /// A value; `null` where it was wrong, which is then written down.
    pub(crate) fn node(&mut self, node: &Node, schema: Schema) -> Json {
        if node.is_null() && rule::nullable(schema) {
            return Json::Null;
        }
        match Rule::of(schema) {
            Rule::Table(table) => self.table(node, &table),
            Rule::Choice(choice) => self.choice(node, schema, &choice),
            Rule::Any if matches!(node.value, Value::Map(_)) => scalar::plain(node),
            Rule::List { items, least, most } => match &node.value {
                Value::List(nodes) => self.list(nodes, items, (least, most)),
                _ => self.wrong_kind(node, schema),
            },
            rule => match scalar::read(node, &rule) {
                Ok(json) => json,
                Err(Some((message, hint))) => self.complain(message, hint),
                Err(None) => self.wrong_kind(node, schema),
            },
        }
    }

    /// Reads something that lies below this place.
    pub(crate) fn below<T>(&mut self, part: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(part.into());
        let result = read(self);
        self.path.pop();
        result
    }

    fn list(&mut self, nodes: &[Node], items: Schema, (least, most): (u64, u64)) -> Json {
        let count = nodes.len() as u64;
        if count < least || count > most {
            let expected = match (least, most) {
                (least, most) if least == most => format!("{least}"),
                (least, u64::MAX) => format!("at least {least}"),
                (least, most) => format!("{least} to {most}"),
            };
            let message = format!("expected a list of {expected}, found {count}");
            return self.complain(message, None);
        }
        let read = nodes.iter().enumerate().map(|(number, node)| {
            self.below(&number.to_string(), |reader| reader.node(node, items))
        });
        Json::Array(read.collect())
    }

    pub(crate) fn table(&mut self, node: &Node, table: &Table) -> Json {
        let entries = match (&node.value, table.short) {
            (Value::Map(entries), _) => entries.as_slice(),
            _ if node.is_null() => &[],
            (Value::Scalar { .. }, Some(short)) => return self.short(node, table, short),
            _ => {
                let (expected, found) = (words::a_table(table), words::found(node));
                let message = format!("expected {expected}, found {found}");
                let hint = format!("it has the fields {}", list(table.names()));
                return self.complain(message, Some(hint));
            }
        };
        let mut json = Map::new();
        let mut meant = Vec::new();
        for Entry { key, node, .. } in entries {
            self.below(key, |reader| match table.field(key) {
                None => meant.extend(reader.unknown_field(key, table)),
                Some(schema) => {
                    if table.named && !words::is_name(key) {
                        reader.complain_about_key(words::not_a_name(key), None);
                    }
                    match reader.node(node, schema) {
                        Json::Null => {}
                        value => drop(json.insert(key.clone(), value)),
                    }
                }
            });
        }
        for &field in &table.required {
            let given = |entry: &Entry| entry.key == field && !entry.node.is_null();
            // A field under a wrong name was complained about already.
            if !entries.iter().any(given) && !meant.contains(&field) {
                self.missing(field, table);
            }
        }
        Json::Object(json)
    }

    /// A word alone, which stands for one field of a table.
    pub(crate) fn short(&mut self, node: &Node, table: &Table, field: &'static str) -> Json {
        let value = match table.field(field) {
            Some(schema) => self.node(node, schema),
            None => Json::Null,
        };
        Json::Object(Map::from_iter([(field.to_string(), value)]))
    }

    /// Complains about a field, and returns the one that was meant.
    fn unknown_field(&mut self, key: &str, table: &Table) -> Option<&'static str> {
        if table.later.contains(&key) {
            self.complain_about_key(words::LATER.into(), None);
            return None;
        }
        let (mut message, mut hint) = words::unknown("field", key, table.names());
        if hint.is_some()
            && let Some(place) = words::elsewhere(key)
        {
            message = format!("unknown field; did you mean `{place}`?");
            hint = None;
        }
        self.complain_about_key(message, hint);
        nearest(key, table.names())
    }

    fn missing(&mut self, field: &str, table: &Table) {
        let about = table.field(field).and_then(|schema| schema["description"].as_str());
        let hint = about.map(|about| format!("`{field}`: {}", words::sentence(about)));
        self.complain(format!("`{field}` is missing"), hint);
    }

    pub(crate) fn wrong_kind(&mut self, node: &Node, schema: Schema) -> Json {
        let (expected, found) = (words::expected(schema), words::found(node));
        self.complain(format!("expected {expected}, found {found}"), words::quotes(node, schema))
    }

    pub(crate) fn complain(&mut self, message: String, hint: Option<String>) -> Json {
        self.complaints.push(Complaint {
            path: self.path.clone(),
            about_key: false,
            message,
            hint,
        });
        Json::Null
    }

    pub(crate) fn complain_about_key(&mut self, message: String, hint: Option<String>) {
        self.complaints.push(Complaint { path: self.path.clone(), about_key: true, message, hint });
    }
}
