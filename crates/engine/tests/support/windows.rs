//! Which inputs, weights and outputs have to do with each other, where windows slide over pictures.

use model::Graph;
use spec::{Layer, Padding, Padding1D, Pair, ZeroPadding2D};

use super::reference::last_axis;

/// Where each number of a picture lies inside zeros.
pub(crate) fn padded(
    graph: &Graph,
    number: usize,
    layer: &ZeroPadding2D,
    n: usize,
) -> Vec<(usize, usize)> {
    let small = graph.shape(graph.nodes()[number].inputs[0]);
    let (large, sides) = (graph.shape(number), layer.padding);
    triples(n, small[0], small[1] * small[2])
        .map(|(sample, row, i)| {
            let from = (sample * small[0] + row) * small[1] * small[2] + i;
            let line = (sample * large[0] + row + sides.top) * large[1] + sides.left;
            (from, line * large[2] + i)
        })
        .collect()
}

/// Calls `each` with every (input, kernel, output) that are multiplied in a dense layer or convolution.
pub(crate) fn taps(
    graph: &Graph,
    number: usize,
    n: usize,
    mut each: impl FnMut(usize, usize, usize),
) {
    let node = &graph.nodes()[number];
    let shape = graph.shape(node.inputs[0]);
    let filters = last_axis(graph, number);
    let (conv, causal) = match &node.layer {
        Layer::Conv2D(conv) => (conv.clone(), false),
        Layer::Conv1D(conv) => (conv.over_row(), conv.padding == Padding1D::Causal),
        _ => {
            let inputs = shape[shape.len() - 1];
            let rows: usize = shape[..shape.len() - 1].iter().product();
            for (row, i, o) in triples(n * rows, inputs, filters) {
                each(row * inputs + i, i * filters + o, row * filters + o);
            }
            return;
        }
    };
    let channels = last_axis(graph, node.inputs[0]);
    let sizes = Sizes::new(conv.kernel_size, conv.strides, conv.padding);
    let sizes = Sizes { causal, ..sizes.apart(conv.dilation_rate) };
    let seen = channels / conv.groups;
    windows(graph, number, n, sizes, |pixel, tap, output| {
        for (_, channel, filter) in triples(1, seen, filters) {
            let kernel = (tap * seen + channel) * filters + filter;
            let group = filter / (filters / conv.groups);
            each(pixel * channels + group * seen + channel, kernel, output * filters + filter);
        }
    });
}

fn triples(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a * b * c).map(move |i| (i / (b * c), i / c % b, i % c))
}

/// How windows lie over a picture.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    size: Pair,
    stride: Pair,
    padding: Padding,
    /// Whether all padding comes before.
    causal: bool,
    /// How far apart the pixels of a window are.
    dilation: Pair,
}

impl Sizes {
    pub(crate) fn new(size: Pair, stride: Pair, padding: Padding) -> Self {
        Sizes { size, stride, padding, causal: false, dilation: Pair::square(1) }
    }

    /// With pixels so far apart.
    pub(crate) fn apart(self, dilation: Pair) -> Self {
        Sizes { dilation, ..self }
    }
}

/// A sequence is a picture of one row.
fn picture(shape: &[usize]) -> [usize; 3] {
    match *shape {
        [steps, features] => [1, steps, features],
        [height, width, channels] => [height, width, channels],
        _ => unreachable!("not a picture: {shape:?}"),
    }
}

/// Calls `each` with every (input pixel, place in the window, output pixel), windows in order.
pub(crate) fn windows(
    graph: &Graph,
    number: usize,
    n: usize,
    sizes: Sizes,
    mut each: impl FnMut(usize, usize, usize),
) {
    let input = picture(graph.shape(graph.nodes()[number].inputs[0]));
    let output = picture(graph.shape(number));
    let Sizes { size, stride, padding, causal, dilation } = sizes;
    let before = |windows: usize, gaps: usize, stride: usize, pixels: usize| match padding {
        Padding::Valid => 0,
        _ if causal => gaps,
        Padding::Same => ((windows - 1) * stride + gaps + 1).saturating_sub(pixels) / 2,
    };
    let (down, across) = ((size.height - 1) * dilation.height, (size.width - 1) * dilation.width);
    let top = before(output[0], down, stride.height, input[0]);
    let left = before(output[1], across, stride.width, input[1]);
    for (sample, oy, ox) in triples(n, output[0], output[1]) {
        for (_, ky, kx) in triples(1, size.height, size.width) {
            let y = oy * stride.height + ky * dilation.height;
            let x = ox * stride.width + kx * dilation.width;
            if y >= top && x >= left && y - top < input[0] && x - left < input[1] {
                let pixel = (sample * input[0] + y - top) * input[1] + x - left;
                let out = (sample * output[0] + oy) * output[1] + ox;
                each(pixel, ky * size.width + kx, out);
            }
        }
    }
}

/// For each output of a pooling, the inputs in its window.
pub(crate) fn pooled(graph: &Graph, number: usize, n: usize) -> Vec<Vec<usize>> {
    let node = &graph.nodes()[number];
    let shape = graph.shape(number);
    let channels = last_axis(graph, number);
    let pool = match &node.layer {
        Layer::MaxPooling2D(pool) | Layer::AveragePooling2D(pool) => pool.clone(),
        Layer::MaxPooling1D(pool) | Layer::AveragePooling1D(pool) => pool.over_row(),
        _ => {
            let input: usize = graph.shape(node.inputs[0]).iter().product();
            let inside = |sample: usize, channel: usize| {
                let pixels = 0..input / channels;
                pixels.map(|pixel| sample * input + pixel * channels + channel).collect()
            };
            let all = triples(1, n, channels);
            return all.map(|(_, sample, channel)| inside(sample, channel)).collect();
        }
    };
    let mut inputs = vec![vec![]; n * shape.iter().product::<usize>()];
    let strides = pool.strides.unwrap_or(pool.pool_size);
    let sizes = Sizes::new(pool.pool_size, strides, pool.padding);
    windows(graph, number, n, sizes, |pixel, _, output| {
        for channel in 0..channels {
            inputs[output * channels + channel].push(pixel * channels + channel);
        }
    });
    inputs
}

/// For each output of a max pooling, the input it takes: the first of the largest.
pub(crate) fn chosen(graph: &Graph, number: usize, n: usize, x: &[f64]) -> Vec<usize> {
    let first_largest = |inputs: Vec<usize>| {
        let largest = |best: usize, i: usize| if x[i] > x[best] { i } else { best };
        inputs.into_iter().reduce(largest).expect("a window covers something")
    };
    pooled(graph, number, n).into_iter().map(first_largest).collect()
}
