//! `.npz`: one array for each weight, and the layers and the card as arrays of bytes, so that numpy reads
//! the weights by name and we get the model back.

use std::collections::HashMap;
use std::io::{self, Cursor, Write};

use data::npz::{self, Array, Limits};
use data::{Values, View};

use crate::safetensors::{CARD, GRAPH, card_of, shortened};
use crate::{Card, FileProblem, Graph, Model, weights_sha256};

/// More arrays than any network has weights.
const LIMITS: Limits = Limits { arrays: 30_000, header: 64 << 10, bytes: 16 << 30 };

type Arrays = HashMap<String, Array>;

/// Reads a model that we wrote.
pub(crate) fn read(bytes: &[u8]) -> Result<Model, FileProblem> {
    let arrays = arrays(bytes)?;
    let text = |name: &str| match arrays.get(name).map(|array| &array.values) {
        Some(Values::U8(bytes)) => std::str::from_utf8(bytes)
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
    let hash = weights_sha256(&weights);
    match card.weights_sha256.is_empty() || card.weights_sha256 == hash {
        true => Ok(Model { graph, weights, card }),
        false => Err(FileProblem::Damaged(format!(
            "its weights have the hash {hash}, and its card says otherwise"
        ))),
    }
}

/// Weights for a graph: arrays by name, or `arr_0`, `arr_1`, … as `numpy.savez(file, *model.get_weights())`
/// calls them, in the order that `order` gives the nodes.
pub(crate) fn read_onto(
    bytes: &[u8],
    graph: &Graph,
    order: &[usize],
) -> Result<Vec<f32>, FileProblem> {
    let arrays = arrays(bytes)?;
    if !arrays.contains_key("arr_0") {
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
    let read = npz::read(bytes, &LIMITS);
    let read = read.map_err(|error| FileProblem::Damaged(shortened(&error.to_string())))?;
    Ok(read.into_iter().collect())
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
    let there: usize = arrays.values().map(|array| array.values.len()).sum();
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
        Some(Array { values: Values::F32(values), .. }) if values.len() == place.len() => {
            place.copy_from_slice(values);
            Ok(())
        }
        Some(_) => damaged(format!("{name} is not of floats")),
    }
}

/// Writes a model.
pub(crate) fn write(model: &Model, mut out: impl Write) -> io::Result<()> {
    let card = Card { weights_sha256: weights_sha256(&model.weights), ..model.card.clone() };
    let texts =
        [(GRAPH, serde_json::to_string(&model.graph)?), (CARD, serde_json::to_string(&card)?)];
    let lengths = texts.each_ref().map(|(_, text)| [text.len()]);
    let mut arrays: Vec<(&str, &[usize], View<'_>)> = vec![];
    for weight in model.graph.weights() {
        let values = View::F32(&model.weights[weight.range.clone()]);
        arrays.push((&weight.name, &weight.shape, values));
    }
    for ((name, text), length) in texts.iter().zip(&lengths) {
        arrays.push((name, length, View::U8(text.as_bytes())));
    }
    out.write_all(npz::write(Cursor::new(Vec::new()), &arrays)?.get_ref())
}
