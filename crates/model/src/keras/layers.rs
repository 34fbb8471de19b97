//! One layer's configuration, to ours and back.
//!
//! The layers of a run file have Keras' names, arguments and defaults, so most of a configuration is
//! read as it stands. What is left are arguments of Keras that we do not have: they must be as they are
//! by default, or the file is refused, since what we would compute is not what it says.

use serde_json::{Map, Value, json};
use spec::Layer;

use super::words;
use crate::layer::{class_and_stem, elements};

/// Arguments that we do not have, and their values that change nothing.
const HARMLESS: &[(&str, &[&str])] = &[
    ("data_format", &["\"channels_last\""]),
    ("sparse", &["false"]),
    ("ragged", &["false"]),
    ("optional", &["false"]),
    ("synchronized", &["false"]),
    ("rms_scaling", &["false"]),
    ("stateful", &["false"]),
    ("unroll", &["false"]),
    ("time_major", &["false"]),
    ("return_state", &["false"]),
    ("zero_output_for_mask", &["false"]),
    ("dropout", &["0", "0.0"]),
    ("recurrent_dropout", &["0", "0.0"]),
    ("renorm", &["false"]),
    ("interpolation", &["\"bilinear\""]),
    ("fill_value", &["0", "0.0"]),
];

/// Classes that have weights, which `trainable` is about.
const WITH_WEIGHTS: &[&str] = &[
    "Dense",
    "Conv1D",
    "Conv2D",
    "DepthwiseConv2D",
    "SeparableConv2D",
    "BatchNormalization",
    "LayerNormalization",
    "Embedding",
    "GRU",
    "LSTM",
    "Bidirectional",
];

/// Arguments that change nothing whatever they are: the shape is known from the input, and our
/// randomness is a function of the run's seed.
const IGNORED: &[&str] = &[
    "name",
    "dtype",
    "seed",
    "batch_input_shape",
    "batch_shape",
    "input_shape",
    "input_dtype",
    "input_length",
    "implementation",
    "use_cudnn",
    "value_range",
    "renorm_clipping",
    "renorm_momentum",
];

/// What was made of a configuration.
pub(super) struct Made {
    pub(super) layer: Layer,
    /// Initializers that we do not have: harmless where weights come with the layer.
    pub(super) unknown: Vec<String>,
}

/// Makes a layer of its class and configuration, for inputs of these shapes. `old` is Keras before 3.
pub(super) fn read(
    class: &str,
    config: &Map<String, Value>,
    inputs: &[&[usize]],
    old: bool,
) -> Result<Made, String> {
    let mut config = config.clone();
    words::dtype(config.get("dtype").unwrap_or(&Value::Null), class == "InputLayer")?;
    let class = own_class(class, &mut config, inputs)?;
    if class == "Bidirectional" {
        inner_layer(&mut config, inputs, old)?;
    }
    if !WITH_WEIGHTS.contains(&class) {
        config.remove("trainable");
    }
    let last = inputs.first().map_or(0, |shape| shape.len());
    check_rest(&mut config, last)?;
    let mut unknown = vec![];
    for (key, value) in &mut config {
        if key == "activation" || key == "recurrent_activation" {
            *value = words::activation(value, old)?;
        } else if key.ends_with("_initializer") {
            let ours = words::initializer(value)?;
            let known = serde_json::from_value::<spec::Initializer>(ours.clone()).is_ok();
            if !known {
                unknown.push(format!("{key}: {}", words::shown(&ours)));
            }
            *value = if known { ours } else { json!("glorot_uniform") };
        }
    }
    let layer = serde_json::from_value(json!({class: config}))
        .map_err(|error| refusal(&error.to_string()))?;
    Ok(Made { layer, unknown })
}

/// Classes that are called otherwise here, and arguments that depend on the input.
fn own_class<'a>(
    class: &'a str,
    config: &mut Map<String, Value>,
    inputs: &[&[usize]],
) -> Result<&'a str, String> {
    let mut activation = |name: &str, arguments: &[(&str, f64)]| {
        for &(key, wanted) in arguments {
            match config.remove(key) {
                None | Some(Value::Null) => {}
                Some(found) if near(&found, wanted) => {}
                Some(found) => return Err(only(key, &found, &wanted.to_string())),
            }
        }
        config.insert("activation".into(), json!(name));
        Ok("Activation")
    };
    match class {
        "ReLU" => {
            let plain = [("negative_slope", 0.0), ("threshold", 0.0)];
            activation("relu", &plain)?;
            match config.remove("max_value") {
                None | Some(Value::Null) => {}
                Some(most) if near(&most, 6.0) => {
                    drop(config.insert("activation".into(), json!("relu6")))
                }
                Some(most) => return Err(only("max_value", &most, "6, or none,")),
            }
            Ok("Activation")
        }
        // Keras 2 calls it alpha. Its default is 0.3, and the function's of that name is 0.2.
        "LeakyReLU" => activation("leaky_relu", &[("negative_slope", 0.2), ("alpha", 0.2)]),
        "ELU" => activation("elu", &[("alpha", 1.0)]),
        "Softmax" => activation("softmax", &[]),
        "SeparableConv2D" | "DepthwiseConv2D" => {
            // Left over from the class that Keras 2 makes them of.
            config.remove("kernel_initializer");
            config.retain(|key, value| key != "groups" || *value != json!(1));
            Ok(class)
        }
        "RandomRotation" | "RandomTranslation" => {
            // As far to one side as to the other is how ours turns and shifts.
            for factor in ["factor", "height_factor", "width_factor"] {
                if let Some(Value::Array(ends)) = config.get(factor)
                    && let [from, to] = &ends[..]
                    && from.as_f64().zip(to.as_f64()).is_some_and(|(from, to)| from == -to)
                {
                    let to = to.clone();
                    config.insert(factor.into(), to);
                }
            }
            Ok(class)
        }
        "Conv1D" | "MaxPooling1D" | "AveragePooling1D" => {
            // Keras writes a list of one.
            for key in ["kernel_size", "pool_size", "strides", "dilation_rate"] {
                if let Some(Value::Array(list)) = config.get(key)
                    && let [one] = &list[..]
                {
                    let one = one.clone();
                    config.insert(key.into(), one);
                }
            }
            Ok(class)
        }
        "Reshape" => {
            if let (Some(target), [input]) = (config.get_mut("target_shape"), inputs) {
                complete(target, input)?;
            }
            Ok(class)
        }
        _ => Ok(class),
    }
}

/// What a layer reads in both directions, as a run file has it. Keras 3 writes both of them out.
fn inner_layer(
    config: &mut Map<String, Value>,
    inputs: &[&[usize]],
    old: bool,
) -> Result<(), String> {
    let made = |inner: &Value, backward: bool| {
        let class = inner.get("class_name").and_then(Value::as_str).unwrap_or_default();
        let arguments = inner.get("config").and_then(Value::as_object);
        let (Some(arguments), "GRU" | "LSTM") = (arguments, class) else {
            return Err(only("layer", &json!(class), "GRU or LSTM"));
        };
        let mut arguments = arguments.clone();
        // In both directions masked steps give zeros, and so they do here.
        arguments.remove("zero_output_for_mask");
        if backward && arguments.get("go_backwards") == Some(&json!(true)) {
            arguments.insert("go_backwards".into(), json!(false));
        }
        Ok(read(class, &arguments, inputs, old)?.layer)
    };
    let forward = made(config.get("layer").unwrap_or(&Value::Null), false)?;
    match config.remove("backward_layer") {
        None | Some(Value::Null) => {}
        Some(other) if made(&other, true)? == forward => {}
        Some(other) => return Err(only("backward_layer", &other, "the same as `layer`")),
    }
    let layer = serde_json::to_value(&forward).map_err(|error| error.to_string())?;
    config.insert("layer".into(), layer);
    Ok(())
}

/// Fills in the one side of a target shape that may be left open.
fn complete(target: &mut Value, input: &[usize]) -> Result<(), String> {
    let Value::Array(sides) = target else { return Ok(()) };
    let is_open = |side: &Value| side.as_i64() == Some(-1);
    if sides.iter().filter(|side| is_open(side)).count() != 1 {
        return Ok(());
    }
    let known = sides
        .iter()
        .filter(|side| !is_open(side))
        .try_fold(1u64, |product, side| side.as_u64().and_then(|side| product.checked_mul(side)));
    let all = elements(input).map(|all| all as u64);
    match (all, known) {
        (Some(all), Some(known)) if known > 0 && all % known == 0 => {
            sides
                .iter_mut()
                .filter(|side| is_open(side))
                .for_each(|side| *side = json!(all / known));
            Ok(())
        }
        _ => Err(format!("{input:?} does not divide into {}", words::shown(&json!(sides)))),
    }
}

/// Takes out what changes nothing, and refuses what would. `last` is the input's last axis.
fn check_rest(config: &mut Map<String, Value>, last: usize) -> Result<(), String> {
    config.retain(|key, value| !value.is_null() && !IGNORED.contains(&key.as_str()));
    if let Some(axis) = config.remove("axis") {
        let found = match axis.as_array().map(Vec::as_slice) {
            Some([only]) => only.as_i64(),
            _ => axis.as_i64(),
        };
        if found != Some(-1) && found != Some(last as i64) {
            return Err(only("axis", &axis, "-1, the last,"));
        }
    }
    for (key, values) in HARMLESS {
        if let Some(value) = config.remove(*key)
            && !values.contains(&value.to_string().as_str())
        {
            return Err(only(key, &value, values[0]));
        }
    }
    Ok(())
}

fn near(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| value as f32 == wanted as f32)
}

fn only(key: &str, found: &Value, supported: &str) -> String {
    format!("`{key}` is {}; only {supported} is supported", words::shown(found))
}

/// What the reader of run files says, in words for a file of Keras.
fn refusal(told: &str) -> String {
    if told.starts_with("unknown variant") && told.contains("`Dense`") {
        return format!("layers of this class are not supported; supported are {}", supported());
    }
    told.replace("unknown field", "its argument is not supported:")
        .replace("expected one of", "supported are")
        .replace("unknown variant", "not supported:")
        .chars()
        .take(400)
        .collect()
}

/// Every class we read. The reader of run files knows its own best.
pub(super) fn supported() -> String {
    let none = serde_json::from_value::<Layer>(json!({"": {}}));
    let told = none.err().map_or(String::new(), |error| error.to_string());
    let ours = told.split_once("expected one of ").map_or("", |(_, list)| list).replace('`', "");
    format!("{}, ReLU, LeakyReLU, ELU, Softmax", ours.replacen("Input,", "InputLayer,", 1))
}

/// A layer's class and configuration for Keras. What is not written is as Keras has it by default.
pub(super) fn write(name: &str, layer: &Layer) -> serde_json::Result<(&'static str, Value)> {
    let (class, _) = class_and_stem(layer);
    let mut config = match serde_json::to_value(layer)? {
        Value::Object(one) => match one.into_iter().next() {
            Some((_, Value::Object(arguments))) => arguments,
            _ => Map::new(),
        },
        _ => Map::new(),
    };
    for (key, value) in &mut config {
        if key.ends_with("_initializer") {
            *value = words::initializer_object(value);
        }
    }
    if let Layer::Bidirectional(both) = layer {
        let one = match both.layer.clone() {
            spec::Recurrent::Gru(gru) => Layer::Gru(gru),
            spec::Recurrent::Lstm(lstm) => Layer::Lstm(lstm),
        };
        let (class, inner) = write(class_and_stem(&one).1, &one)?;
        let inner = json!({"module": "keras.layers", "class_name": class, "config": inner, "registered_name": null});
        config.insert("layer".into(), inner);
    }
    if let Layer::Input(input) = layer {
        config.remove("shape");
        config.insert("batch_input_shape".into(), batch_shape(&input.shape));
    } else {
        config.entry("trainable").or_insert(json!(true));
    }
    config.insert("name".into(), json!(name));
    config.insert("dtype".into(), json!("float32"));
    Ok((class, Value::Object(config)))
}

/// A shape with the batch, whose size is open.
pub(super) fn batch_shape(shape: &[usize]) -> Value {
    let sides = shape.iter().map(|side| json!(side));
    Value::Array(std::iter::once(Value::Null).chain(sides).collect())
}
