//! Words inside a layer's configuration: activations, initializers, types.
//!
//! Keras writes each as a string or as an object with class and configuration, in more than one way. We
//! have them as the run file has them, which are Keras' own names in snake case.

use serde_json::{Map, Value, json};

/// The name of an activation, however it is written.
pub(super) fn activation(value: &Value, old: bool) -> Result<Value, String> {
    let name = match value {
        Value::String(name) => name.as_str(),
        Value::Object(about) => {
            let class = about.get("class_name").and_then(Value::as_str).unwrap_or_default();
            match about.get("config") {
                Some(Value::String(name)) if class == "function" => name,
                _ => return Err(format!("its activation is an object of class `{class}`")),
            }
        }
        other => return Err(format!("its activation is {}", shown(other))),
    };
    if old && name == "hard_sigmoid" {
        return Err("its activation is Keras 2's `hard_sigmoid`, which is another function than \
                    Keras 3's; use `sigmoid`"
            .into());
    }
    // Keras has two names for some, and writes either.
    Ok(json!(match name {
        "swish" => "silu",
        "hard_swish" => "hard_silu",
        name => name,
    }))
}

/// An initializer as a run file has it: `glorot_uniform`, or `{truncated_normal: {stddev: 0.05}}`.
pub(super) fn initializer(value: &Value) -> Result<Value, String> {
    let (class, config) = match value {
        Value::String(name) => (name.as_str(), Map::new()),
        Value::Object(about) => {
            let class = about.get("class_name").and_then(Value::as_str).unwrap_or_default();
            let config = about.get("config").and_then(Value::as_object);
            (class, config.cloned().unwrap_or_default())
        }
        other => return Err(format!("an initializer is {}", shown(other))),
    };
    let (name, mut config) = plain(class, config);
    config.retain(|key, value| {
        let default = key == "seed" || (key == "mean" && value.as_f64() == Some(0.0));
        !default && !value.is_null() && key != "dtype"
    });
    let is = |key: &str, wanted: f64| config.get(key).and_then(Value::as_f64) == Some(wanted);
    if name == "random_uniform" && (config.is_empty() || is("minval", -0.05) && is("maxval", 0.05))
    {
        return Ok(json!("uniform"));
    }
    if name.starts_with("orthogonal") && (config.is_empty() || is("gain", 1.0)) {
        return Ok(json!("orthogonal"));
    }
    if name == "truncated_normal" && !config.contains_key("stddev") {
        config.insert("stddev".into(), json!(0.05));
    }
    Ok(if config.is_empty() { json!(name) } else { json!({name: config}) })
}

/// Keras before 2.4 wrote the usual initializers as what they are made of.
fn plain(class: &str, config: Map<String, Value>) -> (String, Map<String, Value>) {
    if class == "VarianceScaling" {
        let scale = config.get("scale").and_then(Value::as_f64).unwrap_or(1.0);
        let text = |key| config.get(key).and_then(Value::as_str).unwrap_or_default();
        match (scale, text("mode"), text("distribution")) {
            (1.0, "fan_avg", "uniform") => return ("glorot_uniform".into(), Map::new()),
            (2.0, "fan_in", "normal" | "truncated_normal") => {
                return ("he_normal".into(), Map::new());
            }
            _ => {}
        }
    }
    (snake(class), config)
}

/// An initializer as Keras writes it.
pub(super) fn initializer_object(ours: &Value) -> Value {
    let (name, config) = match ours {
        Value::Object(one) => match one.iter().next() {
            Some((name, Value::Object(config))) => (name.clone(), config.clone()),
            _ => Default::default(),
        },
        name => (name.as_str().unwrap_or_default().to_owned(), Map::new()),
    };
    let (class, config) = match name.as_str() {
        "uniform" => ("RandomUniform".into(), json!({"minval": -0.05, "maxval": 0.05})),
        name => (camel(name), Value::Object(config)),
    };
    json!({"module": "keras.initializers", "class_name": class, "config": config, "registered_name": null})
}

/// Refuses types that we do not compute in.
pub(super) fn dtype(value: &Value, is_input: bool) -> Result<(), String> {
    let name = match value {
        Value::Object(policy) => policy.get("config").and_then(|config| config.get("name")),
        other => Some(other),
    };
    match name.and_then(Value::as_str) {
        None if value.is_null() => Ok(()),
        Some("float32") => Ok(()),
        // Whatever they are in memory, samples are numbers.
        Some("uint8" | "int32" | "int64") if is_input => Ok(()),
        _ => Err(format!("its type is {}; only float32 is supported", shown(value))),
    }
}

/// `MaxPooling2D` as `max_pooling2d`: Keras' own rule.
pub(super) fn snake(class: &str) -> String {
    let letters: Vec<char> = class.chars().collect();
    let mut text = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let begins = letter.is_ascii_uppercase()
            && match before {
                None | Some('_') => false,
                Some(before) if before.is_ascii_lowercase() => true,
                Some(_) => after.is_some_and(char::is_ascii_lowercase),
            };
        if begins {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// `glorot_uniform` as `GlorotUniform`.
fn camel(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(word).collect()
}

/// A value for a message, even one of a million bytes.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_keras() {
        let names = ["Conv2D", "MaxPooling2D", "ReLU", "GRU", "LeakyReLU", "InputLayer", "LSTM"];
        let snakes = names.map(snake);
        let expected =
            ["conv2d", "max_pooling2d", "re_lu", "gru", "leaky_re_lu", "input_layer", "lstm"];
        assert_eq!(snakes, expected);
        assert_eq!(snake("GlobalAveragePooling2D"), "global_average_pooling2d");
        assert_eq!(snake("ELU"), "elu");
        assert_eq!(camel("truncated_normal"), "TruncatedNormal");
    }

    #[test]
    fn initializers_are_known_in_every_dress() {
        let same = |keras: Value, ours: Value| assert_eq!(initializer(&keras).unwrap(), ours);
        same(json!("glorot_uniform"), json!("glorot_uniform"));
        same(json!("GlorotUniform"), json!("glorot_uniform"));
        same(json!({"class_name": "Zeros", "config": {}}), json!("zeros"));
        let old = json!({"class_name": "VarianceScaling", "config":
            {"scale": 1.0, "mode": "fan_avg", "distribution": "uniform", "seed": null}});
        same(old, json!("glorot_uniform"));
        let cut = json!({"truncated_normal": {"stddev": 0.25}});
        same(initializer_object(&cut), cut.clone());
        let drawn = json!({"class_name": "TruncatedNormal", "config": {"mean": 0.0, "stddev": 0.25, "seed": 3}});
        same(drawn, cut);
        same(initializer_object(&json!("he_normal")), json!("he_normal"));
    }
}
