//! The built-in networks, and random small ones.

use model::{Graph, Node};
use random::{Key, Purpose};
use spec::{
    Activation, ActivationLayer, Add, BatchNormalization, Builtin, Concatenate, Conv2D, Dense,
    DepthwiseConv2D, Dropout, Flatten, GlobalPooling2D, Initializer, Input, Layer,
    LayerNormalization, Model, Padding, Pair, Pooling2D, Rescaling, SeparableConv2D, Sides,
    UnitNormalization, ZeroPadding2D,
};

pub(crate) fn dense(units: usize, activation: Activation) -> Layer {
    Layer::Dense(Dense {
        units,
        activation,
        use_bias: true,
        kernel_initializer: Initializer::default(),
        bias_initializer: Initializer::Zeros,
        trainable: true,
    })
}

pub(crate) fn conv(
    filters: usize,
    size: [usize; 2],
    strides: [usize; 2],
    padding: Padding,
) -> Conv2D {
    Conv2D {
        strides: pair(strides),
        padding,
        activation: Activation::Relu,
        ..Conv2D::new(filters, pair(size))
    }
}

pub(crate) fn pool(size: [usize; 2], strides: [usize; 2], padding: Padding) -> Layer {
    Layer::MaxPooling2D(Pooling2D { pool_size: pair(size), strides: Some(pair(strides)), padding })
}

pub(crate) fn average(size: [usize; 2], strides: [usize; 2], padding: Padding) -> Layer {
    let (pool_size, strides) = (pair(size), Some(pair(strides)));
    Layer::AveragePooling2D(Pooling2D { pool_size, strides, padding })
}

pub(crate) fn depthwise(times: usize, strides: [usize; 2], padding: Padding) -> Layer {
    Layer::DepthwiseConv2D(DepthwiseConv2D {
        kernel_size: pair([3, 2]),
        strides: pair(strides),
        padding,
        dilation_rate: Pair::square(1),
        depth_multiplier: times,
        activation: Activation::Relu,
        use_bias: times == 1,
        depthwise_initializer: Initializer::default(),
        bias_initializer: Initializer::Zeros,
        trainable: true,
    })
}

/// What a convolution would be with a window for each channel.
pub(crate) fn separable(conv: Conv2D, times: usize) -> Layer {
    Layer::SeparableConv2D(SeparableConv2D {
        filters: conv.filters,
        kernel_size: conv.kernel_size,
        strides: conv.strides,
        padding: conv.padding,
        dilation_rate: conv.dilation_rate,
        depth_multiplier: times,
        activation: conv.activation,
        use_bias: conv.use_bias,
        depthwise_initializer: Initializer::default(),
        pointwise_initializer: Initializer::default(),
        bias_initializer: conv.bias_initializer,
        trainable: true,
    })
}

pub(crate) fn pair([height, width]: [usize; 2]) -> Pair {
    Pair { height, width }
}

pub(crate) fn dropout(rate: f32) -> Layer {
    Layer::Dropout(Dropout { rate })
}

pub(crate) fn activation(activation: Activation) -> Layer {
    Layer::Activation(ActivationLayer { activation })
}

/// Batch normalization with some of its options.
pub(crate) fn normalize(draw: usize) -> Layer {
    Layer::BatchNormalization(BatchNormalization {
        momentum: 0.9,
        center: draw != 1,
        scale: draw != 2,
        trainable: draw != 3,
        ..BatchNormalization::default()
    })
}

/// Layer normalization with some of its options, or rows of length 1.
pub(crate) fn row_normalize(draw: usize) -> Layer {
    match draw {
        0 => Layer::UnitNormalization(UnitNormalization {}),
        _ => Layer::LayerNormalization(LayerNormalization {
            epsilon: 0.01,
            center: draw != 1,
            scale: draw != 2 && draw != 1,
            trainable: draw != 3,
            ..LayerNormalization::default()
        }),
    }
}

pub(crate) fn flatten() -> Layer {
    Layer::Flatten(Flatten {})
}

/// S1's network.
pub(crate) fn mnist_mlp() -> Graph {
    builtin(Builtin::MnistMlp { hidden_units: 100 })
}

/// S2's network.
pub(crate) fn mnist_cnn() -> Graph {
    let dropout = [0.25, 0.5];
    builtin(Builtin::MnistCnn { dropout })
}

fn builtin(network: Builtin) -> Graph {
    let network = model::network(&Model::Builtin(network), &[28, 28, 1], 10);
    network.expect("a built-in network").graph
}

/// A small network with random shapes, strides, paddings and activations.
pub(crate) fn random(seed: u64) -> Graph {
    let mut draws = 0;
    let mut draw = |bound: usize| {
        draws += 1;
        Key::new(seed, Purpose::Synthetic).with(2).below(draws, bound as u64) as usize
    };
    let input = [6 + draw(6), 6 + draw(6), 1 + draw(3)];
    let mut layers = Vec::new();
    match draw(8) {
        0 => layers.push(dense(1 + draw(40), some_activation(draw(8)))),
        1 => layers.push(Layer::Rescaling(Rescaling { scale: 0.7, offset: -0.1 })),
        2 => {
            let padding = Sides { top: draw(3), bottom: draw(2), left: draw(2), right: draw(3) };
            layers.push(Layer::ZeroPadding2D(ZeroPadding2D { padding }));
        }
        _ => {}
    }
    for _ in 0..1 + draw(2) {
        let size = [1 + draw(3), 1 + draw(3)];
        let strides = [1 + draw(2), 1 + draw(2)];
        let padding = [Padding::Valid, Padding::Same][draw(2)];
        let mut layer = conv(1 + draw(20), size, strides, padding);
        layer.activation = some_activation(draw(8));
        layer.use_bias = draw(4) > 0;
        layers.push(Layer::Conv2D(layer));
        match draw(4) {
            0 => layers.push(pool([2, 2], [2, 2], Padding::Valid)),
            1 => layers.push(pool([2 + draw(2), 2], [1 + draw(2), 1], Padding::Same)),
            2 => layers.push(dropout(0.3)),
            _ => {}
        }
    }
    if draw(3) == 0 {
        layers.push(activation(some_activation(draw(20))));
    }
    if draw(3) == 0 {
        layers.push(row_normalize(draw(6)));
    }
    layers.push(flatten());
    layers.push(dense(1 + draw(40), some_activation(draw(8))));
    if draw(2) == 0 {
        layers.push(dropout(0.5));
    }
    let last = [Activation::Softmax, Activation::Softmax, Activation::Sigmoid][draw(3)];
    layers.push(dense(2 + draw(20), last));
    match Graph::sequential(&input, layers) {
        Ok(graph) => graph,
        // A window did not fit: try another.
        Err(_) => random(seed + 10_000),
    }
}

/// A small network with branches: a value read by two or three layers, some of which change what they
/// read in place, and that meet again.
pub(crate) fn branched(seed: u64) -> Graph {
    let mut draws = 0;
    let mut draw = |bound: usize| {
        draws += 1;
        Key::new(seed, Purpose::Synthetic).with(3).below(draws, bound as u64) as usize
    };
    let mut nodes = vec![];
    let mut add = |layer: Layer, inputs: Vec<usize>| {
        let name = format!("layer{}", nodes.len());
        nodes.push(Node { name, layer, inputs });
        nodes.len() - 1
    };
    let shape = vec![4 + draw(4), 4 + draw(4), 1 + draw(3)];
    let mut at = add(Layer::Input(Input { shape }), vec![]);
    for _ in 0..1 + draw(3) {
        let filters = 1 + draw(9);
        let mut branches = vec![];
        for _ in 0..2 + draw(2) {
            let size = [1 + draw(3), 1 + draw(3)];
            let mut layer = conv(filters, size, [1, 1], Padding::Same);
            layer.activation = some_activation(draw(21));
            let layer = match draw(3) {
                0 => separable(layer, 1 + draw(2)),
                _ => {
                    layer.trainable = draw(5) > 0;
                    Layer::Conv2D(layer)
                }
            };
            let mut end = add(layer, vec![at]);
            match draw(8) {
                0 => end = add(activation(some_activation(draw(21))), vec![end]),
                7 => {
                    // Of rows that are nearly zero, the direction is what rounding left.
                    end = add(activation(Activation::Sigmoid), vec![end]);
                    end = add(row_normalize(draw(6)), vec![end]);
                }
                1 => end = add(dropout(0.3), vec![end]),
                2 | 3 => {
                    end = add(normalize(draw(6)), vec![end]);
                    if draw(2) == 0 {
                        end = add(activation(Activation::Relu), vec![end]);
                    }
                }
                _ => {}
            }
            branches.push(end);
        }
        // The same value twice, and one that passes all layers by.
        if draw(3) == 0 {
            branches.push(branches[0]);
        }
        let add_up = draw(2) == 0;
        if !add_up && draw(2) == 0 {
            branches.push(at);
        }
        let join = if add_up { Layer::Add(Add {}) } else { Layer::Concatenate(Concatenate {}) };
        at = add(join, branches);
        if draw(2) == 0 {
            at = add(activation(some_activation(draw(21))), vec![at]);
        }
    }
    if let Some(layer) = by_channel(&mut draw) {
        at = add(layer, vec![at]);
    }
    at = match draw(3) {
        0 => add(Layer::GlobalAveragePooling2D(GlobalPooling2D { keepdims: false }), vec![at]),
        1 => add(Layer::GlobalMaxPooling2D(GlobalPooling2D { keepdims: false }), vec![at]),
        _ => add(flatten(), vec![at]),
    };
    add(dense(2 + draw(9), Activation::Softmax), vec![at]);
    Graph::new(nodes).expect("branches that fit")
}

/// Windows for each channel, or none.
fn by_channel(draw: &mut impl FnMut(usize) -> usize) -> Option<Layer> {
    Some(match draw(6) {
        0 => depthwise(1 + draw(2), [1 + draw(2), 1 + draw(2)], Padding::Same),
        1 => depthwise(1 + draw(2), [1 + draw(2), 1 + draw(2)], Padding::Valid),
        2 => average([2 + draw(2), 2], [1 + draw(2), 1], Padding::Same),
        3 => average([2, 1 + draw(2)], [2, 1], Padding::Valid),
        _ => return None,
    })
}

fn some_activation(draw: usize) -> Activation {
    match draw {
        0 => Activation::Linear,
        1 => Activation::Sigmoid,
        2 => Activation::Tanh,
        3 => Activation::Softmax,
        8 => Activation::Elu,
        10 => Activation::HardSigmoid,
        11 => Activation::LeakyRelu,
        12 => Activation::Relu6,
        13 => Activation::Selu,
        14 => Activation::Softplus,
        15 => Activation::Softsign,
        16 => Activation::Gelu,
        17 => Activation::Silu,
        18 => Activation::Mish,
        19 => Activation::HardSilu,
        20 => Activation::HardTanh,
        _ => Activation::Relu,
    }
}
