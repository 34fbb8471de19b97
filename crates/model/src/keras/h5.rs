//! `.h5`: the configuration as an attribute, and a group for each layer's weights.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use hdf5_pure::{AttrValue, FileBuilder, Group, GroupBuilder};
use serde_json::Value;

use super::hdf5::{self, Attributes};
use super::order::keras_order;
use super::{VERSION, archive, config, extras, training};
use crate::safetensors::{CARD, GRAPH, shortened};
use crate::{FileProblem, Graph, Model, Weight};

/// Reads a whole model.
pub(crate) fn read(bytes: Vec<u8>) -> Result<Model, FileProblem> {
    let size = bytes.len();
    let file = hdf5::open(bytes)?;
    let about = Attributes::of(&file.root())?;
    let text = about.text("model_config").ok_or_else(|| {
        FileProblem::NotAModel(
            "it is an HDF5 file without model_config, so its layers are unknown; `trainyard convert --onto MODEL` puts \
             weights onto a model's layers"
                .into(),
        )
    })?;
    let value: Value = serde_json::from_str(text)
        .map_err(|error| FileProblem::Damaged(format!("its model_config: {error}")))?;
    let old = !about.text("keras_version").unwrap_or("2").starts_with('3');
    let config = config::read(&value, old)?;
    let (graph, card) = extras::read(&config, about.text(GRAPH), about.text(CARD))?;
    let group = file.group("model_weights").map_err(hdf5::damaged("its model_weights"))?;
    let weights = read_weights(&group, &graph, size)?;
    Model::checked(graph, weights, card)
}

/// Reads weights for layers that are known: of a whole model, or of what `save_weights` of Keras 2 or 3 wrote.
pub(crate) fn read_alone(bytes: Vec<u8>, graph: &Graph) -> Result<Vec<f32>, FileProblem> {
    let size = bytes.len();
    let file = hdf5::open(bytes)?;
    let root = file.root();
    if let Ok(group) = file.group("model_weights") {
        return read_weights(&group, graph, size);
    }
    if Attributes::of(&root)?.names("layer_names").is_some() {
        return read_weights(&root, graph, size);
    }
    archive::read_alone(&file, graph, size)
}

/// The weights in a group that has one group for each layer.
fn read_weights(group: &Group, graph: &Graph, size: usize) -> Result<Vec<f32>, FileProblem> {
    let mut weights = hdf5::arena(graph.parameter_count(), size)?;
    let names = Attributes::of(group)?
        .names("layer_names")
        .ok_or_else(|| FileProblem::Damaged("its weights have no layer_names".into()))?;
    let groups = groups(group, graph, &names)?;
    for (number, node) in graph.nodes().iter().enumerate() {
        let wanted = graph.weights_of(number);
        if wanted.is_empty() {
            continue;
        }
        let layer = &node.name;
        let Some(found) = groups.get(layer.as_str()) else {
            return Err(FileProblem::Damaged(format!("it has no weights for layer `{layer}`")));
        };
        let own = group
            .group(found)
            .map_err(hdf5::damaged(&format!("the weights of layer `{layer}`")))?;
        let paths = Attributes::of(&own)?.names("weight_names").unwrap_or_default();
        if paths.len() != wanted.len() {
            return Err(FileProblem::Damaged(format!(
                "layer `{layer}` has {} weights, and needs {}: {}",
                paths.len(),
                wanted.len(),
                shortened(&paths.join(", "))
            )));
        }
        for (weight, path) in wanted.iter().zip(&paths) {
            let place = &mut weights[weight.range.clone()];
            hdf5::read_weight(&own, path, (&weight.name, &weight.shape), place)?;
        }
    }
    Ok(weights)
}

/// Which group has the weights of which layer: the one of its name. Where layers were named anew they are
/// matched as Keras does it, in order.
fn groups<'a>(
    group: &Group,
    graph: &'a Graph,
    names: &'a [String],
) -> Result<HashMap<&'a str, &'a str>, FileProblem> {
    let listed: HashSet<&str> = names.iter().map(String::as_str).collect();
    let heavy =
        keras_order(graph).into_iter().filter(|&number| !graph.weights_of(number).is_empty());
    let wanted: Vec<&str> = heavy.map(|number| graph.nodes()[number].name.as_str()).collect();
    if wanted.iter().all(|name| listed.contains(name)) {
        return Ok(wanted.into_iter().map(|name| (name, name)).collect());
    }
    let mut found = vec![];
    for name in names.iter().take(MAX_LAYERS) {
        let own = group.group(name).map_err(hdf5::damaged(&shortened(name)))?;
        if Attributes::of(&own)?.names("weight_names").is_some_and(|names| !names.is_empty()) {
            found.push(name.as_str());
        }
    }
    match found.len() == wanted.len() {
        true => Ok(wanted.into_iter().zip(found).collect()),
        false => Err(FileProblem::Damaged(format!(
            "it has weights for {} layers, and {} layers have weights: {}",
            found.len(),
            wanted.len(),
            shortened(&wanted.join(", "))
        ))),
    }
}

/// The most layers whose weights are looked for by order.
const MAX_LAYERS: usize = 10_000;

/// Writes a model so that Keras 2 and 3 load it, with the optimizer where the card knows one.
pub(crate) fn write(model: &Model, out: impl Write) -> io::Result<()> {
    let (config, order) = config::write(&model.card.name, &model.graph)?;
    let mut file = FileBuilder::new();
    let text = |text: String| AttrValue::VarLenString(text);
    file.set_attr("keras_version", text(VERSION.into()));
    file.set_attr("backend", text("tensorflow".into()));
    file.set_attr("model_config", text(serde_json::to_string(&config)?));
    if let Some(trained) = &model.card.trained {
        file.set_attr("training_config", text(serde_json::to_string(&training::legacy(trained))?));
    }
    for (name, value) in model.texts()? {
        file.set_attr(name, text(value));
    }
    let mut all = file.create_group("model_weights");
    all.set_attr("keras_version", text(VERSION.into()));
    all.set_attr("backend", text("tensorflow".into()));
    let nodes = model.graph.nodes();
    hdf5::set_names(
        &mut all,
        "layer_names",
        order.iter().map(|&n| nodes[n].name.clone()).collect(),
    );
    for number in order {
        let name = &nodes[number].name;
        let weights = model.graph.weights_of(number);
        let mut layer = all.create_group(name);
        let names = weights.iter().map(|weight| format!("{}:0", weight.name)).collect();
        hdf5::set_names(&mut layer, "weight_names", names);
        let mut inner = layer.create_group(name);
        for weights in weights.chunk_by(|a, b| folder(a) == folder(b)) {
            match folder(&weights[0]) {
                None => fill(&mut inner, model, weights),
                Some(folder) => {
                    let mut own = inner.create_group(folder);
                    fill(&mut own, model, weights);
                    inner.add_group(own.finish());
                }
            }
        }
        if !weights.is_empty() {
            layer.add_group(inner.finish());
        }
        all.add_group(layer.finish());
    }
    file.add_group(all.finish());
    file.finish_to(out).map_err(io::Error::other)
}

/// The middle of `bidirectional/forward_gru/kernel`, where there is one.
fn folder(weight: &Weight) -> Option<&str> {
    let (path, _) = weight.name.rsplit_once('/')?;
    path.split_once('/').map(|(_, folder)| folder)
}

fn fill(group: &mut GroupBuilder, model: &Model, weights: &[Weight]) {
    for weight in weights {
        let suffix = weight.name.rsplit('/').next().unwrap_or_default();
        let values = &model.weights[weight.range.clone()];
        hdf5::write_weight(group, &format!("{suffix}:0"), &weight.shape, values);
    }
}
