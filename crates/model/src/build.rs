//! Putting a graph together, layer by layer, with Keras' names.

use std::collections::BTreeMap;

use spec::Layer;

use crate::layer::class_and_stem;
use crate::{Graph, GraphError, Node};

/// A graph in the making.
pub(crate) struct Build {
    nodes: Vec<Node>,
    /// How many layers of each kind there are.
    seen: BTreeMap<&'static str, usize>,
}

impl Build {
    /// With an input of a shape.
    pub(crate) fn new(shape: &[usize]) -> Build {
        let input = Layer::Input(spec::Input { shape: shape.to_vec() });
        Build {
            nodes: vec![Node { name: "input".into(), layer: input, inputs: vec![] }],
            seen: BTreeMap::new(),
        }
    }

    /// Adds a layer that reads others: `conv2d`, and the next of its kind `conv2d_1`.
    pub(crate) fn add(&mut self, layer: Layer, inputs: Vec<usize>) -> usize {
        let (_, stem) = class_and_stem(&layer);
        let count = self.seen.entry(stem).or_default();
        let name = if *count == 0 { stem.to_string() } else { format!("{stem}_{count}") };
        *count += 1;
        self.nodes.push(Node { name, layer, inputs });
        self.nodes.len() - 1
    }

    /// Adds a layer that reads the one before.
    pub(crate) fn then(&mut self, layer: Layer) -> usize {
        self.add(layer, vec![self.nodes.len() - 1])
    }

    /// The graph, checked.
    pub(crate) fn graph(self) -> Result<Graph, GraphError> {
        Graph::new(self.nodes)
    }
}
