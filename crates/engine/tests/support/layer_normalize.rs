//! Layer normalization, and rows of length 1, in f64.

use model::Graph;
use spec::Layer;

use super::reference::last_axis;

/// A row that is shorter has no direction, and no gradient.
const SHORTEST: f64 = 1e-12;

/// A row with mean 0 and variance 1, or of length 1; and what it was divided by.
fn unit(layer: &Layer, row: &[f64]) -> (Vec<f64>, f64) {
    let count = row.len() as f64;
    let (mean, size) = match layer {
        Layer::LayerNormalization(layer) => {
            let mean = row.iter().sum::<f64>() / count;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            (mean, (variance + f64::from(layer.epsilon)).sqrt())
        }
        _ => (0.0, row.iter().map(|x| x * x).sum::<f64>().sqrt().max(SHORTEST)),
    };
    (row.iter().map(|x| (x - mean) / size).collect(), size)
}

/// Where gamma and beta begin among the weights.
fn starts(graph: &Graph, number: usize) -> [Option<usize>; 2] {
    ["gamma", "beta"].map(|suffix| {
        let weight = graph.weights_of(number).iter().find(|weight| weight.name.ends_with(suffix));
        weight.map(|weight| weight.range.start)
    })
}

pub(crate) fn forward(graph: &Graph, number: usize, weights: &[f64], x: &[f64]) -> Vec<f64> {
    let layer = &graph.nodes()[number].layer;
    let [gamma, beta] = starts(graph, number);
    let scaled = |(c, x): (usize, f64)| {
        x * gamma.map_or(1.0, |gamma| weights[gamma + c]) + beta.map_or(0.0, |b| weights[b + c])
    };
    let rows = x.chunks(last_axis(graph, number));
    rows.flat_map(|row| unit(layer, row).0.into_iter().enumerate().map(scaled)).collect()
}

/// The gradient of x; those of the weights are added.
pub(crate) fn backward(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    (x, dy): (&[f64], &[f64]),
    gradients: &mut [f64],
) -> Vec<f64> {
    let layer = &graph.nodes()[number].layer;
    let [gamma, beta] = starts(graph, number);
    let row = last_axis(graph, number);
    let mut dx = vec![];
    for (x, dy) in x.chunks(row).zip(dy.chunks(row)) {
        let (unit, size) = unit(layer, x);
        if size <= SHORTEST {
            dx.extend(vec![0.0; row]);
            continue;
        }
        let g = |c: usize| dy[c] * gamma.map_or(1.0, |gamma| weights[gamma + c]);
        let along: f64 = (0..row).map(|c| g(c) * unit[c]).sum();
        let sum: f64 = (0..row).map(g).sum();
        // Of a row of length 1 nothing is taken for the mean, and all of it for the direction.
        let (always, share) = match layer {
            Layer::LayerNormalization(_) => (sum / row as f64, 1.0 / row as f64),
            _ => (0.0, 1.0),
        };
        dx.extend((0..row).map(|c| (g(c) - always - unit[c] * along * share) / size));
        for c in 0..row {
            if let Some(gamma) = gamma {
                gradients[gamma + c] += dy[c] * unit[c];
            }
            if let Some(beta) = beta {
                gradients[beta + c] += dy[c];
            }
        }
    }
    dx
}
