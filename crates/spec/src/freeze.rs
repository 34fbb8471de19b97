//! Which layers of a network are not trained.

use schemars::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Which layers keep their weights: S3's `FREEZE_LAYERS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Freeze {
    /// So many, from the first on. The input is not counted.
    First(usize),
    /// Those with these names.
    Named(Vec<String>),
}

/// Lets `freeze` stand beside whatever says which network is meant.
pub(crate) fn beside(schema: &mut Schema) {
    let field = json!({
        "description": "Layers that are not trained: so many from the first on, the input not counted, \
                        or those with these names.",
        "anyOf": [
            { "type": "integer", "format": "uint", "minimum": 0, "maximum": 10_000 },
            { "type": "array", "items": { "type": "string" }, "maxItems": 10_000 },
        ],
        "x-beside": true,
    });
    for ways in ["oneOf", "anyOf"] {
        let ways = schema.get_mut(ways).and_then(Value::as_array_mut);
        for way in ways.into_iter().flatten() {
            if let Some(fields) = way["properties"].as_object_mut() {
                fields.insert("freeze".into(), field.clone());
            }
        }
    }
}
