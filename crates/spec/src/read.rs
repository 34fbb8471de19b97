//! Reads a tree by the schema's rules: shorthand becomes full form, texts become what the schema
//! says they are, and everything wrong is written down with its path.
//!
//! What comes out is JSON that the types of [`file`](crate::file) accept, so that serde never has
//! to explain itself to a user.

use serde_json::{Map, Value as Json};

use crate::error::{Complaint, Path};
use crate::nearest;
use crate::rule::{self, Choice, Rule, Schema, Table};
use crate::scalar;
use crate::tree::{Entry, Node, Value};
use crate::words::{self, list};

/// Reads a whole file.
pub(crate) fn read(tree: &Node) -> Result<Json, Vec<Complaint>> {
    let mut reader = Reader {
        path: Path::default(),
        complaints: Vec::new(),
    };
    let json = reader.node(tree, rule::root());
    if reader.complaints.is_empty() {
        Ok(json)
    } else {
        Err(reader.complaints)
    }
}

struct Reader {
    path: Path,
    complaints: Vec<Complaint>,
}

impl Reader {
    /// A value; `null` where it was wrong, which is then written down.
    fn node(&mut self, node: &Node, schema: Schema) -> Json {
        if node.is_null() && rule::nullable(schema) {
            return Json::Null;
        }
        match Rule::of(schema) {
            Rule::Table(table) => self.table(node, &table),
            Rule::Choice(choice) => self.choice(node, schema, &choice),
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
            self.path.push(number.to_string());
            let json = self.node(node, items);
            self.path.pop();
            json
        });
        Json::Array(read.collect())
    }

    fn table(&mut self, node: &Node, table: &Table) -> Json {
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
            self.path.push(key.clone());
            match table.field(key) {
                None => meant.extend(self.unknown_field(key, table)),
                Some(schema) => {
                    if table.others.is_some() && !words::is_name(key) {
                        self.complain_about_key(words::not_a_name(key), None);
                    }
                    match self.node(node, schema) {
                        Json::Null => {}
                        value => drop(json.insert(key.clone(), value)),
                    }
                }
            }
            self.path.pop();
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
    fn short(&mut self, node: &Node, table: &Table, field: &'static str) -> Json {
        let value = match table.field(field) {
            Some(schema) => self.node(node, schema),
            None => Json::Null,
        };
        Json::Object(Map::from_iter([(field.to_string(), value)]))
    }

    fn choice(&mut self, node: &Node, schema: Schema, choice: &Choice) -> Json {
        match &node.value {
            Value::Scalar { text, .. } if !node.is_null() => self.word(node, text, schema, choice),
            Value::Map(entries) if !choice.fields().is_empty() => self.one_of(entries, choice),
            _ => {
                let is_map = matches!(node.value, Value::Map(_));
                let fits = choice.others.iter().find(|other| match Rule::of(other) {
                    Rule::List { .. } => matches!(node.value, Value::List(_)),
                    Rule::Table(_) => is_map || node.is_null(),
                    _ => false,
                });
                match fits {
                    Some(other) => self.node(node, other),
                    None => self.wrong_kind(node, schema),
                }
            }
        }
    }

    /// A choice made by a word alone.
    fn word(&mut self, node: &Node, text: &str, schema: Schema, choice: &Choice) -> Json {
        if choice.words.contains(&text) {
            return Json::String(text.into());
        }
        if let Some(named) = choice.named(text) {
            let Rule::Table(table) = Rule::of(named.schema) else {
                return Json::Null;
            };
            return self.short(node, &table, named.field);
        }
        if let Some(field) = choice.short_path.filter(|_| rule::looks_like_path(text)) {
            return Json::Object(Map::from_iter([(field.into(), Json::String(text.into()))]));
        }
        if let Some(inner) = choice.tagged(text).filter(|_| choice.named.is_empty()) {
            let Rule::Table(table) = Rule::of(inner) else {
                let hint = format!("write it as `{{{text}: …}}`");
                return self.complain(format!("`{text}` needs a value"), Some(hint));
            };
            let nothing = Node {
                at: node.at,
                value: Value::Map(Vec::new()),
            };
            let value = self.table(&nothing, &table);
            return Json::Object(Map::from_iter([(text.into(), value)]));
        }
        for other in &choice.others {
            if let Ok(json) = scalar::read(node, &Rule::of(other)) {
                return json;
            }
        }
        // A number that is merely out of range has a better answer than "expected a number".
        let near = choice.others.iter().find_map(|other| {
            let rule = Rule::of(other);
            scalar::read(node, &rule).err().flatten()
        });
        if let Some((message, hint)) = near {
            return self.complain(message, hint);
        }
        if choice.all_words().next().is_none() {
            return self.wrong_kind(node, schema);
        }
        let (message, hint) = unknown_word(text, choice);
        self.complain(message, hint)
    }

    /// A choice made by the one field of a mapping, or by the value of a field.
    fn one_of(&mut self, entries: &[Entry], choice: &Choice) -> Json {
        let by_name = choice.named.first().and_then(|named| {
            let entry = entries.iter().find(|entry| entry.key == named.field)?;
            Some((named.field, entry))
        });
        if let Some((field, entry)) = by_name {
            let Value::Scalar { text, .. } = &entry.node.value else {
                self.path.push(field.into());
                let json = self.complain("expected a name".into(), None);
                self.path.pop();
                return json;
            };
            let Some(named) = choice.named(text) else {
                let (message, hint) = unknown_word(text, choice);
                self.path.push(field.into());
                let json = self.complain(message, hint);
                self.path.pop();
                return json;
            };
            let whole = Node {
                at: entry.at,
                value: Value::Map(entries.to_vec()),
            };
            return self.node(&whole, named.schema);
        }
        let fields = choice.fields();
        let unknown = entries.iter().find(|e| choice.tagged(&e.key).is_none());
        if let Some(entry) = unknown {
            self.path.push(entry.key.clone());
            let (message, hint) = if choice.later.contains(&entry.key.as_str()) {
                (words::LATER.into(), None)
            } else {
                words::unknown("field", &entry.key, fields)
            };
            self.complain_about_key(message, hint);
            self.path.pop();
            return Json::Null;
        }
        let [entry] = entries else {
            let message = match entries {
                [] => format!("expected one of {}, found nothing", list(fields)),
                _ => {
                    let given = entries.iter().map(|entry| entry.key.as_str());
                    format!("only one of {} can be given", list(given))
                }
            };
            return self.complain(message, None);
        };
        let Some(inner) = choice.tagged(&entry.key) else {
            return Json::Null;
        };
        self.path.push(entry.key.clone());
        let value = self.node(&entry.node, inner);
        self.path.pop();
        Json::Object(Map::from_iter([(entry.key.clone(), value)]))
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
        let about = table
            .field(field)
            .and_then(|schema| schema["description"].as_str());
        let hint = about.map(|about| format!("`{field}`: {}", words::sentence(about)));
        self.complain(format!("`{field}` is missing"), hint);
    }

    fn wrong_kind(&mut self, node: &Node, schema: Schema) -> Json {
        let (expected, found) = (words::expected(schema), words::found(node));
        self.complain(
            format!("expected {expected}, found {found}"),
            words::quotes(node, schema),
        )
    }

    fn complain(&mut self, message: String, hint: Option<String>) -> Json {
        self.complaints.push(Complaint {
            path: self.path.clone(),
            about_key: false,
            message,
            hint,
        });
        Json::Null
    }

    fn complain_about_key(&mut self, message: String, hint: Option<String>) {
        self.complaints.push(Complaint {
            path: self.path.clone(),
            about_key: true,
            message,
            hint,
        });
    }
}

fn unknown_word(text: &str, choice: &Choice) -> (String, Option<String>) {
    if choice.later.contains(&text) {
        return (format!("`{text}` is {}", words::LATER), None);
    }
    let (message, mut hint) = words::unknown(
        &format!("value `{}`", words::shortened(text)),
        text,
        choice.all_words(),
    );
    if let (Some(hint), Some(_)) = (&mut hint, choice.short_path) {
        hint.push_str(", or a path such as `model.safetensors`");
    }
    (message, hint)
}
