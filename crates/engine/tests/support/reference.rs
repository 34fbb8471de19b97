//! The network in f64, layer by layer, written for clearness: no fusion, no blocks, no reuse.

use engine::Noise;
use model::{Graph, Kind};
use random::{Key, Purpose};
use spec::{Activation, Layer, Loss, LossName};

use super::activations::{activate, activate_backward};
use super::layer_normalize;
use super::losses::head;
use super::normalize;
use super::recurrent::{embed, embed_backward, recurrent, recurrent_backward};
use super::separable::{depth_taps, depthwise, pointwise, pointwise_backward};
use super::windows::{chosen, padded, pooled, taps};

/// Loss (summed), gradients of all weights, and answers.
pub(crate) struct Result64 {
    pub(crate) loss: f64,
    pub(crate) gradients: Vec<f64>,
    pub(crate) answers: Vec<f64>,
}

/// What goes into a batch.
pub(crate) struct Batch<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) labels: &'a [u32],
    pub(crate) noise: Option<Noise>,
    pub(crate) loss: Loss,
}

/// Forward and backward.
pub(crate) fn gradient(graph: &Graph, weights: &[f64], batch: &Batch<'_>) -> Result64 {
    let n = batch.labels.len() * batch.loss.pictures();
    let mut values = vec![batch.x.to_vec()];
    for number in 1..graph.nodes().len() {
        let inputs = &graph.nodes()[number].inputs;
        let y = match graph.nodes()[number].layer {
            Layer::Add(_) | Layer::Concatenate(_) => join(graph, number, &values),
            _ => forward(graph, number, weights, (&values[inputs[0]], batch)),
        };
        values.push(y);
    }
    let answers = values[values.len() - 1].clone();
    let ending = ending(graph, batch.loss.name);
    let (loss, d) = head(&answers, batch, ending.is_some());
    let mut gradients = vec![0.0; graph.parameter_count()];
    let last = graph.nodes().len() - 1;
    let mut ds: Vec<Vec<f64>> = values.iter().map(|value| vec![0.0; value.len()]).collect();
    ds[last] = d;
    for number in (1..=last).rev() {
        let dy = ds[number].clone();
        let inputs = &graph.nodes()[number].inputs;
        if let Layer::Add(_) | Layer::Concatenate(_) = graph.nodes()[number].layer {
            part(graph, number, &dy, &mut ds);
            continue;
        }
        let skip = number == last && ending.is_some();
        let io = (&values[inputs[0]][..], &values[number][..]);
        let pass = Pass { graph, number, n, weights, batch };
        let dx = pass.backward(io, &dy, skip, &mut gradients);
        ds[inputs[0]].iter_mut().zip(dx).for_each(|(sum, dx)| *sum += dx);
    }
    for weight in graph.weights().iter().filter(|weight| weight.kind == Kind::Frozen) {
        gradients[weight.range.clone()].fill(0.0);
    }
    Result64 { loss, gradients, answers }
}

/// The sum of several values, or their rows one after another.
fn join(graph: &Graph, number: usize, values: &[Vec<f64>]) -> Vec<f64> {
    let inputs = &graph.nodes()[number].inputs;
    if let Layer::Add(_) = graph.nodes()[number].layer {
        let sum = |i: usize| inputs.iter().map(|&input| values[input][i]).sum();
        return (0..values[inputs[0]].len()).map(sum).collect();
    }
    let rows = values[inputs[0]].len() / last_axis(graph, inputs[0]);
    let row = |input: usize, row: usize| {
        let len = last_axis(graph, input);
        values[input][row * len..][..len].to_vec()
    };
    (0..rows).flat_map(|r| inputs.iter().flat_map(move |&input| row(input, r))).collect()
}

/// Their gradients, added to what they have.
fn part(graph: &Graph, number: usize, dy: &[f64], ds: &mut [Vec<f64>]) {
    let whole = last_axis(graph, number);
    let mut first = 0;
    for &input in &graph.nodes()[number].inputs {
        let len = last_axis(graph, input);
        for (i, d) in ds[input].iter_mut().enumerate() {
            *d += match graph.nodes()[number].layer {
                Layer::Add(_) => dy[i],
                _ => dy[i / len * whole + first + i % len],
            };
        }
        first += len;
    }
}

pub(crate) fn last_axis(graph: &Graph, number: usize) -> usize {
    let shape = graph.shape(number);
    shape[shape.len() - 1]
}

/// The activation that the head has been through, where it has.
fn ending(graph: &Graph, loss: LossName) -> Option<Activation> {
    let nodes = graph.nodes();
    let last = activation_of(&nodes[nodes.len() - 1].layer);
    let joint = match loss {
        LossName::BinaryCrossentropy => last == Activation::Sigmoid,
        LossName::MeanSquaredError => false,
        _ => last == Activation::Softmax,
    };
    joint.then_some(last)
}

fn activation_of(layer: &Layer) -> Activation {
    match layer {
        Layer::Dense(dense) => dense.activation,
        Layer::Conv1D(conv) => conv.activation,
        Layer::Conv2D(conv) => conv.activation,
        Layer::DepthwiseConv2D(conv) => conv.activation,
        Layer::SeparableConv2D(conv) => conv.activation,
        Layer::Activation(layer) => layer.activation,
        _ => Activation::Linear,
    }
}

fn forward(graph: &Graph, number: usize, weights: &[f64], io: (&[f64], &Batch<'_>)) -> Vec<f64> {
    let mut y = linear(graph, number, weights, io);
    activate(activation_of(&graph.nodes()[number].layer), last_axis(graph, number), &mut y);
    y
}

/// What a layer computes before its activation.
fn linear(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    (x, batch): (&[f64], &Batch<'_>),
) -> Vec<f64> {
    let n = batch.labels.len() * batch.loss.pictures();
    let node = &graph.nodes()[number];
    let len: usize = graph.shape(number).iter().product();
    let mut y = vec![0.0; n * len];
    match &node.layer {
        Layer::Dense(_) | Layer::Conv2D(_) | Layer::Conv1D(_) => {
            let [kernel, bias] = kernel_and_bias(graph, number, weights);
            let filters = last_axis(graph, number);
            for (i, y) in y.iter_mut().enumerate() {
                *y = bias.get(i % filters).copied().unwrap_or(0.0);
            }
            taps(graph, number, n, |i, k, o| y[o] += x[i] * kernel[k]);
        }
        Layer::MaxPooling2D(_)
        | Layer::GlobalMaxPooling2D(_)
        | Layer::MaxPooling1D(_)
        | Layer::GlobalMaxPooling1D(_) => {
            for (o, i) in chosen(graph, number, n, x).into_iter().enumerate() {
                y[o] = x[i];
            }
        }
        Layer::AveragePooling2D(_)
        | Layer::GlobalAveragePooling2D(_)
        | Layer::AveragePooling1D(_)
        | Layer::GlobalAveragePooling1D(_) => {
            for (o, inputs) in pooled(graph, number, n).into_iter().enumerate() {
                y[o] = inputs.iter().map(|&i| x[i]).sum::<f64>() / inputs.len() as f64;
            }
        }
        Layer::DepthwiseConv2D(_) | Layer::SeparableConv2D(_) => {
            let between = depthwise(graph, number, (n, weights), x);
            y = pointwise(graph, number, weights, between);
        }
        Layer::Rescaling(layer) => {
            let (scale, offset) = (f64::from(layer.scale), f64::from(layer.offset));
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x * scale + offset);
        }
        Layer::ZeroPadding2D(layer) => {
            for (i, o) in padded(graph, number, layer, n) {
                y[o] = x[i];
            }
        }
        Layer::BatchNormalization(_) => {
            y = normalize::forward(graph, number, weights, (x, batch.noise.is_some()));
        }
        Layer::LayerNormalization(_) | Layer::UnitNormalization(_) => {
            y = layer_normalize::forward(graph, number, weights, x);
        }
        Layer::Embedding(_) => y = embed(graph, number, weights, x),
        Layer::Gru(_) | Layer::Lstm(_) | Layer::Bidirectional(_) => {
            y = recurrent(graph, number, weights, (x, batch.x)).unwrap_or_default();
        }
        Layer::Dropout(dropout) => {
            for (i, y) in y.iter_mut().enumerate() {
                *y = x[i] * keep(dropout.rate, batch.noise, number, i);
            }
        }
        _ => y.copy_from_slice(x),
    }
    y
}

struct Pass<'a> {
    graph: &'a Graph,
    number: usize,
    n: usize,
    weights: &'a [f64],
    batch: &'a Batch<'a>,
}

impl Pass<'_> {
    /// The gradient of x where a layer's outputs are weighted sums.
    fn product_backward(&self, (x, dz): (&[f64], &[f64]), gradients: &mut [f64]) -> Vec<f64> {
        let (graph, number, n) = (self.graph, self.number, self.n);
        let row = last_axis(graph, number);
        let mut dx = vec![0.0; x.len()];
        let [kernel, _] = kernel_and_bias(graph, number, self.weights);
        let ranges = graph.weights_of(number);
        let first = ranges[0].range.start;
        taps(graph, number, n, |i, k, o| {
            gradients[first + k] += x[i] * dz[o];
            dx[i] += kernel[k] * dz[o];
        });
        if let Some(bias) = ranges.get(1) {
            for (o, dz) in dz.iter().enumerate() {
                gradients[bias.range.start + o % row] += dz;
            }
        }
        dx
    }

    /// The gradient of x from that of y; `skip` when the head has been through the activation.
    fn backward(
        &self,
        (x, y): (&[f64], &[f64]),
        dy: &[f64],
        skip: bool,
        gradients: &mut [f64],
    ) -> Vec<f64> {
        let (graph, number, n) = (self.graph, self.number, self.n);
        let layer = &graph.nodes()[number].layer;
        let mut dz = dy.to_vec();
        let row = last_axis(graph, number);
        if !skip {
            let z = linear(graph, number, self.weights, (x, self.batch));
            activate_backward(activation_of(layer), row, (&z, y), &mut dz);
        }
        let mut dx = vec![0.0; x.len()];
        match layer {
            Layer::Dense(_) | Layer::Conv2D(_) | Layer::Conv1D(_) => {
                dx = self.product_backward((x, &dz), gradients);
            }
            Layer::MaxPooling2D(_)
            | Layer::GlobalMaxPooling2D(_)
            | Layer::MaxPooling1D(_)
            | Layer::GlobalMaxPooling1D(_) => {
                for (o, i) in chosen(graph, number, n, x).into_iter().enumerate() {
                    dx[i] += dz[o];
                }
            }
            Layer::AveragePooling2D(_)
            | Layer::GlobalAveragePooling2D(_)
            | Layer::AveragePooling1D(_)
            | Layer::GlobalAveragePooling1D(_) => {
                for (o, inputs) in pooled(graph, number, n).into_iter().enumerate() {
                    inputs.iter().for_each(|&i| dx[i] += dz[o] / inputs.len() as f64);
                }
            }
            Layer::DepthwiseConv2D(_) | Layer::SeparableConv2D(_) => {
                let between = depthwise(graph, number, (n, self.weights), x);
                let known = (self.weights, &between[..]);
                let dbetween = pointwise_backward(graph, number, known, &dz, gradients);
                let kernel = graph.weights_of(number)[0].range.clone();
                depth_taps(graph, number, n, |i, k, o| {
                    gradients[kernel.start + k] += x[i] * dbetween[o];
                    dx[i] += self.weights[kernel.start + k] * dbetween[o];
                });
            }
            Layer::Rescaling(layer) => {
                dx = dz.iter().map(|dz| dz * f64::from(layer.scale)).collect();
            }
            Layer::ZeroPadding2D(layer) => {
                for (i, o) in padded(graph, number, layer, n) {
                    dx[i] = dz[o];
                }
            }
            Layer::BatchNormalization(_) => {
                dx = normalize::backward(graph, number, self.weights, (x, &dz), gradients);
            }
            Layer::LayerNormalization(_) | Layer::UnitNormalization(_) => {
                dx = layer_normalize::backward(graph, number, self.weights, (x, &dz), gradients);
            }
            Layer::Embedding(_) => embed_backward(graph, number, (x, &dz), gradients),
            Layer::Gru(_) | Layer::Lstm(_) | Layer::Bidirectional(_) => {
                let known = (x, self.batch.x, &dz[..]);
                let found = recurrent_backward(graph, number, self.weights, known, gradients);
                dx = found.unwrap_or_default();
            }
            Layer::Dropout(dropout) => {
                for (i, dx) in dx.iter_mut().enumerate() {
                    *dx = dz[i] * keep(dropout.rate, self.batch.noise, number, i);
                }
            }
            _ => dx = dz,
        }
        dx
    }
}

fn kernel_and_bias<'a>(graph: &Graph, number: usize, weights: &'a [f64]) -> [&'a [f64]; 2] {
    let ranges = graph.weights_of(number);
    let bias = ranges.get(1).map_or(&[][..], |bias| &weights[bias.range.clone()]);
    [&weights[ranges[0].range.clone()], bias]
}

fn keep(rate: f32, noise: Option<Noise>, layer: usize, element: usize) -> f64 {
    let Some(noise) = noise else { return 1.0 };
    let key =
        Key::new(noise.seed, Purpose::Dropout).with(noise.rank).with(noise.step).with(layer as u64);
    let bits = random::bits32(key.words(), element as u32);
    if f64::from(bits) < (f64::from(rate) * 4_294_967_296.0).floor() {
        0.0
    } else {
        1.0 / (1.0 - f64::from(rate))
    }
}
