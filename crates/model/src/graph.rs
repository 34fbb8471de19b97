//! The layer graph: layers in an order in which each comes after what it reads.

use serde::{Deserialize, Serialize};
use spec::{Initializer, Layer, Padding, Pair};

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
        for node in nodes {
            graph.push(node)?;
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
        let mut nodes: Vec<Node> = Vec::with_capacity(layers.len() + 1);
        if !matches!(layers.first(), Some(Layer::Input(_))) {
            let shape = input.to_vec();
            nodes.push(Node {
                name: "input".into(),
                layer: Layer::Input(spec::Input { shape }),
                inputs: vec![],
            });
        }
        let mut seen = std::collections::BTreeMap::<&str, usize>::new();
        for layer in layers {
            let stem = stem(&layer);
            let count = seen.entry(stem).or_default();
            let name = if *count == 0 {
                stem.to_string()
            } else {
                format!("{stem}_{count}")
            };
            *count += 1;
            let inputs = nodes.len().checked_sub(1).into_iter().collect();
            nodes.push(Node {
                name,
                layer,
                inputs,
            });
        }
        Graph::new(nodes)
    }

    /// The layers, each after what it reads.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
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
        let number = self.nodes.len() + 1;
        let fail = |problem: String| GraphError {
            number,
            name: node.name.clone(),
            problem,
        };
        if self.nodes.iter().any(|other| other.name == node.name) {
            return Err(fail("another layer has this name".into()));
        }
        if let Some(ahead) = node.inputs.iter().find(|&&input| input >= self.nodes.len()) {
            return Err(fail(format!(
                "it reads layer {}, which comes later",
                ahead + 1
            )));
        }
        let is_input = matches!(node.layer, Layer::Input(_));
        if is_input != self.nodes.is_empty() || is_input != node.inputs.is_empty() {
            return Err(fail("the first layer, and no other, is the Input".into()));
        }
        let inputs: Vec<&[usize]> = node.inputs.iter().map(|&i| &self.shapes[i][..]).collect();
        let shape = output_shape(&node.layer, &inputs).map_err(fail)?;
        if shape.contains(&0) || shape.iter().product::<usize>() > MAX_ELEMENTS {
            return Err(fail(format!("its output {shape:?} is empty or too large")));
        }
        for (suffix, shape, initializer) in weights_of(&node.layer, &inputs) {
            let start = self.parameter_count();
            let end = start + shape.iter().product::<usize>();
            let name = format!("{}/{suffix}", node.name);
            self.weights.push(Weight {
                name,
                shape,
                kind: Kind::Trained,
                initializer,
                range: start..end,
            });
        }
        if self.parameter_count() > MAX_ELEMENTS {
            return Err(fail(format!(
                "the network has more than {MAX_ELEMENTS} parameters"
            )));
        }
        self.first_weight.push(self.weights.len());
        self.shapes.push(shape);
        self.nodes.push(node);
        Ok(())
    }
}

/// One sample's output, and all weights together, stay below this many numbers: element counters
/// are 32-bit.
const MAX_ELEMENTS: usize = 1 << 31;

/// Keras' name for layers of a class.
fn stem(layer: &Layer) -> &'static str {
    match layer {
        Layer::Input(_) => "input",
        Layer::Dense(_) => "dense",
        Layer::Conv2D(_) => "conv2d",
        Layer::MaxPooling2D(_) => "max_pooling2d",
        Layer::Dropout(_) => "dropout",
        Layer::Flatten(_) => "flatten",
        Layer::Activation(_) => "activation",
    }
}

fn output_shape(layer: &Layer, inputs: &[&[usize]]) -> Result<Vec<usize>, String> {
    if let Layer::Input(input) = layer {
        return Ok(input.shape.clone());
    }
    let [input] = inputs else {
        return Err(format!("it reads {} layers, and takes one", inputs.len()));
    };
    match layer {
        Layer::Input(_) => unreachable!("answered above"),
        Layer::Dense(dense) => match input {
            [_] => Ok(vec![dense.units]),
            _ => Err(format!(
                "it takes a row of numbers, not {input:?}; put Flatten before it"
            )),
        },
        Layer::Conv2D(conv) => {
            let [height, width, _] = picture(input)?;
            let [height, width] = windows(
                [height, width],
                conv.kernel_size,
                conv.strides,
                conv.padding,
            )?;
            Ok(vec![height, width, conv.filters])
        }
        Layer::MaxPooling2D(pool) => {
            let [height, width, channels] = picture(input)?;
            let strides = pool.strides.unwrap_or(pool.pool_size);
            let [height, width] = windows([height, width], pool.pool_size, strides, pool.padding)?;
            Ok(vec![height, width, channels])
        }
        Layer::Dropout(dropout) if !(0.0..1.0).contains(&dropout.rate) => Err(format!(
            "a rate of {} is not from 0 to below 1",
            dropout.rate
        )),
        Layer::Dropout(_) | Layer::Activation(_) => Ok(input.to_vec()),
        Layer::Flatten(_) => Ok(vec![input.iter().product()]),
    }
}

/// Suffix, shape and start of each weight of a layer, in Keras' order and layout. Shapes of inputs
/// have been checked.
fn weights_of(layer: &Layer, inputs: &[&[usize]]) -> Vec<(&'static str, Vec<usize>, Initializer)> {
    let with_bias = |kernel, initializer, outputs, bias: Option<Initializer>| {
        let mut weights = vec![("kernel", kernel, initializer)];
        weights.extend(bias.map(|initializer| ("bias", vec![outputs], initializer)));
        weights
    };
    match layer {
        Layer::Dense(d) => {
            let kernel = vec![inputs[0][0], d.units];
            with_bias(
                kernel,
                d.kernel_initializer,
                d.units,
                d.use_bias.then_some(d.bias_initializer),
            )
        }
        Layer::Conv2D(c) => {
            let kernel = vec![
                c.kernel_size.height,
                c.kernel_size.width,
                inputs[0][2],
                c.filters,
            ];
            with_bias(
                kernel,
                c.kernel_initializer,
                c.filters,
                c.use_bias.then_some(c.bias_initializer),
            )
        }
        _ => vec![],
    }
}

fn picture(shape: &[usize]) -> Result<[usize; 3], String> {
    shape
        .try_into()
        .map_err(|_| format!("it takes pictures [height, width, channels], not {shape:?}"))
}

/// How many windows fit, down and across.
fn windows(
    size: [usize; 2],
    window: Pair,
    stride: Pair,
    padding: Padding,
) -> Result<[usize; 2], String> {
    let along = |size: usize, window: usize, stride: usize| match padding {
        _ if window == 0 || stride == 0 => Err("windows and strides are at least 1".to_string()),
        Padding::Valid if window > size => Err(format!(
            "a window of {window} does not fit into {size} pixels"
        )),
        Padding::Valid => Ok((size - window) / stride + 1),
        Padding::Same => Ok(size.div_ceil(stride)),
    };
    Ok([
        along(size[0], window.height, stride.height)?,
        along(size[1], window.width, stride.width)?,
    ])
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
