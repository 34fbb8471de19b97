//! The layer graph: layers in an order in which each comes after what it reads.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use spec::{Initializer, Layer};

use crate::build::Build;
use crate::layer::{MAX_ELEMENTS, elements, output_shape, weights_of};
use crate::{GraphError, Kind, Weight};

/// A checked network. Its shapes fit, its names are unique, its weights have their places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Node>", into = "Vec<Node>")]
pub struct Graph {
    nodes: Vec<Node>,
    shapes: Vec<Vec<usize>>,
    weights: Vec<Weight>,
    /// The first weight of each node, and one more for the end.
    first_weight: Vec<usize>,
}

/// A layer, its name, and the nodes it reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Unique in the graph; `conv2d`, `conv2d_1` unless given.
    pub name: String,
    /// What it computes.
    pub layer: Layer,
    /// The numbers of the nodes it reads, all smaller than its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<usize>,
}

impl Graph {
    /// Checks that nodes make a network: node 0 is the only input, each node comes after what it
    /// reads, and shapes fit. The last node is the output.
    pub fn new(nodes: Vec<Node>) -> Result<Self, GraphError> {
        let mut graph = Graph {
            nodes: Vec::new(),
            shapes: Vec::new(),
            weights: Vec::new(),
            first_weight: vec![0],
        };
        let mut names = HashSet::new();
        for node in nodes {
            let wrong = match graph.nodes.len() {
                MAX_LAYERS => Some(format!("a network has at most {MAX_LAYERS} layers")),
                _ if !names.insert(node.name.clone()) => Some("another layer has this name".into()),
                _ => None,
            };
            if let Some(problem) = wrong {
                return Err(graph.fail(&node, problem));
            }
            graph.push(node)?;
        }
        let read: HashSet<usize> =
            graph.nodes.iter().flat_map(|node| node.inputs.iter().copied()).collect();
        let last = graph.nodes.len().saturating_sub(1);
        if let Some(unread) = (0..last).find(|number| !read.contains(number)) {
            return Err(GraphError {
                number: unread + 1,
                name: graph.nodes[unread].name.clone(),
                problem: "no layer reads it, and only the last one is the network's answer".into(),
            });
        }
        if graph.nodes.is_empty() {
            return Err(GraphError {
                number: 1,
                name: "input".into(),
                problem: "a network needs at least one layer".into(),
            });
        }
        Ok(graph)
    }

    /// A chain of layers, each reading the one before, named as Keras names them. `input` is the
    /// shape of a sample, used where the layers do not begin with an `Input`.
    pub fn sequential(input: &[usize], layers: Vec<Layer>) -> Result<Self, GraphError> {
        let mut layers = layers.into_iter().peekable();
        let first = layers.next_if(|layer| matches!(layer, Layer::Input(_)));
        let mut build = match &first {
            Some(Layer::Input(own)) => Build::new(&own.shape),
            _ => Build::new(input),
        };
        layers.for_each(|layer| {
            build.then(layer);
        });
        build.graph()
    }

    /// The layers, each after what it reads.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many layers read what each layer makes.
    pub fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.nodes.len()];
        self.nodes.iter().flat_map(|node| &node.inputs).for_each(|&input| readers[input] += 1);
        readers
    }

    /// The shape of a node's output for one sample, without the batch.
    pub fn shape(&self, node: usize) -> &[usize] {
        &self.shapes[node]
    }

    /// The shape of one sample.
    pub fn input_shape(&self) -> &[usize] {
        &self.shapes[0]
    }

    /// The shape of the network's answer to one sample.
    pub fn output_shape(&self) -> &[usize] {
        &self.shapes[self.shapes.len() - 1]
    }

    /// Whether samples of bytes come as they are, 0 to 255, because the network rescales them itself, or
    /// because they are ids of words.
    pub fn takes_bytes(&self) -> bool {
        let random = |layer: &Layer| {
            matches!(
                layer,
                Layer::Input(_)
                    | Layer::RandomFlip(_)
                    | Layer::RandomRotation(_)
                    | Layer::RandomTranslation(_)
            )
        };
        let first = self.nodes.iter().map(|node| &node.layer).find(|layer| !random(layer));
        matches!(first, Some(Layer::Rescaling(_) | Layer::Embedding(_)))
    }

    /// Every weight, in the order of the arena.
    pub fn weights(&self) -> &[Weight] {
        &self.weights
    }

    /// The weights of one node.
    pub fn weights_of(&self, node: usize) -> &[Weight] {
        &self.weights[self.first_weight[node]..self.first_weight[node + 1]]
    }

    /// How many numbers all weights are.
    pub fn parameter_count(&self) -> usize {
        self.weights.last().map_or(0, |weight| weight.range.end)
    }

    fn push(&mut self, node: Node) -> Result<(), GraphError> {
        match self.place(&node) {
            Err(problem) => Err(self.fail(&node, problem)),
            Ok(shape) => {
                self.first_weight.push(self.weights.len());
                self.shapes.push(shape);
                self.nodes.push(node);
                Ok(())
            }
        }
    }

    fn fail(&self, node: &Node, problem: String) -> GraphError {
        GraphError {
            number: self.nodes.len() + 1,
            name: node.name.chars().take(MAX_NAME).collect(),
            problem,
        }
    }

    /// Checks a node against those before it and gives its weights their places.
    fn place(&mut self, node: &Node) -> Result<Vec<usize>, String> {
        check_name(&node.name)?;
        if let Some(ahead) = node.inputs.iter().find(|&&input| input >= self.nodes.len()) {
            return Err(format!("it reads layer {ahead}, which does not come before it"));
        }
        let is_input = matches!(node.layer, Layer::Input(_));
        if is_input != self.nodes.is_empty() || is_input != node.inputs.is_empty() {
            return Err("the first layer, and no other, is the Input".into());
        }
        self.check_sequence(&node.layer, &node.inputs)?;
        let inputs: Vec<&[usize]> = node.inputs.iter().map(|&i| &self.shapes[i][..]).collect();
        let shape = output_shape(&node.layer, &inputs)?;
        if shape.is_empty() || shape.len() > MAX_RANK || elements(&shape).is_none() {
            return Err(format!("its output {} is empty or too large", short(&shape)));
        }
        for (suffix, shape, initializer) in weights_of(&node.layer, &inputs) {
            check_initializer(initializer)?;
            let start = self.parameter_count();
            let end = elements(&shape).map(|len| start + len);
            let end = end.filter(|&end| end <= MAX_ELEMENTS);
            let end = end.ok_or_else(|| format!("with its {suffix} {shape:?} the network has more than {MAX_ELEMENTS} parameters"))?;
            self.weights.push(Weight {
                name: format!("{}/{suffix}", node.name),
                shape,
                kind: match suffix {
                    _ if !node.layer.trainable() => Kind::Frozen,
                    "moving_mean" | "moving_variance" => Kind::Moving,
                    _ => Kind::Trained,
                },
                initializer,
                range: start..end,
            });
        }
        Ok(shape)
    }
}

/// A shape for a message, even one of a million sides.
fn short(shape: &[usize]) -> String {
    match shape.get(..=MAX_RANK) {
        None => format!("{shape:?}"),
        Some(first) => format!("{first:?} and so on"),
    }
}

/// Far more layers than any network has, and few enough to check in no time.
const MAX_LAYERS: usize = 10_000;

/// The longest name of a layer, in bytes.
const MAX_NAME: usize = 200;

/// The most sides of an input: a batch of films has fewer.
const MAX_RANK: usize = 8;

fn check_name(name: &str) -> Result<(), String> {
    let odd = |c: char| c == '/' || c.is_control();
    if name.is_empty() || name.len() > MAX_NAME || name.contains(odd) {
        return Err(format!("a name has 1 to {MAX_NAME} bytes, without / and control characters"));
    }
    Ok(())
}

fn check_initializer(initializer: Initializer) -> Result<(), String> {
    match initializer {
        Initializer::TruncatedNormal { stddev } if !(stddev.is_finite() && stddev >= 0.0) => {
            Err(format!("a stddev of {stddev} is not a number from 0 on"))
        }
        _ => Ok(()),
    }
}

impl TryFrom<Vec<Node>> for Graph {
    type Error = GraphError;

    fn try_from(nodes: Vec<Node>) -> Result<Self, GraphError> {
        Graph::new(nodes)
    }
}

impl From<Graph> for Vec<Node> {
    fn from(graph: Graph) -> Self {
        graph.nodes
    }
}

#[cfg(test)]
mod tests {
    use spec::{Activation, ActivationLayer, Add, Concatenate, Input, Reshape};

    use super::*;

    /// An input of a shape, and layers with what they read.
    fn graph(shape: &[usize], layers: Vec<(Layer, Vec<usize>)>) -> Result<Graph, GraphError> {
        let input = (Layer::Input(Input { shape: shape.to_vec() }), vec![]);
        let nodes = std::iter::once(input).chain(layers).enumerate();
        let node = |(number, (layer, inputs))| Node { name: format!("n{number}"), layer, inputs };
        Graph::new(nodes.map(node).collect())
    }

    fn relu() -> Layer {
        Layer::Activation(ActivationLayer { activation: Activation::Relu })
    }

    #[test]
    fn branches_meet_where_their_shapes_fit() {
        let join = |join: Layer| {
            graph(&[4, 2, 3], vec![(relu(), vec![0]), (relu(), vec![0]), (join, vec![1, 2, 0])])
        };
        assert_eq!(join(Layer::Add(Add {})).unwrap().output_shape(), [4, 2, 3]);
        assert_eq!(join(Layer::Concatenate(Concatenate {})).unwrap().output_shape(), [4, 2, 9]);
        let flat = Layer::Reshape(Reshape { target_shape: vec![24] });
        for join in [Layer::Add(Add {}), Layer::Concatenate(Concatenate {})] {
            let unlike = vec![(flat.clone(), vec![0]), (join.clone(), vec![0, 1])];
            let error = graph(&[4, 2, 3], unlike).unwrap_err();
            assert!(error.problem.contains("do not fit"), "{error}");
            let alone = graph(&[4], vec![(join, vec![0])]).unwrap_err();
            assert!(alone.problem.contains("two or more"), "{alone}");
        }
    }

    #[test]
    fn every_layer_is_read_but_the_last() {
        let error = graph(&[4], vec![(relu(), vec![0]), (relu(), vec![0])]).unwrap_err();
        assert!(error.number == 2 && error.problem.contains("no layer reads it"), "{error}");
    }

    #[test]
    fn a_shape_is_changed_into_one_of_as_many_numbers() {
        let to = |target_shape: Vec<usize>| {
            graph(&[4, 6], vec![(Layer::Reshape(Reshape { target_shape }), vec![0])])
        };
        assert_eq!(to(vec![2, 3, 4]).unwrap().output_shape(), [2, 3, 4]);
        assert!(to(vec![5, 5]).unwrap_err().problem.contains("[5, 5]"));
    }
}
