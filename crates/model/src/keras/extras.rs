//! What our files have beside Keras' own: layers and card, as in `.safetensors`.

use std::collections::BTreeMap;

use serde_json::json;

use super::config::Config;
use crate::safetensors::{GRAPH, card_of};
use crate::{Card, FileProblem, Graph, Node, Preprocess};

/// The graph and card of a file. Without our strings, or with one of them, the card is made from what
/// the file says: bytes are taken as they are, since Keras does that too.
pub(super) fn read(
    config: &Config,
    graph: Option<&str>,
    card: Option<&str>,
) -> Result<(Graph, Card), FileProblem> {
    let (Some(graph), Some(card)) = (graph, card) else {
        let input = Preprocess::numbers(config.graph.input_shape().to_vec(), 1.0);
        let mut card = Card::new(&config.name, "layers", input);
        if !config.unknown.is_empty() {
            card.more.insert(UNKNOWN_INITIALIZERS.into(), json!(config.unknown));
        }
        return Ok((config.graph.clone(), card));
    };
    let graph: Graph = serde_json::from_str(graph)
        .map_err(|error| FileProblem::Damaged(format!("its {GRAPH}: {error}")))?;
    if by_name(&graph) != by_name(&config.graph) {
        return Err(FileProblem::Damaged(format!(
            "its {GRAPH} are not the layers that Keras reads"
        )));
    }
    let card = card_of(card, &graph)?;
    Ok((graph, card))
}

/// The key of the card under which initializers stand that we do not have.
pub(crate) const UNKNOWN_INITIALIZERS: &str = "unknown_initializers";

/// The layers, whatever their order: by name, with the names of what they read.
fn by_name<'a>(graph: &'a Graph) -> BTreeMap<&'a str, (&'a spec::Layer, Vec<&'a str>)> {
    let name = |&read: &usize| graph.nodes()[read].name.as_str();
    let row = |node: &'a Node| -> (&'a str, (&'a spec::Layer, Vec<&'a str>)) {
        (&node.name, (&node.layer, node.inputs.iter().map(name).collect()))
    };
    graph.nodes().iter().map(row).collect()
}
