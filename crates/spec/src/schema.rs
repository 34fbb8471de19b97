//! The JSON Schema of the run file, for editors.

use serde_json::{Map, Value, json};

use crate::rule::{self, Rule, Schema};
use crate::words;

/// The JSON Schema of the run file as people write it, shorthand included.
pub fn schema() -> Value {
    let mut schema = publish(rule::root());
    schema["title"] = "Trainyard run file".into();
    schema
}

/// A part of the reader's schema in plain JSON Schema: what only the reader understands is left
/// out, and shorthand becomes an alternative.
fn publish(raw: Schema) -> Value {
    let Some(keywords) = raw.as_object() else {
        return raw.clone();
    };
    let mut schema = Map::new();
    for (keyword, value) in keywords {
        let value = match keyword.as_str() {
            "format" => continue,
            private if private.starts_with("x-") => continue,
            "description" => {
                value.as_str().map_or(Value::Null, |text| words::unwrapped(text).into())
            }
            "default" if raw["format"] == "float" => short_float(value),
            "properties" | "$defs" => {
                let members = value.as_object().into_iter().flatten();
                members.map(|(name, member)| (name.clone(), publish(member))).collect()
            }
            "oneOf" | "anyOf" => {
                let members = value.as_array().into_iter().flatten();
                members.map(publish).chain(shorthand(raw)).collect()
            }
            "items" | "additionalProperties" => publish(value),
            _ => value.clone(),
        };
        schema.insert(keyword.clone(), value);
    }
    match raw["x-short"].as_str() {
        Some(field) => or_short(schema, publish(&raw["properties"][field])),
        None => Value::Object(schema),
    }
}

/// The words that can stand alone for one of a choice's mappings.
fn shorthand(raw: Schema) -> Vec<Value> {
    let word = |alternative: Schema| {
        let named = rule::fixed(alternative).map(|named| named.name);
        named.or_else(|| {
            let (tag, inner) = rule::tag(alternative)?;
            let alone = matches!(Rule::of(inner), Rule::Table(table) if table.required.is_empty());
            alone.then_some(tag)
        })
    };
    let words: Vec<&str> = rule::alternatives(raw).iter().filter_map(word).collect();
    let mut more = Vec::new();
    if !words.is_empty() {
        more.push(json!({ "type": "string", "enum": words }));
    }
    if raw.get("x-short-path").is_some() {
        more.push(json!({ "type": "string", "pattern": "\\.(safetensors|h5|hdf5|keras)$" }));
    }
    more
}

/// A mapping, or the word that stands for one of its fields.
fn or_short(mut schema: Map<String, Value>, field: Value) -> Value {
    let description = schema.remove("description");
    json!({ "description": description, "anyOf": [field, schema] })
}

/// A number as the shortest one that is the same `f32`.
fn short_float(value: &Value) -> Value {
    let short = value.as_f64().map(words::number);
    let short = short.and_then(|text| text.parse::<f64>().ok());
    short.map_or_else(|| value.clone(), Value::from)
}
