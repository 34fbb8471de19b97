//! The words that errors are made of.

use crate::nearest;
use crate::rule::{self, Rule, Schema, Table};
use crate::tree::{Node, Value};

/// What is said of names that a later version will know.
pub(crate) const LATER: &str = "not in this version yet";

/// Whether a text can name a run or a step: it may become a host name.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && text.len() <= 40
}

pub(crate) fn not_a_name(text: &str) -> String {
    format!(
        "`{}` is not a name; use lower-case letters, digits and dashes, beginning with a letter, \
         at most 40 characters",
        shortened(text)
    )
}

/// Whether a text is an amount as Kubernetes writes it: `200m`, `125Mi`, `2`.
pub(crate) fn is_quantity(text: &str) -> bool {
    const UNITS: [&str; 14] =
        ["", "m", "k", "Ki", "M", "Mi", "G", "Gi", "T", "Ti", "P", "Pi", "E", "Ei"];
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.parse::<f64>().is_ok()
        && UNITS.contains(&unit)
}

pub(crate) fn not_a_quantity(text: &str) -> String {
    let text = shortened(text);
    format!("`{text}` is not an amount as Kubernetes writes it, such as `200m`, `125Mi` or `2`")
}

/// What may stand at a place: "a whole number".
pub(crate) fn expected(schema: Schema) -> String {
    match Rule::of(schema) {
        Rule::Flag => "true or false".into(),
        Rule::Whole { .. } => "a whole number".into(),
        Rule::Number(_) => "a number".into(),
        Rule::Text { format } => match format {
            Some("duration-text") => "a duration such as `90s` or `2h`".into(),
            Some("size-text") => "a size such as `7GiB`".into(),
            Some("name") => "a name".into(),
            Some("quantity") => "an amount such as `125Mi`".into(),
            _ => "text".into(),
        },
        Rule::List { least, most, .. } if least == most => format!("a list of {least}"),
        Rule::List { .. } => "a list".into(),
        Rule::Table(table) => a_table(&table).into(),
        Rule::Any => "a mapping".into(),
        Rule::Choice(choice) => {
            let mut ways: Vec<String> = choice.others.iter().map(|s| expected(s)).collect();
            let words: Vec<&str> = choice.all_words().collect();
            match words.as_slice() {
                [] => {}
                [one] => ways.push(format!("`{one}`")),
                _ => ways.push(format!("one of {}", list(words))),
            }
            ways.join(" or ")
        }
    }
}

/// A mapping, or a word that stands for one.
pub(crate) fn a_table(table: &Table) -> &'static str {
    match table.short {
        Some(_) => "a name or a mapping",
        None => "a mapping",
    }
}

/// What stands there instead: "`abc`".
pub(crate) fn found(node: &Node) -> String {
    match &node.value {
        _ if node.is_null() => "nothing".into(),
        Value::Scalar { text, quoted: true } => format!("the text `\"{}\"`", shortened(text)),
        Value::Scalar { text, .. } => format!("`{}`", shortened(text)),
        Value::List(_) => "a list".into(),
        Value::Map(_) => "a mapping".into(),
    }
}

/// A hint where quotes alone made a text of a number or flag.
pub(crate) fn quotes(node: &Node, schema: Schema) -> Option<String> {
    let Value::Scalar { text, quoted: true } = &node.value else {
        return None;
    };
    let bare = Node { at: node.at, value: Value::Scalar { text: text.clone(), quoted: false } };
    let reads = |rule: &Rule| crate::scalar::read(&bare, rule).is_ok();
    let fits = match Rule::of(schema) {
        Rule::Choice(choice) => choice.others.iter().any(|other| reads(&Rule::of(other))),
        rule => reads(&rule),
    };
    fits.then(|| format!("without the quotes it is one: `{}`", shortened(text)))
}

/// The message and hint for a name that is not known.
pub(crate) fn unknown<'a>(
    what: &str,
    wrong: &str,
    known: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> (String, Option<String>) {
    let known = known.into_iter();
    match nearest(wrong, known.clone()) {
        Some(name) => (format!("unknown {what}; did you mean `{name}`?"), None),
        None => {
            let known: Vec<&str> = known.collect();
            let hint = match known.as_slice() {
                [] => "there is nothing to set here".into(),
                _ => format!("known here: {}", list(known)),
            };
            (format!("unknown {what}"), Some(hint))
        }
    }
}

/// Where a field of this name does belong, if it is one of the short form's.
pub(crate) fn elsewhere(name: &str) -> Option<String> {
    let Rule::Table(top) = Rule::of(rule::root()) else {
        return None;
    };
    let mut places = top.names().filter(|field| *field != "steps");
    places.clone().find(|field| *field == name).map(str::to_string).or_else(|| {
        places.find_map(|field| match Rule::of(top.field(field)?) {
            Rule::Table(table) => {
                let has = table.names().any(|inner| inner == name);
                has.then(|| format!("{field}.{name}"))
            }
            _ => None,
        })
    })
}

/// Names in quotes with commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

/// A number as short as it can be written without becoming another `f32`.
pub(crate) fn number(number: f64) -> String {
    let text = format!("{:?}", number as f32);
    text.trim_end_matches(".0").to_string()
}

/// A description without the line breaks of its source; paragraphs become sentences in a row.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence of a description, on one line.
pub(crate) fn sentence(text: &str) -> String {
    let text = unwrapped(text);
    match text.split_once(". ") {
        Some((first, _)) => first.to_string(),
        None => text.trim_end_matches('.').to_string(),
    }
}

/// What a user wrote, cut to what fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    match plain.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &plain[..cut]),
        None => plain,
    }
}
