//! The examples, the schema and the reader agree.

use std::path::{Path, PathBuf};

use serde_json::Value;

fn examples() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).expect("the examples");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("an example");
        (path, text)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_example_is_read_and_says_what_it_is() {
    for (path, text) in examples() {
        let parsed = spec::parse(&text, &path.to_string_lossy(), &[]);
        let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
        let again = spec::parse(&parsed.to_yaml(), "again", &[]);
        assert_eq!(again.unwrap_or_else(|error| panic!("{error}")), parsed);
        let heads: Vec<&str> = text.lines().take(3).collect();
        for (line, start) in heads.iter().zip(["# Shows: ", "# Run: ", "# Expect: "]) {
            assert!(line.starts_with(start), "{}: {line}", path.display());
        }
        let command = format!("trainyard run examples/{}", path.file_name().unwrap().display());
        assert!(heads[1].contains(&command), "{}", heads[1]);
    }
}

#[test]
fn every_example_fits_the_schema() {
    let schema = spec::schema();
    for (path, text) in examples() {
        let value: Value = serde_saphyr::from_str(&text).expect("YAML");
        if let Err(why) = fits(&value, &schema, &schema) {
            panic!("{}: {why}", path.display());
        }
        let spec = spec::parse(&text, "example", &[]).expect("a spec");
        let whole: Value = serde_saphyr::from_str(&spec.to_yaml()).expect("YAML");
        if let Err(why) = fits(&whole, &schema, &schema) {
            panic!("{} in full: {why}", path.display());
        }
    }
}

/// Each property of the schema, with the path that leads to it, is known to the reader.
#[test]
fn every_property_of_the_schema_is_accepted() {
    let schema = spec::schema();
    let mut paths = Vec::new();
    walk(&schema, &schema, &mut Vec::new(), &mut paths);
    assert!(paths.len() > 60, "{}", paths.len());
    for path in paths {
        // Whatever else is wrong with a mapping as the value, the name must be known.
        let set = format!("{path}={{}}");
        let Err(error) = spec::parse("name: a", "a.yaml", &[set]) else {
            continue;
        };
        let error = error.to_string();
        assert!(!error.contains("unknown"), "{path}: {error}");
        assert!(!error.contains("not in this version"), "{path}: {error}");
    }
}

/// Paths to all properties. A network's arguments are told apart by its name, which a path cannot
/// say, so they are left to the examples.
fn walk(schema: &Value, root: &Value, path: &mut Vec<String>, paths: &mut Vec<String>) {
    if path.len() > 8 {
        return;
    }
    if let Some(name) = schema["$ref"].as_str() {
        return walk(&root["$defs"][name.trim_start_matches("#/$defs/")], root, path, paths);
    }
    for alternative in ["oneOf", "anyOf"].iter().flat_map(|key| schema[key].as_array()).flatten() {
        walk(alternative, root, path, paths);
    }
    let fields = schema["properties"].as_object().into_iter().flatten();
    if fields.clone().any(|(_, field)| field.get("const").is_some()) {
        return;
    }
    for (name, field) in fields {
        path.push(name.clone());
        paths.push(path.join("."));
        walk(field, root, path, paths);
        path.pop();
    }
    if schema["additionalProperties"].is_object() {
        path.push("a-step".into());
        walk(&schema["additionalProperties"], root, path, paths);
        path.pop();
    }
}

/// Enough of JSON Schema to check a value against ours.
fn fits(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        return fits(value, &root["$defs"][name.trim_start_matches("#/$defs/")], root);
    }
    for (key, exactly) in [("anyOf", false), ("oneOf", true)] {
        if let Some(ways) = schema[key].as_array() {
            let tried: Vec<_> = ways.iter().map(|way| fits(value, way, root)).collect();
            let fitting = tried.iter().filter(|result| result.is_ok()).count();
            if fitting == 0 || (exactly && fitting > 1) {
                return Err(format!("{value} fits {fitting} of {tried:?}"));
            }
        }
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Err(format!("{value} is not {}", schema["const"]));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{value} is none of {words:?}"));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let is = |kind: &str| match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || (kind == "integer" && !number.is_f64()),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    };
    if !kinds.iter().any(|kind| is(kind)) {
        return Err(format!("{value} is no {kinds:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"], root)?;
    }
    let Value::Object(fields) = value else {
        return Ok(());
    };
    for (name, field) in fields {
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(known), _) => fits(field, known, root)?,
            (None, Value::Bool(false)) => return Err(format!("{name} is not known")),
            (None, others) => fits(field, others, root)?,
        }
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let mut missing = required.filter_map(Value::as_str).filter(|name| !fields.contains_key(*name));
    missing.next().map_or(Ok(()), |name| Err(format!("{name} is missing")))
}
