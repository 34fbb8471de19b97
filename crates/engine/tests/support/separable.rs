//! Convolutions with a window for each channel, in f64: the windows, then the sums over channels.

use model::Graph;
use spec::Layer;

use super::reference::last_axis;
use super::windows::{Sizes, windows};

/// Calls `each` with every (input, kernel, output) that are multiplied for the windows of channels.
pub(crate) fn depth_taps(
    graph: &Graph,
    number: usize,
    n: usize,
    mut each: impl FnMut(usize, usize, usize),
) {
    let node = &graph.nodes()[number];
    let (sizes, times) = match &node.layer {
        Layer::DepthwiseConv2D(c) => {
            let sizes = Sizes::new(c.kernel_size, c.strides, c.padding);
            (sizes.apart(c.dilation_rate), c.depth_multiplier)
        }
        Layer::SeparableConv2D(c) => {
            let sizes = Sizes::new(c.kernel_size, c.strides, c.padding);
            (sizes.apart(c.dilation_rate), c.depth_multiplier)
        }
        _ => unreachable!("only for these"),
    };
    let channels = last_axis(graph, node.inputs[0]);
    windows(graph, number, n, sizes, |pixel, tap, output| {
        for wide in 0..channels * times {
            let channel = wide / times;
            let outputs = channels * times;
            each(pixel * channels + channel, tap * outputs + wide, output * outputs + wide);
        }
    });
}

/// What the windows of all channels come to.
pub(crate) fn depthwise(
    graph: &Graph,
    number: usize,
    (n, weights): (usize, &[f64]),
    x: &[f64],
) -> Vec<f64> {
    let kernel = &graph.weights_of(number)[0];
    let wide = kernel.shape[2] * kernel.shape[3];
    let shape = graph.shape(number);
    let mut y = vec![0.0; n * shape[0] * shape[1] * wide];
    let first = kernel.range.start;
    depth_taps(graph, number, n, |i, k, o| y[o] += x[i] * weights[first + k]);
    y
}

/// The weighted sums over channels, if there are any, and the bias.
pub(crate) fn pointwise(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    between: Vec<f64>,
) -> Vec<f64> {
    let all = graph.weights_of(number);
    let filters = last_axis(graph, number);
    let separable = matches!(graph.nodes()[number].layer, Layer::SeparableConv2D(_));
    let mut y = match separable {
        false => between,
        true => {
            let wide = all[1].shape[2];
            let kernel = &weights[all[1].range.clone()];
            let sum = |pixel: &[f64], filter: usize| {
                (0..wide).map(|c| pixel[c] * kernel[c * filters + filter]).sum::<f64>()
            };
            let pixels = between.chunks_exact(wide);
            pixels.flat_map(|pixel| (0..filters).map(move |f| sum(pixel, f))).collect()
        }
    };
    if let Some(bias) = all.get(1 + usize::from(separable)) {
        y.iter_mut().enumerate().for_each(|(i, y)| *y += weights[bias.range.start + i % filters]);
    }
    y
}

/// The gradient of what the windows came to, from that of the sums; those of the sums' weights are added.
pub(crate) fn pointwise_backward(
    graph: &Graph,
    number: usize,
    (weights, between): (&[f64], &[f64]),
    dz: &[f64],
    gradients: &mut [f64],
) -> Vec<f64> {
    let all = graph.weights_of(number);
    let filters = last_axis(graph, number);
    let separable = matches!(graph.nodes()[number].layer, Layer::SeparableConv2D(_));
    if let Some(bias) = all.get(1 + usize::from(separable)) {
        dz.iter().enumerate().for_each(|(i, dz)| gradients[bias.range.start + i % filters] += dz);
    }
    if !separable {
        return dz.to_vec();
    }
    let (wide, first) = (all[1].shape[2], all[1].range.start);
    let mut d = vec![0.0; between.len()];
    for (i, d) in d.iter_mut().enumerate() {
        let (pixel, channel) = (i / wide, i % wide);
        for filter in 0..filters {
            let (k, dz) = (first + channel * filters + filter, dz[pixel * filters + filter]);
            gradients[k] += between[i] * dz;
            *d += weights[k] * dz;
        }
    }
    d
}
