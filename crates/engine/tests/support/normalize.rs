//! Batch normalization in f64.

use model::Graph;
use spec::{BatchNormalization, Layer};

/// What a layer works with: its weights and the numbers of its channels.
struct Site<'a> {
    layer: &'a BatchNormalization,
    /// Gamma, beta, moving mean and moving variance.
    values: [Vec<f64>; 4],
    starts: [Option<usize>; 4],
    channels: usize,
}

fn site<'a>(graph: &'a Graph, number: usize, weights: &[f64]) -> Site<'a> {
    let Layer::BatchNormalization(layer) = &graph.nodes()[number].layer else {
        unreachable!("only asked about this layer")
    };
    let channels = super::reference::last_axis(graph, number);
    let suffixes = ["gamma", "beta", "moving_mean", "moving_variance"];
    let find = |suffix: &str| {
        let weight = graph.weights_of(number).iter().find(|weight| weight.name.ends_with(suffix));
        weight.map(|weight| weight.range.clone())
    };
    let read = |i: usize| match find(suffixes[i]) {
        Some(range) => weights[range].to_vec(),
        None => vec![[1.0, 0.0][i]; channels],
    };
    let starts = suffixes.map(|suffix| find(suffix).map(|range| range.start));
    Site { layer, values: [0, 1, 2, 3].map(read), starts, channels }
}

impl Site<'_> {
    /// Mean and variance of each channel: the batch's, or the moving ones.
    fn moments(&self, x: &[f64], training: bool) -> [Vec<f64>; 2] {
        if !training || !self.layer.trainable {
            return [self.values[2].clone(), self.values[3].clone()];
        }
        let rows = (x.len() / self.channels) as f64;
        let column = |c: usize| x.iter().skip(c).step_by(self.channels);
        let mean = |c: usize| column(c).sum::<f64>() / rows;
        let spread = |c: usize| column(c).map(|x| (x - mean(c)).powi(2)).sum::<f64>() / rows;
        let all = 0..self.channels;
        [all.clone().map(mean).collect(), all.map(spread).collect()]
    }

    fn deviation(&self, variance: f64) -> f64 {
        // As the layer's own number, which is no decimal fraction.
        (variance + f64::from(self.layer.epsilon)).sqrt()
    }
}

pub(crate) fn forward(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    (x, training): (&[f64], bool),
) -> Vec<f64> {
    let site = site(graph, number, weights);
    let [mean, variance] = site.moments(x, training);
    let of = |(i, x): (usize, &f64)| {
        let c = i % site.channels;
        (x - mean[c]) / site.deviation(variance[c]) * site.values[0][c] + site.values[1][c]
    };
    x.iter().enumerate().map(of).collect()
}

/// The gradient of x; those of the weights are added, and what stands for those of the moving ones.
pub(crate) fn backward(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    (x, dy): (&[f64], &[f64]),
    gradients: &mut [f64],
) -> Vec<f64> {
    let site = site(graph, number, weights);
    let [mean, variance] = site.moments(x, true);
    let channels = site.channels;
    let rows = (x.len() / channels) as f64;
    let unit = |i: usize| (x[i] - mean[i % channels]) / site.deviation(variance[i % channels]);
    let of = |c: usize| (c..x.len()).step_by(channels);
    let sums: Vec<f64> = (0..channels).map(|c| of(c).map(|i| dy[i]).sum()).collect();
    let slopes: Vec<f64> = (0..channels).map(|c| of(c).map(|i| dy[i] * unit(i)).sum()).collect();
    let lag = 1.0 - f64::from(site.layer.momentum);
    if site.layer.trainable {
        for c in 0..channels {
            let behind = [site.values[2][c] - mean[c], site.values[3][c] - variance[c]];
            let values = [slopes[c], sums[c], lag * behind[0], lag * behind[1]];
            for (start, value) in site.starts.iter().zip(values) {
                if let Some(start) = start {
                    gradients[start + c] += value;
                }
            }
        }
    }
    let dx = |i: usize| {
        let c = i % channels;
        let own = match site.layer.trainable {
            true => (sums[c] + unit(i) * slopes[c]) / rows,
            false => 0.0,
        };
        site.values[0][c] / site.deviation(variance[c]) * (dy[i] - own)
    };
    (0..x.len()).map(dx).collect()
}
