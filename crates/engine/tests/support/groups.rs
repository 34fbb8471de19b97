//! Random small networks whose convolutions have groups, or gaps in their windows.

use model::Graph;
use random::{Key, Purpose};
use spec::{
    Activation, Conv1D, Conv2D, DepthwiseConv2D, Initializer, Layer, Padding, Padding1D, Pair,
};

use super::networks::{
    activation, average, conv, dense, flatten, normalize, pair, pool, separable,
};

/// A small network that reads pictures, or every third time sequences.
pub(crate) fn grouped(seed: u64) -> Graph {
    let mut draws = 0;
    let mut draw = |bound: usize| {
        draws += 1;
        Key::new(seed, Purpose::Synthetic).with(6).below(draws, bound as u64) as usize
    };
    let groups = 1 + draw(4);
    let channels = groups * (1 + draw(4));
    let mut layers = vec![];
    let input = if draw(3) == 0 {
        layers.push(signal(&mut draw, groups));
        layers.push(signal(&mut draw, groups));
        vec![5 + draw(12), channels]
    } else {
        layers.push(picture(&mut draw, groups));
        match draw(6) {
            0 => layers.push(pool([2, 2], [2, 2], Padding::Valid)),
            1 => layers.push(average([2, 2], [2, 1], Padding::Same)),
            2 => layers.push(normalize(4)),
            3 => layers.push(activation(Activation::Gelu)),
            _ => {}
        }
        layers.push(by_channel(&mut draw, groups));
        vec![5 + draw(7), 5 + draw(7), channels]
    };
    layers.push(flatten());
    layers.push(dense(2 + draw(5), Activation::Softmax));
    // Where a window does not fit, another is tried.
    Graph::sequential(&input, layers).unwrap_or_else(|_| grouped(seed + 10_000))
}

fn some_activation(draw: usize) -> Activation {
    [Activation::Relu, Activation::Linear, Activation::Tanh][draw]
}

/// Strides and gaps, of which one at most is above 1.
fn steps(draw: &mut impl FnMut(usize) -> usize) -> [Pair; 2] {
    let steps = pair([1 + draw(3), 1 + draw(3)]);
    if draw(2) == 0 { [steps, Pair::square(1)] } else { [Pair::square(1), steps] }
}

fn picture(draw: &mut impl FnMut(usize) -> usize, groups: usize) -> Layer {
    let [strides, dilation_rate] = steps(draw);
    let size = [1 + draw(3), 1 + draw(3)];
    let padding = [Padding::Valid, Padding::Same][draw(2)];
    let plain = conv(groups * (1 + draw(18)), size, [1, 1], padding);
    let activation = some_activation(draw(3));
    let (use_bias, trainable) = (draw(4) > 0, draw(6) > 0);
    let conv = Conv2D { strides, dilation_rate, groups, activation, use_bias, trainable, ..plain };
    Layer::Conv2D(conv)
}

/// Windows for each channel, with gaps; or groups again.
fn by_channel(draw: &mut impl FnMut(usize) -> usize, groups: usize) -> Layer {
    let [strides, dilation_rate] = [Pair::square(1), pair([1 + draw(3), 1 + draw(2)])];
    let padding = [Padding::Valid, Padding::Same][draw(2)];
    let size = [1 + draw(3), 2];
    match draw(3) {
        0 => Layer::DepthwiseConv2D(DepthwiseConv2D {
            kernel_size: pair(size),
            strides,
            padding,
            dilation_rate,
            depth_multiplier: 1 + draw(2),
            activation: some_activation(draw(3)),
            use_bias: draw(2) == 0,
            depthwise_initializer: Initializer::default(),
            bias_initializer: Initializer::Zeros,
            trainable: true,
        }),
        1 => {
            let conv = conv(1 + draw(9), size, [1, 1], padding);
            separable(Conv2D { dilation_rate, ..conv }, 1 + draw(2))
        }
        _ => picture(draw, groups),
    }
}

fn signal(draw: &mut impl FnMut(usize) -> usize, groups: usize) -> Layer {
    let [strides, dilation] = steps(draw);
    Layer::Conv1D(Conv1D {
        filters: groups * (1 + draw(12)),
        kernel_size: 1 + draw(4),
        strides: strides.width,
        padding: [Padding1D::Valid, Padding1D::Same, Padding1D::Causal][draw(3)],
        dilation_rate: dilation.width,
        groups,
        activation: some_activation(draw(3)),
        use_bias: draw(4) > 0,
        kernel_initializer: Initializer::default(),
        bias_initializer: Initializer::Zeros,
        trainable: draw(6) > 0,
    })
}
