//! One word of a file becomes a number, a flag or a text, as its rule says.

use serde_json::Value as Json;

use crate::rule::{Range, Rule};
use crate::tree::{Node, Value};
use crate::words;
use crate::{Bytes, Duration, Holdout};

/// What is wrong, and a hint.
type Wrong = (String, Option<String>);

/// Reads a word. `Err(None)` means that it is of another kind altogether.
pub(crate) fn read(node: &Node, rule: &Rule) -> Result<Json, Option<Wrong>> {
    let Value::Scalar { text, quoted } = &node.value else {
        return Err(None);
    };
    if node.is_null() || (*quoted && !matches!(rule, Rule::Text { .. })) {
        return Err(None);
    }
    match rule {
        Rule::Flag => flag(text).map(Json::Bool).ok_or(None),
        Rule::Whole { least, most } => whole(text, *least, *most),
        Rule::Number(range) => number(text, range),
        Rule::Text { format } => self::text(text, *format),
        _ => Err(None),
    }
}

/// A value as YAML itself understands it, where no rule says what it is.
pub(crate) fn plain(node: &Node) -> Json {
    match &node.value {
        _ if node.is_null() => Json::Null,
        Value::Scalar { text, quoted: true } => Json::String(text.clone()),
        Value::Scalar { text, .. } => {
            let number = || serde_json::from_str::<serde_json::Number>(text).ok();
            let flag = || matches!(text.as_str(), "true" | "false").then(|| text == "true");
            let plain = flag().map(Json::Bool).or_else(|| number().map(Json::Number));
            plain.unwrap_or_else(|| Json::String(text.clone()))
        }
        Value::List(nodes) => nodes.iter().map(plain).collect(),
        Value::Map(entries) => {
            entries.iter().map(|entry| (entry.key.clone(), plain(&entry.node))).collect()
        }
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

fn whole(text: &str, least: u64, most: u64) -> Result<Json, Option<Wrong>> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(None);
    }
    let wrong = |bound: String| {
        Err(Some((format!("expected {bound}, found `{}`", words::shortened(text)), None)))
    };
    if text.starts_with('-') && digits.bytes().any(|byte| byte != b'0') {
        return wrong(format!("at least {least}"));
    }
    // Digits that are no number are too many digits.
    match digits.parse::<u64>() {
        Ok(value) if value < least => wrong(format!("at least {least}")),
        Ok(value) if value <= most => Ok(Json::from(value)),
        _ => wrong(format!("at most {}", words::grouped(most))),
    }
}

fn number(text: &str, range: &Range) -> Result<Json, Option<Wrong>> {
    // Rust also reads `inf`, `infinity` and `nan`.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(None);
    }
    let value: f64 = text.parse().map_err(|_| None)?;
    // The number that will be computed with is the one that must be in range.
    let used = if range.single { f64::from(value as f32) } else { value };
    // Minus nothing is nothing, so that equal specs are written alike.
    let value = if used == 0.0 { 0.0 } else { value };
    let bound = |name: &str| range.schema[name].as_f64();
    let wrong = |bound: String| {
        Err(Some((format!("expected {bound}, found `{}`", words::shortened(text)), None)))
    };
    if !used.is_finite() {
        return wrong("a smaller number".into());
    }
    if let Some(least) = bound("minimum").filter(|&least| used < least) {
        return wrong(format!("at least {}", words::number(least)));
    }
    if let Some(least) = bound("exclusiveMinimum").filter(|&least| used <= least) {
        return wrong(format!("more than {}", words::number(least)));
    }
    if let Some(most) = bound("maximum").filter(|&most| used > most) {
        return wrong(format!("at most {}", words::number(most)));
    }
    if let Some(most) = bound("exclusiveMaximum").filter(|&most| used >= most) {
        return wrong(format!("less than {}", words::number(most)));
    }
    if range.schema["format"] == "holdout" {
        Holdout::try_from(value).map_err(|message| Some((message, None)))?;
    }
    Ok(Json::from(value))
}

fn text(text: &str, format: Option<&str>) -> Result<Json, Option<Wrong>> {
    let problem = match format {
        Some("name") if !words::is_name(text) => Some(words::not_a_name(text)),
        Some("duration-text") => text.parse::<Duration>().err().map(|e| e.to_string()),
        Some("quantity") if !words::is_quantity(text) => Some(words::not_a_quantity(text)),
        Some("size-text") => text.parse::<Bytes>().err().map(|e| e.to_string()),
        _ => None,
    };
    match problem {
        Some(message) => Err(Some((message, None))),
        None => Ok(Json::String(text.into())),
    }
}
