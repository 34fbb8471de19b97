//! `.npz`: one array for each weight, and the layers and the card as arrays of bytes, so that numpy reads
//! the weights by name and we get the model back.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::hash::for_each_block;
use crate::npy::{self, Array, Values};
use crate::safetensors::{CARD, GRAPH, card_of, shortened};
use crate::zipped::{Zipped, Zipper};
use crate::{FileProblem, Graph, Model};

/// More arrays than any network has weights.
const MAX_ARRAYS: usize = 30_000;

type Arrays = HashMap<String, Array>;

/// Reads a model that we wrote.
pub(crate) fn read(bytes: &[u8]) -> Result<Model, FileProblem> {
    let arrays = arrays(bytes)?;
    let text = |name: &str| match arrays.get(name).map(|array| &array.values) {
        Some(Values::Bytes(bytes)) => std::str::from_utf8(bytes)
            .map_err(|_| FileProblem::Damaged(format!("its {name} is not text"))),
        _ => Err(FileProblem::NotAModel(format!(
            "it is npz data without {name}, so its layers are unknown; `trainyard convert --onto MODEL` puts arrays of \
             weights onto a model's layers"
        ))),
    };
    let graph: Graph = serde_json::from_str(text(GRAPH)?)
        .map_err(|error| FileProblem::Damaged(format!("its layers: {error}")))?;
    let card = card_of(text(CARD)?, &graph)?;
    let weights = by_name(&arrays, &graph)?;
    Model::checked(graph, weights, card)
}

/// Weights for a graph: arrays by name, or `arr_0`, `arr_1`, … as `numpy.savez(file, *model.get_weights())`
/// calls them, in the order that `order` gives the nodes.
pub(crate) fn read_onto(
    bytes: &[u8],
    graph: &Graph,
    order: &[usize],
) -> Result<Vec<f32>, FileProblem> {
    let arrays = arrays(bytes)?;
    let named = graph.weights().iter().all(|weight| arrays.contains_key(&weight.name));
    if named || !arrays.contains_key("arr_0") {
        return by_name(&arrays, graph);
    }
    let mut weights = arena(&arrays, graph)?;
    let all = order.iter().flat_map(|&node| graph.weights_of(node));
    for (number, weight) in all.enumerate() {
        let name = format!("arr_{number}");
        copy(&arrays, (&name, &weight.shape), &mut weights[weight.range.clone()])?;
    }
    Ok(weights)
}

fn arrays(bytes: &[u8]) -> Result<Arrays, FileProblem> {
    let mut zip = Zipped::open(bytes, MAX_ARRAYS)?;
    let mut arrays = Arrays::new();
    for entry in zip.names() {
        let (Some(name), Some(bytes)) = (entry.strip_suffix(".npy"), zip.entry(&entry, u64::MAX)?)
        else {
            continue;
        };
        let array = npy::read(&bytes);
        let named =
            |problem| FileProblem::Damaged(format!("its array {}: {problem}", shortened(name)));
        arrays.insert(name.to_owned(), array.map_err(named)?);
    }
    Ok(arrays)
}

fn by_name(arrays: &Arrays, graph: &Graph) -> Result<Vec<f32>, FileProblem> {
    let mut weights = arena(arrays, graph)?;
    for weight in graph.weights() {
        copy(arrays, (&weight.name, &weight.shape), &mut weights[weight.range.clone()])?;
    }
    Ok(weights)
}

/// Room for the weights, if there are as many numbers in the file.
fn arena(arrays: &Arrays, graph: &Graph) -> Result<Vec<f32>, FileProblem> {
    let there: usize = arrays.values().map(|array| array.shape.iter().product::<usize>()).sum();
    match graph.parameter_count() {
        needed if needed > there => Err(FileProblem::Damaged(format!(
            "its layers have {needed} weights, and it holds {there} numbers"
        ))),
        needed => Ok(vec![0.0; needed]),
    }
}

fn copy(
    arrays: &Arrays,
    (name, shape): (&str, &[usize]),
    place: &mut [f32],
) -> Result<(), FileProblem> {
    let damaged = |problem: String| Err(FileProblem::Damaged(problem));
    match arrays.get(name) {
        None => damaged(format!("it has no array {name}")),
        Some(array) if array.shape != shape => damaged(format!(
            "{name} has the shape {:?}, and its layer needs {shape:?}",
            array.shape
        )),
        Some(Array { values: Values::Floats(values), .. }) if values.len() == place.len() => {
            place.copy_from_slice(values);
            Ok(())
        }
        Some(_) => damaged(format!("{name} is not of floats")),
    }
}

/// Writes a model.
pub(crate) fn write(model: &Model, out: impl Write) -> io::Result<()> {
    let mut zip = Zipper::new(out);
    for weight in model.graph.weights() {
        let mut bytes = vec![];
        for_each_block(&model.weights[weight.range.clone()], |block| {
            bytes.extend_from_slice(block);
            io::Result::Ok(())
        })?;
        zip.add(&format!("{}.npy", weight.name), &[&npy::header("<f4", &weight.shape), &bytes])?;
    }
    for (name, text) in model.texts()? {
        zip.add(&format!("{name}.npy"), &[&npy::header("|u1", &[text.len()]), text.as_bytes()])?;
    }
    zip.finish()
}
