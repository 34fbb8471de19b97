//! The schema as the reader sees it: for each place in a file, a rule.
//!
//! The JSON Schema derived from the types of [`file`](crate::file) is the one table of what a run
//! file may hold. The reader, `--set`, the published schema and the reference all come from it.
//! Beyond JSON Schema it knows, on a type:
//!
//! - `x-short`: a word alone stands for this field (`data: mnist` is `data: {from: mnist}`);
//! - `x-short-path`: a word that looks like a path stands for this field instead;
//! - `x-beside`: a field that may stand beside the one that says which of several is meant;
//! - `x-any`: a mapping that is taken as it is;
//! - `x-later`: names that a later version will have.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::file::RunFile;

/// A place in the schema.
pub(crate) type Schema = &'static Value;

/// What may stand at a place.
#[derive(Debug)]
pub(crate) enum Rule {
    Flag,
    Whole {
        least: u64,
        most: u64,
    },
    Number(Range),
    Text {
        format: Option<&'static str>,
    },
    List {
        items: Schema,
        least: u64,
        most: u64,
    },
    Table(Table),
    Choice(Choice),
    /// A mapping that is not ours to understand.
    Any,
}

/// The numbers that are allowed.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) schema: Schema,
    /// Whether the number is kept as an `f32`, and must be right as one.
    pub(crate) single: bool,
}

/// A mapping with fields.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) fields: Option<&'static Map<String, Value>>,
    pub(crate) required: Vec<&'static str>,
    /// What every other field holds: a mapping from names that the user chooses.
    pub(crate) others: Option<Schema>,
    /// Whether those fields are names of ours.
    pub(crate) named: bool,
    pub(crate) short: Option<&'static str>,
    pub(crate) later: Vec<&'static str>,
}

/// One of several things.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// Plain words: `relu`.
    pub(crate) words: Vec<&'static str>,
    /// A mapping with one field that says which: `{adam: {…}}`.
    pub(crate) tagged: Vec<(&'static str, Schema)>,
    /// A mapping that says which by the value of a field: `{name: mnist-mlp, …}`.
    pub(crate) named: Vec<Named>,
    /// Fields that may stand beside any of these.
    pub(crate) beside: Vec<(&'static str, Schema)>,
    /// Anything else: flags, numbers, lists, mappings that need not be told apart.
    pub(crate) others: Vec<Schema>,
    pub(crate) short_path: Option<&'static str>,
    pub(crate) later: Vec<&'static str>,
}

/// A mapping of which one field has a fixed value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) field: &'static str,
    pub(crate) name: &'static str,
    pub(crate) schema: Schema,
}

/// Serialised rather than taken as it is, because only that puts a type's description first.
static ROOT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::to_value(schemars::schema_for!(RunFile)).expect("a schema is JSON")
});

/// The rule of the whole file.
pub(crate) fn root() -> Schema {
    &ROOT
}

/// Whether nothing may stand here.
pub(crate) fn nullable(schema: Schema) -> bool {
    let is_null = |schema: &Value| match &schema["type"] {
        Value::String(kind) => kind == "null",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
        _ => false,
    };
    let schema = follow(schema);
    is_null(schema) || alternatives(schema).iter().any(is_null)
}

impl Rule {
    /// What may stand at a place, where something stands.
    pub(crate) fn of(schema: Schema) -> Rule {
        let schema = something(schema);
        if !alternatives(schema).is_empty() || schema.get("const").is_some() {
            let mut choice = Choice::default();
            choice.collect(schema);
            return Rule::Choice(choice);
        }
        match kind(schema) {
            "boolean" => Rule::Flag,
            "integer" => Rule::Whole {
                least: schema["minimum"].as_u64().unwrap_or(0),
                most: schema["maximum"].as_u64().unwrap_or(u64::MAX),
            },
            "number" => Rule::Number(Range { schema, single: schema["format"] == "float" }),
            "array" => Rule::List {
                items: &schema["items"],
                least: schema["minItems"].as_u64().unwrap_or(0),
                most: schema["maxItems"].as_u64().unwrap_or(u64::MAX),
            },
            "object" if schema["x-any"] == true => Rule::Any,
            "object" => Rule::Table(Table::of(schema)),
            _ => Rule::Text { format: schema["format"].as_str() },
        }
    }
}

impl Table {
    fn of(schema: Schema) -> Table {
        Table {
            fields: schema["properties"].as_object(),
            required: strings(&schema["required"]),
            others: Some(&schema["additionalProperties"]).filter(|others| others.is_object()),
            named: schema.get("propertyNames").is_some(),
            short: schema["x-short"].as_str(),
            later: strings(&schema["x-later"]),
        }
    }

    /// The rule of a field.
    pub(crate) fn field(&self, name: &str) -> Option<Schema> {
        let own = self.fields.and_then(|fields| fields.get(name));
        own.or(self.others)
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        let fields = self.fields.into_iter();
        fields.flat_map(|fields| fields.keys().map(String::as_str))
    }
}

impl Choice {
    fn collect(&mut self, schema: Schema) {
        self.later.extend(strings(&schema["x-later"]));
        if let Some(field) = schema["x-short-path"].as_str() {
            self.short_path = Some(field);
        }
        if let Some(word) = schema["const"].as_str() {
            self.words.push(word);
        }
        for alternative in alternatives(schema) {
            let alternative = follow(alternative);
            if kind(alternative) == "null" {
                continue;
            }
            if !alternatives(alternative).is_empty() || alternative.get("const").is_some() {
                self.collect(alternative);
                continue;
            }
            let fields = alternative["properties"].as_object().into_iter().flatten();
            for (name, rule) in fields.filter(|(_, rule)| is_beside(rule)) {
                if self.beside(name).is_none() {
                    self.beside.push((name, rule));
                }
            }
            match (fixed(alternative), tag(alternative)) {
                (Some(named), _) => self.named.push(named),
                (None, Some(tagged)) => self.tagged.push(tagged),
                (None, None) => self.others.push(alternative),
            }
        }
    }

    /// Every word that says which: alone, as a tag or as a name.
    pub(crate) fn all_words(&self) -> impl Iterator<Item = &'static str> + Clone {
        let tags = self.tagged.iter().map(|&(tag, _)| tag);
        let names = self.named.iter().map(|named| named.name);
        // A path's tag is not a word that can stand alone.
        let tags = tags.filter(|_| self.named.is_empty());
        let words = self.words.iter().copied();
        words.chain(tags).chain(names).collect::<Vec<_>>().into_iter()
    }

    /// The fields of which a mapping must have one.
    pub(crate) fn fields(&self) -> Vec<&'static str> {
        let name = self.named.first().map(|named| named.field);
        let tags = self.tagged.iter().map(|&(tag, _)| tag);
        name.into_iter().chain(tags).collect()
    }

    pub(crate) fn tagged(&self, tag: &str) -> Option<Schema> {
        let found = self.tagged.iter().find(|(name, _)| *name == tag);
        found.map(|&(_, schema)| schema)
    }

    pub(crate) fn beside(&self, name: &str) -> Option<Schema> {
        let found = self.beside.iter().find(|(field, _)| *field == name);
        found.map(|&(_, schema)| schema)
    }

    pub(crate) fn named(&self, name: &str) -> Option<Named> {
        self.named.iter().copied().find(|named| named.name == name)
    }
}

/// A word that is written like a path rather than like a name.
pub(crate) fn looks_like_path(text: &str) -> bool {
    text.contains(['/', '\\', '.'])
}

/// The name of the type at a place, `null` aside.
pub(crate) fn named_type(schema: Schema) -> Option<&'static str> {
    let reference = |schema: Schema| schema["$ref"].as_str();
    let only = || alternatives(schema).iter().find_map(reference);
    let name = reference(schema).or_else(only)?;
    Some(name.trim_start_matches("#/$defs/"))
}

/// Follows references.
pub(crate) fn follow(mut schema: Schema) -> Schema {
    while let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        schema = &root()["$defs"][name];
    }
    schema
}

/// Follows references and leaves `null` out where only one thing remains.
fn something(schema: Schema) -> Schema {
    let schema = follow(schema);
    let mut others = alternatives(schema).iter().filter(|s| kind(s) != "null");
    match (others.next(), others.next()) {
        (Some(only), None) if schema["anyOf"].is_array() => something(only),
        _ => schema,
    }
}

pub(crate) fn alternatives(schema: &Value) -> &[Value] {
    let list = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    list.map_or(&[], Vec::as_slice)
}

/// The type, `null` aside.
pub(crate) fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ => "",
    }
}

/// The field with a fixed value, if there is one.
pub(crate) fn fixed(schema: Schema) -> Option<Named> {
    let fields = schema["properties"].as_object()?;
    fields.iter().find_map(|(field, rule)| {
        let name = rule["const"].as_str()?;
        Some(Named { field, name, schema })
    })
}

fn is_beside(rule: &Value) -> bool {
    rule["x-beside"] == true
}

/// The only field, if there is one and it must be there. Those that may stand beside it do not count.
pub(crate) fn tag(schema: Schema) -> Option<(&'static str, Schema)> {
    let fields = schema["properties"].as_object()?;
    let mut all = fields.iter().filter(|(_, rule)| !is_beside(rule));
    match (all.next(), all.next()) {
        (Some((name, rule)), None) if strings(&schema["required"]) == [name.as_str()] => {
            Some((name.as_str(), rule))
        }
        _ => None,
    }
}

pub(crate) fn strings(list: &'static Value) -> Vec<&'static str> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).collect()
}
