//! `.keras`: a zip of `metadata.json`, `config.json` and `model.weights.h5`.

use std::collections::HashMap;
use std::io::{self, Write};

use hdf5_pure::{File, FileBuilder, GroupBuilder};
use serde_json::{Value, json};
use spec::Layer;

use super::{MAX_JSON, VERSION, config, extras, hdf5, training};
use crate::safetensors::{CARD, GRAPH};
use crate::zipped::{Zipped, Zipper};
use crate::{FileProblem, Graph, Model};

const METADATA: &str = "metadata.json";
const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.weights.h5";

/// The most entries of an archive. Keras writes three, and one for each vocabulary.
const MAX_ENTRIES: usize = 1000;

/// Where the weights of layers lie in the file of weights, newest first.
const FOLDERS: [&str; 2] = ["layers", "_layer_checkpoint_dependencies"];

/// The groups of a layer that hold its weights, in the order of ours. Each has as many.
fn parts(layer: &Layer) -> &'static [&'static str] {
    match layer {
        Layer::Gru(_) | Layer::Lstm(_) => &["cell/vars"],
        Layer::Bidirectional(_) => &["forward_layer/cell/vars", "backward_layer/cell/vars"],
        _ => &["vars"],
    }
}

/// Reads a model.
pub(crate) fn read(bytes: Vec<u8>) -> Result<Model, FileProblem> {
    let mut zip = Zipped::open(&bytes, MAX_ENTRIES)?;
    let mut text = |name| zip.text(name, MAX_JSON as u64);
    let metadata = text(METADATA)?.unwrap_or_default();
    let metadata: Value = serde_json::from_str(&metadata).unwrap_or_default();
    let version = metadata.get("keras_version").and_then(Value::as_str).unwrap_or("3");
    let config = text(CONFIG)?
        .ok_or_else(|| FileProblem::Damaged(format!("the archive has no {CONFIG}")))?;
    let value: Value = serde_json::from_str(&config)
        .map_err(|error| FileProblem::Damaged(format!("its {CONFIG}: {error}")))?;
    let config = config::read(&value, !version.starts_with('3'))?;
    let (graph, card) = (text(GRAPH)?, text(CARD)?);
    let (graph, card) = extras::read(&config, graph.as_deref(), card.as_deref())?;
    let inner = zip
        .entry(WEIGHTS, u64::MAX)?
        .ok_or_else(|| FileProblem::Damaged(format!("the archive has no {WEIGHTS}")))?;
    // Weights are placed by the configuration, whatever order our own layers have.
    let named = config.graph.nodes().iter().zip(&config.places);
    let named: HashMap<&str, &str> =
        named.map(|(node, place)| (&node.name[..], &place[..])).collect();
    let places: Vec<&str> =
        graph.nodes().iter().map(|node| named.get(&node.name[..]).copied().unwrap_or("")).collect();
    let size = inner.len();
    let weights = read_weights((&hdf5::open(inner)?, size), &graph, &places)?;
    Model::checked(graph, weights, card)
}

/// Reads the weights of a file that Keras 3's `save_weights` wrote.
pub(super) fn read_alone(file: &File, graph: &Graph, size: usize) -> Result<Vec<f32>, FileProblem> {
    let (config, order) = config::write("", graph).map_err(io::Error::other)?;
    let mut places = vec![String::new(); graph.nodes().len()];
    for (number, place) in order.into_iter().zip(config::places(&config)) {
        places[number] = place;
    }
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    read_weights((file, size), graph, &places)
}

fn read_weights(
    (file, size): (&File, usize),
    graph: &Graph,
    places: &[&str],
) -> Result<Vec<f32>, FileProblem> {
    let mut weights = hdf5::arena(graph.parameter_count(), size)?;
    let all = FOLDERS.iter().find_map(|folder| file.group(folder).ok());
    for (number, node) in graph.nodes().iter().enumerate() {
        let mut wanted = graph.weights_of(number).iter();
        if wanted.len() == 0 {
            continue;
        }
        let missing = |path: &str| {
            let layer = &node.name;
            FileProblem::Damaged(format!("its weights have no {path} for layer `{layer}`"))
        };
        let all = all.as_ref().ok_or_else(|| missing(FOLDERS[0]))?;
        let parts = parts(&node.layer);
        let each = wanted.len().div_ceil(parts.len());
        for part in parts {
            let path = format!("{}/{part}", places[number]);
            let group = all.group(&path).map_err(|_| missing(&path))?;
            for (at, weight) in wanted.by_ref().take(each).enumerate() {
                let place = &mut weights[weight.range.clone()];
                hdf5::read_weight(&group, &at.to_string(), (&weight.name, &weight.shape), place)?;
            }
            if group.datasets().is_ok_and(|found| found.len() > each) {
                return Err(FileProblem::Damaged(format!(
                    "layer `{}` has more weights in {path} than the {each} it needs",
                    node.name
                )));
            }
        }
    }
    Ok(weights)
}

/// Writes a model.
pub(crate) fn write(model: &Model, out: impl Write) -> io::Result<()> {
    let (mut config, order) = config::write(&model.card.name, &model.graph)?;
    config["build_config"] =
        json!({"input_shape": super::layers::batch_shape(model.graph.input_shape())});
    if config["class_name"] == "Functional" {
        // Its public name, by which Keras 2 and 3 find it alike.
        config["class_name"] = json!("Model");
    }
    if let Some(trained) = &model.card.trained {
        config["compile_config"] = training::compile(trained);
    }
    let metadata = json!({"keras_version": VERSION, "date_saved": "1980-01-01@00:00:00"});
    let weights = weights_file(model, &order, &config).finish().map_err(io::Error::other)?;
    let mut zip = Zipper::new(out);
    let mut add = |name: &str, bytes: &[u8]| zip.add(name, &[bytes]);
    add(METADATA, metadata.to_string().as_bytes())?;
    add(CONFIG, config.to_string().as_bytes())?;
    add(WEIGHTS, &weights)?;
    for (name, value) in model.texts()? {
        add(name, value.as_bytes())?;
    }
    zip.finish()
}

/// The file of weights: a group for each layer, called as Keras will count them.
fn weights_file(model: &Model, order: &[usize], config: &Value) -> FileBuilder {
    let graph = &model.graph;
    let places = config::places(config);
    let mut file = FileBuilder::new();
    let mut all = file.create_group(FOLDERS[0]);
    for (&number, place) in order.iter().zip(&places) {
        let weights = graph.weights_of(number);
        let mut layer = all.create_group(place);
        let parts = parts(&graph.nodes()[number].layer);
        for (part, weights) in
            parts.iter().zip(weights.chunks(weights.len().div_ceil(parts.len()).max(1)))
        {
            fill(&mut layer, part, model, weights);
        }
        all.add_group(layer.finish());
    }
    file.add_group(all.finish());
    // The model's own weights, of which there are none; Keras 2 wants to be told.
    let own = file.create_group("vars");
    file.add_group(own.finish());
    file
}

/// Puts weights into a group that may lie deep inside another.
fn fill(within: &mut GroupBuilder, path: &str, model: &Model, weights: &[crate::Weight]) {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let mut group = within.create_group(first);
    if rest.is_empty() {
        for (at, weight) in weights.iter().enumerate() {
            let values = &model.weights[weight.range.clone()];
            hdf5::write_weight(&mut group, &at.to_string(), &weight.shape, values);
        }
    } else {
        fill(&mut group, rest, model, weights);
    }
    within.add_group(group.finish());
}
