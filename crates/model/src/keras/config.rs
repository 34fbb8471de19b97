//! A network's configuration, to a [`Graph`] and back: `Sequential`, and functional networks as Keras 2
//! and Keras 3 write them.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::order::keras_order;
use super::{edges, layers, words};
use crate::layer::{elements, output_shape};
use crate::safetensors::shortened;
use crate::{FileProblem, Graph, Node};

/// What a configuration says.
pub(super) struct Config {
    /// The network's name.
    pub(super) name: String,
    pub(super) graph: Graph,
    /// For each node, where a `.keras` archive keeps its weights.
    pub(super) places: Vec<String>,
    /// Initializers that we do not have, each with its layer.
    pub(super) unknown: Vec<String>,
}

/// One layer as the file has it.
struct Entry<'a> {
    name: &'a str,
    class: &'a str,
    config: &'a Map<String, Value>,
    reads: Vec<String>,
}

/// Reads a configuration. `old` is Keras before 3.
pub(super) fn read(value: &Value, old: bool) -> Result<Config, FileProblem> {
    let class = value.get("class_name").and_then(Value::as_str).unwrap_or_default();
    let config = value.get("config").unwrap_or(&Value::Null);
    let listed = match config {
        // Keras 2.1 had the layers of a Sequential alone.
        Value::Array(layers) => layers,
        _ => config.get("layers").and_then(Value::as_array).ok_or_else(|| {
            FileProblem::Damaged("its configuration has no list of layers".into())
        })?,
    };
    let mut input = None;
    let entries = match class {
        "Sequential" => {
            let entries = sequential(listed)?;
            input = open_input(config, &entries)?;
            entries
        }
        "Functional" | "Model" => functional(listed)?,
        other => {
            return Err(FileProblem::Unsupported(format!(
                "it is a model of class `{}`; supported are Sequential and Functional models, made of {}",
                shortened(other),
                layers::supported()
            )));
        }
    };
    let name = config.get("name").and_then(Value::as_str).unwrap_or("model");
    let made = build(&entries, input, old)?;
    check_ends(config, &made.graph)?;
    Ok(Config { name: shortened(name), ..made })
}

fn entry(value: &Value) -> Result<Entry<'_>, FileProblem> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let class = text("class_name");
    let (Some(class), Some(Value::Object(config))) = (class, value.get("config")) else {
        return Err(FileProblem::Damaged("a layer in its configuration has no class".into()));
    };
    let name = config.get("name").and_then(Value::as_str).or(text("name")).unwrap_or_default();
    let entry = Entry { name, class, config, reads: vec![] };
    // A class of somebody's own may be called like one of Keras'.
    let module = text("module").unwrap_or("keras.layers");
    let ours =
        ["keras", "tf_keras", "tensorflow"].contains(&module.split('.').next().unwrap_or(""));
    let registered = text("registered_name").unwrap_or(class);
    if !ours || registered != class {
        let registered = shortened(registered);
        let problem = format!(
            "`{registered}` is a class of its author's own, whose code is not in the file and would never be run; \
             supported are {}",
            layers::supported()
        );
        return Err(refused(&entry, &problem));
    }
    Ok(entry)
}

/// Each layer reads the one before.
fn sequential(listed: &[Value]) -> Result<Vec<Entry<'_>>, FileProblem> {
    let mut entries: Vec<Entry<'_>> = listed.iter().map(entry).collect::<Result<_, _>>()?;
    for at in 1..entries.len() {
        entries[at].reads = vec![entries[at - 1].name.to_owned()];
    }
    Ok(entries)
}

/// The shape of the input of a Sequential that does not begin with an `InputLayer`.
fn open_input(config: &Value, entries: &[Entry<'_>]) -> Result<Option<Vec<usize>>, FileProblem> {
    let Some(first) = entries.first().filter(|first| first.class != "InputLayer") else {
        return Ok(None);
    };
    let own = ["batch_input_shape", "batch_shape"].iter().find_map(|key| first.config.get(*key));
    match own.or(config.get("build_input_shape")).filter(|shape| !shape.is_null()) {
        Some(shape) => sample(shape).map(Some).map_err(|problem| refused(first, &problem)),
        None => Err(refused(
            first,
            "it is the first layer, and the file does not say the input's shape",
        )),
    }
}

fn functional(listed: &[Value]) -> Result<Vec<Entry<'_>>, FileProblem> {
    let one = |value| {
        let mut entry = entry(value)?;
        let inbound = value.get("inbound_nodes").unwrap_or(&Value::Null);
        entry.reads = edges::read(inbound).map_err(|problem| refused(&entry, &problem))?;
        Ok(entry)
    };
    listed.iter().map(one).collect()
}

/// Makes nodes of the layers, each after what it reads.
fn build(
    entries: &[Entry<'_>],
    input: Option<Vec<usize>>,
    old: bool,
) -> Result<Config, FileProblem> {
    let mut nodes: Vec<Node> = vec![];
    let mut shapes: Vec<Vec<usize>> = vec![];
    let (mut places, mut unknown) = (vec![], vec![]);
    if let Some(shape) = input {
        let layer = spec::Layer::Input(spec::Input { shape: shape.clone() });
        nodes.push(Node { name: "input".into(), layer, inputs: vec![] });
        (shapes, places) = (vec![shape], vec![String::new()]);
    }
    let given = nodes.len();
    let named = vars(entries);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for at in sorted(entries)? {
        let entry = &entries[at];
        let reads = entry.reads.iter().map(|name| numbers[name.as_str()]);
        let inputs = match given > 0 && entry.reads.is_empty() {
            true => vec![0],
            false => reads.collect(),
        };
        let before: Vec<&[usize]> = inputs.iter().map(|&input| &shapes[input][..]).collect();
        let made = layer(entry, &before, old).map_err(|problem| refused(entry, &problem))?;
        let shape =
            output_shape(&made.layer, &before).map_err(|problem| refused(entry, &problem))?;
        // The next layer counts on it.
        if shape.is_empty() || elements(&shape).is_none() {
            return Err(refused(entry, "its output is empty or too large"));
        }
        unknown.extend(made.unknown.into_iter().map(|start| format!("{}: {start}", entry.name)));
        numbers.insert(entry.name, nodes.len());
        nodes.push(Node { name: entry.name.to_owned(), layer: made.layer, inputs });
        shapes.push(shape);
        places.push(named[at].clone());
    }
    Ok(Config { name: String::new(), graph: Graph::new(nodes)?, places, unknown })
}

fn layer(entry: &Entry<'_>, inputs: &[&[usize]], old: bool) -> Result<layers::Made, String> {
    if entry.class == "InputLayer" {
        let shape =
            ["batch_shape", "batch_input_shape"].iter().find_map(|key| entry.config.get(*key));
        words::dtype(entry.config.get("dtype").unwrap_or(&Value::Null), true)?;
        let shape = sample(shape.unwrap_or(&Value::Null))?;
        return Ok(layers::Made {
            layer: spec::Layer::Input(spec::Input { shape }),
            unknown: vec![],
        });
    }
    layers::read(entry.class, entry.config, inputs, old)
}

/// The shape of a sample: all sides but that of the batch.
fn sample(shape: &Value) -> Result<Vec<usize>, String> {
    let sides = shape.as_array().and_then(|sides| sides.split_first());
    let whole = |side: &Value| side.as_u64().and_then(|side| usize::try_from(side).ok());
    let sides = sides.map(|(_, sides)| sides.iter().map(whole).collect::<Option<Vec<usize>>>());
    let shown = words::shown(shape);
    let sides = sides.flatten().ok_or_else(|| {
        format!("the input's shape is {shown}; every side but the first must be a number")
    })?;
    match sides.is_empty() || elements(&sides).is_none() {
        true => Err(format!("the input's shape {shown} is empty or too large")),
        false => Ok(sides),
    }
}

/// Each layer after what it reads, otherwise in the file's order.
fn sorted(entries: &[Entry<'_>]) -> Result<Vec<usize>, FileProblem> {
    let numbers: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.name, at)).collect();
    if let Some(entry) = entries.iter().enumerate().find(|(at, entry)| numbers[entry.name] != *at) {
        return Err(refused(entry.1, "another layer has this name"));
    }
    let mut waiting = vec![0; entries.len()];
    let mut readers = vec![vec![]; entries.len()];
    for (at, entry) in entries.iter().enumerate() {
        for name in &entry.reads {
            let Some(&read) = numbers.get(name.as_str()) else {
                return Err(refused(
                    entry,
                    &format!("it reads `{}`, which is not there", shortened(name)),
                ));
            };
            waiting[at] += 1;
            readers[read].push(at);
        }
    }
    let mut ready: BTreeSet<usize> = (0..entries.len()).filter(|&at| waiting[at] == 0).collect();
    let mut order = vec![];
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for &reader in &readers[at] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.insert(reader);
            }
        }
    }
    match (0..entries.len()).find(|&at| waiting[at] > 0) {
        Some(at) => Err(refused(&entries[at], "it reads its own output")),
        None => Ok(order),
    }
}

/// What an archive calls each layer: its class in snake case, numbered in the file's order.
fn vars(entries: &[Entry<'_>]) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut unique = |entry: &Entry<'_>| {
        let stem = words::snake(entry.class);
        let count = seen.entry(stem.clone()).or_default();
        *count += 1;
        if *count == 1 { stem } else { format!("{stem}_{}", *count - 1) }
    };
    entries.iter().map(&mut unique).collect()
}

/// There is one input, and the output is the last layer.
fn check_ends(config: &Value, graph: &Graph) -> Result<(), FileProblem> {
    for (key, node) in
        [("input_layers", graph.nodes().first()), ("output_layers", graph.nodes().last())]
    {
        let Some(places) = config.get(key) else { continue };
        // Keras 2 has a list of places, Keras 3 a place alone where there is but one.
        let place = match places.as_array().map(Vec::as_slice) {
            Some([one @ Value::Array(_)]) => one,
            Some([Value::Array(_), ..]) => {
                let problem = format!(
                    "it has several {key}; networks of one input and one output are supported"
                );
                return Err(FileProblem::Unsupported(problem));
            }
            _ => places,
        };
        let name = edges::first_output(place).map_err(FileProblem::Damaged)?;
        if node.is_none_or(|node| node.name != name) {
            let problem =
                format!("its {key} `{}` is not at the end of its layers", shortened(&name));
            return Err(FileProblem::Unsupported(problem));
        }
    }
    Ok(())
}

fn refused(entry: &Entry<'_>, problem: &str) -> FileProblem {
    let (name, class) = (shortened(entry.name), shortened(entry.class));
    FileProblem::Unsupported(format!("layer `{name}` ({class}): {problem}"))
}

/// A graph as Keras' configuration, in the form that both Keras 2 and 3 read, and the numbers of the
/// nodes in the order of its layers.
pub(super) fn write(name: &str, graph: &Graph) -> serde_json::Result<(Value, Vec<usize>)> {
    let nodes = graph.nodes();
    let chain = nodes.iter().enumerate().all(|(number, node)| match number.checked_sub(1) {
        Some(before) => node.inputs == [before],
        None => node.inputs.is_empty(),
    });
    let order = keras_order(graph);
    let layer = |&number: &usize| {
        let node = &nodes[number];
        let (class, config) = layers::write(&node.name, &node.layer)?;
        let mut layer = json!({
            "module": "keras.layers", "class_name": class, "config": config, "registered_name": null
        });
        if !chain {
            let links: Vec<Value> =
                node.inputs.iter().map(|&read| json!([nodes[read].name, 0, 0, {}])).collect();
            layer["name"] = json!(node.name);
            layer["inbound_nodes"] = if links.is_empty() { json!([]) } else { json!([links]) };
        }
        Ok(layer)
    };
    let layers: Vec<Value> = order.iter().map(layer).collect::<serde_json::Result<_>>()?;
    let mut config = json!({"name": name, "trainable": true, "layers": layers});
    let class = if chain { "Sequential" } else { "Functional" };
    if !chain {
        let place = |node: Option<&Node>| json!([[node.map(|node| &node.name), 0, 0]]);
        config["input_layers"] = place(nodes.first());
        config["output_layers"] = place(nodes.last());
    }
    let value =
        json!({"module": "keras", "class_name": class, "config": config, "registered_name": null});
    Ok((value, order))
}

/// Where an archive keeps the weights of each layer of a configuration that we wrote.
pub(super) fn places(value: &Value) -> Vec<String> {
    let listed = value["config"]["layers"].as_array();
    let entries: Vec<Entry<'_>> =
        listed.into_iter().flatten().filter_map(|one| entry(one).ok()).collect();
    vars(&entries)
}
