//! Reads a place where one of several things may stand: a word, a mapping that says which, or a
//! value of another kind.

use serde_json::{Map, Value as Json};

use crate::read::Reader;
use crate::rule::{self, Choice, Rule, Schema};
use crate::scalar;
use crate::tree::{Entry, Node, Value};
use crate::words::{self, list};

impl Reader {
    /// Reads by what was written there.
    pub(crate) fn choice(&mut self, node: &Node, schema: Schema, choice: &Choice) -> Json {
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
            let nothing = Node { at: node.at, value: Value::Map(Vec::new()) };
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
            return self.named(field, entry, entries, choice);
        }
        let fields = choice.fields();
        let (beside, entries): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| choice.beside(&entry.key).is_some());
        let unknown = entries.iter().find(|e| choice.tagged(&e.key).is_none());
        if let Some(entry) = unknown {
            let key = entry.key.as_str();
            let (message, hint) = if choice.later.contains(&key) {
                (words::LATER.into(), None)
            } else if choice.words.contains(&key) {
                (format!("`{key}` has no fields"), Some(format!("write it alone: `{key}`")))
            } else {
                words::unknown("field", key, fields)
            };
            self.below(&entry.key, |reader| reader.complain_about_key(message, hint));
            return Json::Null;
        }
        let [entry] = entries[..] else {
            let message = match entries[..] {
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
        let value = self.below(&entry.key, |reader| reader.node(&entry.node, inner));
        let mut fields = Map::from_iter([(entry.key.clone(), value)]);
        for Entry { key, node, .. } in beside {
            let Some(schema) = choice.beside(key) else { continue };
            fields.insert(key.clone(), self.below(key, |reader| reader.node(node, schema)));
        }
        Json::Object(fields)
    }

    /// A choice made by the value of a field.
    fn named(&mut self, field: &str, entry: &Entry, entries: &[Entry], choice: &Choice) -> Json {
        let (message, hint) = match &entry.node.value {
            Value::Scalar { text, .. } => match choice.named(text) {
                Some(named) => {
                    let whole = Node { at: entry.at, value: Value::Map(entries.to_vec()) };
                    return self.node(&whole, named.schema);
                }
                None => unknown_word(text, choice),
            },
            _ => (format!("expected a name, found {}", words::found(&entry.node)), None),
        };
        self.below(field, |reader| reader.complain(message, hint))
    }
}

fn unknown_word(text: &str, choice: &Choice) -> (String, Option<String>) {
    if choice.later.contains(&text) {
        return (format!("`{text}` is {}", words::LATER), None);
    }
    let (message, mut hint) =
        words::unknown(&format!("value `{}`", words::shortened(text)), text, choice.all_words());
    if let (Some(hint), Some(_)) = (&mut hint, choice.short_path) {
        hint.push_str(", or a path such as `model.safetensors`");
    }
    (message, hint)
}
