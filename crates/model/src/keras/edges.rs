//! What a layer of a functional network reads: `inbound_nodes`, as Keras 2 and as Keras 3 write it.

use serde_json::Value;

/// The names of the layers that a layer reads, in order.
pub(super) fn read(inbound: &Value) -> Result<Vec<String>, String> {
    let calls = inbound.as_array().ok_or("its inbound_nodes are not a list")?;
    match &calls[..] {
        [] => Ok(vec![]),
        [Value::Array(links)] => old(links),
        [Value::Object(call)] => {
            let mut names = vec![];
            harmless(call.get("kwargs"), true)?;
            tensors(call.get("args").unwrap_or(&Value::Null), 0, &mut names)?;
            Ok(names)
        }
        [_] => Err("what it reads is in a form we do not know".into()),
        many => {
            Err(format!("it is used in {} places; shared layers are not supported", many.len()))
        }
    }
}

/// Keras 2: `[["conv2d", 0, 0, {}], …]`.
fn old(links: &[Value]) -> Result<Vec<String>, String> {
    links
        .iter()
        .map(|link| {
            harmless(link.get(3), false)?;
            first_output(link)
        })
        .collect()
}

/// Keras 3: tensors, and lists of them, among the arguments of the call.
fn tensors(value: &Value, depth: usize, names: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Array(list) if depth < 3 => {
            list.iter().try_for_each(|value| tensors(value, depth + 1, names))
        }
        Value::Object(tensor)
            if tensor.get("class_name").is_some_and(|c| c == "__keras_tensor__") =>
        {
            let history = tensor.get("config").and_then(|config| config.get("keras_history"));
            names.push(first_output(history.unwrap_or(&Value::Null))?);
            Ok(())
        }
        Value::Null => Ok(()),
        _ => Err("it is called with an argument that is no layer's output".into()),
    }
}

/// The layer of `["name", 0, 0]`: its first call, and of that the first output.
pub(super) fn first_output(place: &Value) -> Result<String, String> {
    let number = |at: usize| place.get(at).map_or(Some(0), Value::as_u64);
    match (place.get(0).and_then(Value::as_str), number(1), number(2)) {
        (Some(name), Some(0), Some(0)) => Ok(name.to_owned()),
        (Some(name), ..) => Err(format!(
            "it reads `{name}` at another call or output than the first; shared layers and layers of several outputs \
             are not supported"
        )),
        _ => Err("what it reads has no name".into()),
    }
}

/// Arguments of a call that are not given. Keras 3 writes `training` for layers that have a default for it, as dropout
/// has, and then goes by what the whole model is told; in Keras 2 it holds whatever the model is told.
fn harmless(arguments: Option<&Value>, new: bool) -> Result<(), String> {
    let Some(Value::Object(arguments)) = arguments else { return Ok(()) };
    let usual = |(name, value): &(&String, &Value)| {
        value.is_null() || (new && *name == "training" && value.is_boolean())
    };
    match arguments.iter().find(|argument| !usual(argument)) {
        None => Ok(()),
        Some((name, _)) => Err(format!("it is called with `{name}`, which is not supported")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_name_the_same_layers() {
        let old = json!([[["a", 0, 0, {}], ["b", 0, 0, {}]]]);
        let tensor = |name: &str| json!({"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, 0]}});
        let new = json!([{"args": [[tensor("a"), tensor("b")]], "kwargs": {"mask": null}}]);
        assert_eq!(read(&old).unwrap(), ["a", "b"]);
        assert_eq!(read(&new).unwrap(), ["a", "b"]);
        for training in [true, false] {
            let dropout = json!([{"args": [tensor("a")], "kwargs": {"training": training}}]);
            assert_eq!(read(&dropout).unwrap(), ["a"]);
        }
        assert_eq!(read(&json!([])).unwrap(), [""; 0]);
        for refused in [
            json!([[["a", 0, 0, {}]], [["b", 0, 0, {}]]]),
            json!([[["a", 1, 0, {}]]]),
            json!([[["a", 0, 0, {"training": true}]]]),
            json!([{"args": [tensor("a"), 5], "kwargs": {}}]),
            json!([{"args": [tensor("a")], "kwargs": {"training": 1}}]),
            json!([{"args": [[[[[tensor("a")]]]]], "kwargs": {}}]),
            json!({}),
            json!([7]),
        ] {
            assert!(read(&refused).is_err(), "{refused}");
        }
    }
}
