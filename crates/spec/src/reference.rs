//! The reference of the run file, for people: written from the same schema that reads it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::rule::{self, Choice, Rule, Schema, Table};
use crate::words;

const OPENING: &str = include_str!("reference.md");

/// The reference of the run file as Markdown.
pub fn reference() -> String {
    let mut writer = Writer::default();
    writer.section("The fields", rule::root());
    while let Some(name) = writer.open.pop() {
        writer.section(name, &rule::root()["$defs"][name]);
    }
    let short = include_str!("../../../examples/04-own-layers.yaml");
    let long = include_str!("../../../examples/05-long-form.yaml");
    let opening = OPENING.replace("SHORT\n", short).replace("LONG\n", long);
    format!("{opening}\n{}", writer.text.trim_end()) + "\n"
}

#[derive(Default)]
struct Writer {
    text: String,
    /// Types that were mentioned and have yet to be described, the next one last.
    open: Vec<&'static str>,
    seen: Vec<&'static str>,
}

impl Writer {
    fn section(&mut self, title: &str, schema: Schema) {
        let about = words::unwrapped(schema["description"].as_str().unwrap_or_default());
        self.say(&format!("## {title}\n\n{about}\n"));
        let waiting = self.open.len();
        match Rule::of(schema) {
            Rule::Table(table) if table.others.is_some() => self.any_names(&table),
            Rule::Table(table) => self.fields(&table),
            Rule::Choice(choice) => self.choice(title, schema, &choice),
            _ => {}
        }
        // What this section mentions is described next, in the order of mention.
        self.open[waiting..].reverse();
        let later = rule::strings(&schema["x-later"]);
        if !later.is_empty() {
            self.say(&format!("Not in this version yet: {}.\n", words::list(later)));
        }
    }

    fn any_names(&mut self, table: &Table) {
        if let Some(others) = table.others {
            let kind = self.kind(others);
            self.say(&format!("Each name stands for one {kind}.\n"));
        }
    }

    fn fields(&mut self, table: &Table) {
        let Some(fields) = table.fields else {
            self.say("It has no fields.\n");
            return;
        };
        self.say("| field | what it is | default | what it says |\n|---|---|---|---|");
        for (name, schema) in fields {
            let kind = match schema["const"].as_str() {
                Some(word) => format!("`{word}`"),
                None => self.kind(schema),
            };
            let default = default(name, schema, table);
            let about = schema["description"].as_str().unwrap_or("Which one.");
            let about = words::unwrapped(about);
            self.say(&format!("| `{name}` | {kind} | {default} | {about} |"));
        }
        self.say("");
    }

    fn choice(&mut self, title: &str, schema: Schema, choice: &Choice) {
        let mut details = Vec::new();
        for alternative in rule::alternatives(schema) {
            let about = alternative["description"].as_str().unwrap_or_default();
            let about = words::unwrapped(about);
            if let Some(word) = alternative["const"].as_str() {
                self.say(&format!("- `{word}`: {about}"));
            } else if let Some(named) = rule::fixed(alternative) {
                self.say(&format!("- `{}`: {about}", named.name));
                details.push((named.name, alternative));
            } else if let Some((tag, inner)) = rule::tag(alternative) {
                let line = match Rule::of(inner) {
                    Rule::Table(table) => {
                        let form = tagged_form(tag, &table);
                        if table.fields.is_some() {
                            details.push((tag, inner));
                        }
                        format!("- {form}: {about}")
                    }
                    _ => format!("- `{{{tag}: …}}`, {}: {about}", self.kind(inner)),
                };
                self.say(&line);
            } else {
                let kind = self.kind(alternative);
                self.say(&format!("- {kind}{}{about}", if about.is_empty() { "" } else { ": " }));
            }
        }
        if let Some(field) = choice.short_path {
            self.say(&format!("- a path alone: as `{{{field}: …}}`"));
        }
        for &(field, schema) in &choice.beside {
            let about = words::unwrapped(schema["description"].as_str().unwrap_or_default());
            self.say(&format!("- beside any of these, `{field}`: {about}"));
        }
        self.say("");
        for (name, inner) in details {
            if let Rule::Table(table) = Rule::of(inner) {
                self.say(&format!("### {title} `{name}`\n"));
                self.fields(&table);
            }
        }
    }

    /// What stands at a place, with a link to its section if it has one.
    fn kind(&mut self, schema: Schema) -> String {
        let target = rule::named_type(schema);
        let linked = |rule: &Rule| matches!(rule, Rule::Table(_)) || is_worded(rule);
        match (Rule::of(schema), target) {
            (rule, Some(name)) if linked(&rule) => {
                if !self.seen.contains(&name) {
                    self.seen.push(name);
                    self.open.push(name);
                }
                format!("[{name}](#{})", name.to_lowercase())
            }
            (Rule::Whole { least, most }, _) => match (least, most) {
                (0, u64::MAX) => "a whole number".into(),
                (least, u64::MAX) => format!("a whole number from {least}"),
                (least, most) => format!("a whole number, {least} to {}", words::grouped(most)),
            },
            (Rule::List { items, .. }, _) => {
                let items = self.kind(items);
                format!("a list: {items}")
            }
            (Rule::Number(number), _) if number.schema["format"] != "holdout" => {
                range(number.schema)
            }
            _ => words::expected(schema),
        }
    }

    fn say(&mut self, line: &str) {
        // Writing to a text cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

/// Whether a rule is a choice by words, which a section of its own explains.
fn is_worded(rule: &Rule) -> bool {
    matches!(rule, Rule::Choice(choice)
        if choice.all_words().next().is_some() || !choice.tagged.is_empty()
            || choice.others.iter().any(|other| matches!(Rule::of(other), Rule::Table(_))))
}

/// How a mapping with one field is written: its name alone where that will do.
fn tagged_form(tag: &str, table: &Table) -> String {
    match (table.fields, table.required.is_empty()) {
        (None, _) => format!("`{tag}`"),
        (Some(_), true) => format!("`{tag}` or `{{{tag}: …}}`"),
        (Some(_), false) => format!("`{{{tag}: …}}`"),
    }
}

/// The numbers that are allowed, in words.
fn range(schema: Schema) -> String {
    let bound = |name: &str, word: &str| {
        let bound = schema[name].as_f64()?;
        Some(format!("{word} {}", words::number(bound)))
    };
    let least = bound("minimum", " from").or_else(|| bound("exclusiveMinimum", " above"));
    // A bound that only keeps infinity out is not worth a word.
    let most = bound("exclusiveMaximum", ", below").or_else(|| bound("maximum", ", at most"));
    let most = most.filter(|_| schema["maximum"].as_f64().unwrap_or_default() < 1e6);
    format!("a number{}{}", least.unwrap_or_default(), most.unwrap_or_default())
}

fn default(name: &str, schema: Schema, table: &Table) -> String {
    if table.required.contains(&name) {
        return "must be given".into();
    }
    match schema.get("default") {
        None => "–".into(),
        Some(Value::Object(_)) => "its own defaults".into(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(Value::Number(number)) if schema["format"] == "float" => {
            format!("`{}`", words::number(number.as_f64().unwrap_or_default()))
        }
        Some(other) => format!("`{}`", other.to_string().replace(',', ", ")),
    }
}
