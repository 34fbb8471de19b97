//! A model made ready to answer: a normalization right after a product becomes part of its weights.
//!
//! `gamma · (w·x + b − mean) / sqrt(variance + epsilon) + beta` is a product again, with other weights
//! and another bias. So a folded model answers the same up to rounding, with fewer layers. It is not
//! for training on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use spec::{Activation, BatchNormalization, Layer};

use crate::{Graph, Model, Node};

impl Model {
    /// The same model for answering; itself where there is nothing to fold.
    pub fn folded(&self) -> Cow<'_, Model> {
        let (graph, products) = (&self.graph, foldable(&self.graph));
        if products.is_empty() {
            return Cow::Borrowed(self);
        }
        let norms: BTreeMap<usize, usize> = products.iter().map(|(&n, &p)| (p, n)).collect();
        let (mut nodes, mut weights) = (Vec::<Node>::new(), vec![]);
        // The new number of each node; a folded normalization has that of its product.
        let mut moved: Vec<usize> = vec![];
        for (number, node) in graph.nodes().iter().enumerate() {
            if let Some(&product) = products.get(&number) {
                moved.push(moved[product]);
                continue;
            }
            let inputs = node.inputs.iter().map(|&input| moved[input]).collect();
            let mut layer = node.layer.clone();
            match norms.get(&number) {
                Some(&norm) => {
                    *use_bias(&mut layer).expect("a product") = true;
                    weights.extend(self.fold(number, norm));
                }
                None => weights.extend_from_slice(self.weights_of(number)),
            }
            moved.push(nodes.len());
            nodes.push(Node { name: node.name.clone(), layer, inputs });
        }
        let graph = Graph::new(nodes).expect("what was taken out changes no shape");
        Cow::Owned(Model { graph, weights, card: self.card.clone() })
    }

    /// The weights of a product and the normalization after it, as those of one product.
    fn fold(&self, product: usize, norm: usize) -> Vec<f32> {
        let Layer::BatchNormalization(settings) = &self.graph.nodes()[norm].layer else {
            unreachable!("foldable names normalizations")
        };
        let (scales, offsets) = line(settings, self.weights_of(norm));
        let mut weights = self.weights_of(product).to_vec();
        let parts = self.graph.weights_of(product);
        let has_bias = parts.last().is_some_and(|weight| weight.name.ends_with("/bias"));
        if !has_bias {
            weights.resize(weights.len() + scales.len(), 0.0);
        }
        let bias = weights.len() - scales.len();
        // The kernel right before the bias is the one whose last sides are the channels.
        let kernels = parts.len() - usize::from(has_bias);
        let kernel = parts[kernels - 1].range.len();
        for (i, weight) in weights[bias - kernel..bias].iter_mut().enumerate() {
            *weight *= scales[i % scales.len()];
        }
        for ((bias, scale), offset) in weights[bias..].iter_mut().zip(&scales).zip(&offsets) {
            *bias = bias.mul_add(*scale, *offset);
        }
        weights
    }

    fn weights_of(&self, node: usize) -> &[f32] {
        match self.graph.weights_of(node) {
            [] => &[],
            [first, .., last] => &self.weights[first.range.start..last.range.end],
            [only] => &self.weights[only.range.clone()],
        }
    }
}

/// What a normalization does to each channel: times a scale, plus an offset.
fn line(settings: &BatchNormalization, weights: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let parts = 2 + usize::from(settings.scale) + usize::from(settings.center);
    let channels = weights.len() / parts;
    let mut rows = weights.chunks_exact(channels);
    let mut row = |is_there: bool| if is_there { rows.next() } else { None };
    let (gamma, beta) = (row(settings.scale), row(settings.center));
    let (mean, variance) = (row(true).unwrap_or(&[]), row(true).unwrap_or(&[]));
    let line = |c: usize| {
        let root = (f64::from(variance[c]) + f64::from(settings.epsilon)).sqrt();
        let scale = gamma.map_or(1.0, |gamma| f64::from(gamma[c])) / root;
        let offset = beta.map_or(0.0, |beta| f64::from(beta[c])) - f64::from(mean[c]) * scale;
        (scale as f32, offset as f32)
    };
    (0..channels).map(line).unzip()
}

/// The normalizations that fold, each with its product: a layer that nothing else reads, and that does
/// nothing after its bias.
fn foldable(graph: &Graph) -> BTreeMap<usize, usize> {
    let (nodes, readers) = (graph.nodes(), graph.readers());
    let folds = |(number, node): (usize, &Node)| {
        let &[product] = &node.inputs[..] else { return None };
        let is_norm = matches!(node.layer, Layer::BatchNormalization(_));
        let is_product = use_bias(&mut nodes[product].layer.clone()).is_some();
        (is_norm && is_product && readers[product] == 1).then_some((number, product))
    };
    nodes.iter().enumerate().filter_map(folds).collect()
}

/// Whether a product has a bias, to be changed; none where the layer is no product, or not a product alone.
fn use_bias(layer: &mut Layer) -> Option<&mut bool> {
    let (activation, use_bias) = match layer {
        Layer::Dense(layer) => (layer.activation, &mut layer.use_bias),
        Layer::Conv2D(layer) => (layer.activation, &mut layer.use_bias),
        Layer::DepthwiseConv2D(layer) => (layer.activation, &mut layer.use_bias),
        Layer::SeparableConv2D(layer) => (layer.activation, &mut layer.use_bias),
        _ => return None,
    };
    (activation == Activation::Linear).then_some(use_bias)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xception::small_xception;
    use crate::{Card, Kind};

    #[test]
    fn what_can_be_folded_is_gone() {
        let graph = small_xception(&[16, 16, 3], 2, 0.5).expect("it fits");
        let norms = |graph: &Graph| {
            let is_norm = |node: &&Node| matches!(node.layer, Layer::BatchNormalization(_));
            graph.nodes().iter().filter(is_norm).count()
        };
        assert_eq!(norms(&graph), 11);
        let model = Model { weights: graph.initialize(1), graph, card: Card::default() };
        let folded = model.folded();
        assert_eq!(norms(&folded.graph), 0);
        assert_eq!(folded.weights.len(), folded.graph.parameter_count());
        assert!(folded.graph.weights().iter().all(|weight| weight.kind != Kind::Moving));
        assert!(matches!(folded.folded(), Cow::Borrowed(_)));
    }
}
