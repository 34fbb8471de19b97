//! The bodies that the model takes, for `/openapi.json`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use preprocess::Picture;
use serde_json::{Value, json};

use super::{content, schema};
use crate::about::About;
use crate::kind::Kind;
use crate::limits::Limits;

/// Samples of so many numbers are described number by number; larger ones in words.
const EXACTLY: usize = 64;

/// What is sent to be answered: JSON always, and what else people have of this kind.
pub(super) fn body(about: &About) -> Value {
    let mut bodies = content("application/json", schema("Question"));
    bodies["application/json"]["examples"] = json!({ "question": { "value": example(about) } });
    match about.kind {
        Kind::Numbers => {}
        Kind::Texts => {
            let form = form("review", json!({ "type": "string" }));
            bodies["multipart/form-data"] = json!({ "schema": form });
            bodies["application/x-www-form-urlencoded"] = json!({ "schema": form });
        }
        Kind::Digits | Kind::Pictures | Kind::Faces => {
            let file = json!({ "type": "string", "contentMediaType": "application/octet-stream" });
            bodies["multipart/form-data"] = json!({ "schema": form("file", file) });
            for kind in ["image/png", "image/jpeg", "image/gif", "image/bmp"] {
                bodies[kind] = json!({ "schema": { "type": "string", "format": "binary" } });
            }
        }
    }
    json!({ "required": true, "content": bodies })
}

/// A question as JSON: samples, or what people have of this kind.
pub(super) fn question(about: &About) -> Value {
    let strings = |items: Value| json!({ "type": "array", "minItems": 1, "maxItems": Limits::default().questions, "items": items });
    let mut ways = vec![way("inputs", inputs(&about.input.shape))];
    match about.kind {
        Kind::Numbers => {}
        Kind::Texts => {
            let text = json!({ "type": "string", "maxLength": Limits::default().text });
            ways.push(way("texts", strings(text)));
        }
        Kind::Digits | Kind::Pictures | Kind::Faces => {
            let image = json!({ "type": "string", "minLength": 1, "contentEncoding": "base64" });
            ways.push(way("images", strings(image)));
        }
    }
    json!({ "oneOf": ways })
}

fn way(name: &str, field: Value) -> Value {
    json!({ "type": "object", "required": [name], "additionalProperties": false, "properties": { name: field } })
}

/// One field, or the same as often as there are things to ask about.
fn form(name: &str, field: Value) -> Value {
    let several = json!({ "type": "array", "minItems": 1, "items": field });
    way(name, json!({ "anyOf": [field, several] }))
}

/// One sample or several: in arrays as the shape says, or flat.
fn inputs(shape: &[usize]) -> Value {
    let size: usize = shape.iter().product();
    let most = Limits::default().questions;
    let description = format!(
        "A sample of shape {shape:?}, or up to {most} of them in an array. A sample may be flat: {size} numbers."
    );
    if size > EXACTLY {
        let items = json!({ "type": ["number", "array"] });
        return json!({ "description": description, "type": "array", "minItems": 1, "items": items });
    }
    let plain = shape.strip_suffix(&[1]).unwrap_or(shape);
    let mut samples: Vec<Value> = vec![];
    for sides in [shape, plain, &[size][..]] {
        let sample = nested(sides);
        if !samples.contains(&sample) {
            samples.push(sample);
        }
    }
    let several = samples
        .iter()
        .map(|sample| json!({ "type": "array", "minItems": 1, "maxItems": most, "items": sample }));
    let ways: Vec<Value> = samples.iter().cloned().chain(several).collect();
    json!({ "description": description, "anyOf": ways })
}

fn nested(sides: &[usize]) -> Value {
    let number = json!({ "type": "number", "minimum": -3.402_823_5e38, "maximum": 3.402_823_5e38 });
    sides.iter().rev().fold(number, |items, side| {
        json!({ "type": "array", "minItems": side, "maxItems": side, "items": items })
    })
}

/// A question that the model can answer.
fn example(about: &About) -> Value {
    match about.kind {
        Kind::Numbers => {
            let size: usize = about.input.shape.iter().product();
            json!({ "inputs": [vec![0; size]] })
        }
        Kind::Texts => json!({ "texts": ["A great film."] }),
        Kind::Digits | Kind::Pictures | Kind::Faces => {
            // A stroke, which may be a one.
            let ink = |at: usize| if at % 8 == 4 && (8..56).contains(&at) { 0 } else { 255 };
            let bytes = (0..64).map(ink).collect();
            let picture = Picture { height: 8, width: 8, channels: 1, bytes };
            json!({ "images": [STANDARD.encode(picture.to_png())] })
        }
    }
}
