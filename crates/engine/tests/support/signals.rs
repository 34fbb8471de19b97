//! Random small networks whose windows slide over sequences.

use model::Graph;
use random::{Key, Purpose};
use spec::{
    Activation, Conv1D, Embedding, GlobalPooling1D, Initializer, Layer, Padding, Padding1D,
    Pooling1D,
};

use super::networks::{dense, flatten, row_normalize};

/// A small network that reads sequences of ids or numbers by windows.
pub(crate) fn signals(seed: u64) -> Graph {
    let mut draws = 0;
    let mut draw = |bound: usize| {
        draws += 1;
        Key::new(seed, Purpose::Synthetic).with(5).below(draws, bound as u64) as usize
    };
    let (steps, features) = (4 + draw(12), 1 + draw(5));
    let mut layers = vec![];
    let mut input = vec![steps, features];
    if draw(3) == 0 {
        layers.push(Layer::Embedding(Embedding {
            input_dim: 2 + draw(9),
            output_dim: features,
            embeddings_initializer: Initializer::Uniform,
            mask_zero: false,
            trainable: true,
        }));
        input.pop();
    }
    for _ in 0..1 + draw(2) {
        layers.push(Layer::Conv1D(Conv1D {
            filters: 1 + draw(20),
            kernel_size: 1 + draw(4),
            strides: 1 + draw(2),
            padding: [Padding1D::Valid, Padding1D::Same, Padding1D::Causal][draw(3)],
            dilation_rate: 1,
            groups: 1,
            activation: [Activation::Relu, Activation::Tanh, Activation::Gelu][draw(3)],
            use_bias: draw(4) > 0,
            kernel_initializer: Initializer::default(),
            bias_initializer: Initializer::Zeros,
            trainable: draw(6) > 0,
        }));
        let pool = Pooling1D {
            pool_size: 1 + draw(3),
            strides: [None, Some(1 + draw(2))][draw(2)],
            padding: [Padding::Valid, Padding::Same][draw(2)],
        };
        match draw(5) {
            0 => layers.push(Layer::MaxPooling1D(pool)),
            1 => layers.push(Layer::AveragePooling1D(pool)),
            2 => layers.push(row_normalize(4)),
            _ => {}
        }
    }
    let global = GlobalPooling1D { keepdims: false };
    layers.push(match draw(3) {
        0 => Layer::GlobalMaxPooling1D(global),
        1 => Layer::GlobalAveragePooling1D(global),
        _ => flatten(),
    });
    layers.push(dense(2 + draw(5), Activation::Softmax));
    // Where a window does not fit, another is tried.
    Graph::sequential(&input, layers).unwrap_or_else(|_| signals(seed + 10_000))
}
