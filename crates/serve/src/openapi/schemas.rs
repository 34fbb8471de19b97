//! What is sent and answered, piece by piece, for `/openapi.json`.

use serde_json::{Value, json};

use super::question::question;
use crate::about::About;

/// Everything that has a name.
pub(super) fn schemas(about: &About) -> Value {
    let numbers = json!({ "type": "array", "items": { "type": "number" } });
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let rows =
        |items: Value| json!({ "type": "array", "items": { "type": "array", "items": items } });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    let word = object(
        &["word", "known"],
        json!({ "word": { "type": "string" }, "known": { "type": "boolean" } }),
    );
    let near = object(
        &["person", "distance", "picture"],
        json!({ "person": { "type": "string" }, "distance": { "type": "number" }, "picture": { "type": "string" } }),
    );
    let example = object(
        &["url", "name"],
        json!({ "url": { "type": "string" }, "name": { "type": "string" } }),
    );
    json!({
        "Problem": object(&["error"], json!({ "error": { "type": "string" } })),
        "Question": question(about),
        "Answers": object(&["predictions"], json!({
            "predictions": { "type": "array", "items": numbers },
            "classes": { "type": "array", "items": { "type": "integer" } },
            "labels": strings,
            "votes": rows(json!({ "type": "integer" })),
            "words": rows(word),
            "nearest": rows(near)
        })),
        "Compared": object(&["distance", "same", "threshold"], json!({
            "distance": { "type": "number" }, "same": { "type": "boolean" }, "threshold": { "type": "number" }
        })),
        "Link": object(&["path"], json!({ "path": { "type": "string" } })),
        "Model": object(&["name", "summary", "kind", "input", "labels", "outputs"], json!({
            "name": { "type": "string" },
            "summary": { "type": "string" },
            "kind": { "enum": ["digits", "texts", "pictures", "faces", "numbers"] },
            "input": { "type": "object" },
            "labels": strings,
            "outputs": { "type": "integer" },
            "examples": { "type": "array", "items": example }
        }))
    })
}
