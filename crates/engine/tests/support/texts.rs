//! Random small networks that read sequences, and samples for any network.

use model::Graph;
use random::{Key, Purpose};
use spec::{
    Activation, Bidirectional, Embedding, Gru, Initializer, Layer, Lstm, MergeMode, Recurrent,
};

use super::networks::{dense, dropout, flatten};
use super::uniform;

/// Samples that a network takes: ids, many of them 0, or numbers.
pub(crate) fn samples(graph: &Graph, seed: u64, n: usize) -> Vec<f32> {
    let len = n * graph.input_shape().iter().product::<usize>();
    let Some(words) = graph.vocabulary() else { return uniform(seed, len, 1.0) };
    let key = Key::new(seed, Purpose::Synthetic).with(7);
    let id = |i: u64| match key.below(i, 4) {
        0 => 0.0,
        _ => key.with(1).below(i, words as u64) as f32,
    };
    (0..len as u64).map(id).collect()
}

/// A small network that reads sequences of ids or numbers, in all the ways there are.
pub(crate) fn sequences(seed: u64) -> Graph {
    let mut draws = 0;
    let mut draw = |bound: usize| {
        draws += 1;
        Key::new(seed, Purpose::Synthetic).with(4).below(draws, bound as u64) as usize
    };
    let steps = 1 + draw(7);
    let mut layers = vec![];
    let input = match draw(4) {
        0 => vec![steps, 1 + draw(5)],
        _ => {
            layers.push(Layer::Embedding(Embedding {
                input_dim: 2 + draw(9),
                output_dim: 1 + draw(6),
                embeddings_initializer: Initializer::Uniform,
                mask_zero: draw(2) == 0,
                trainable: true,
            }));
            vec![steps]
        }
    };
    if draw(4) == 0 {
        layers.push(dropout(0.3));
    }
    let count = 1 + draw(2);
    for number in 0..count {
        let last = number + 1 == count;
        let every = !last || draw(3) == 0;
        let in_both = draw(2) == 0;
        let flags = [every, draw(4) == 0 && !in_both, draw(4) > 0, draw(3) > 0];
        let units = [1 + draw(5), 33 + draw(8)][usize::from(draw(8) == 0)];
        let layer = reader(units, draw(3) == 0, flags);
        let merge = [MergeMode::Concat, MergeMode::Sum, MergeMode::Ave, MergeMode::Mul][draw(4)];
        layers.push(match (in_both, layer) {
            (true, layer) => {
                Layer::Bidirectional(Bidirectional { layer, merge_mode: merge, trainable: true })
            }
            (_, Recurrent::Gru(gru)) => Layer::Gru(gru),
            (_, Recurrent::Lstm(lstm)) => Layer::Lstm(lstm),
        });
        if last && every {
            layers.push(flatten());
        }
    }
    layers.push(dense(2 + draw(4), Activation::Softmax));
    Graph::sequential(&input, layers).expect("a network of sequences")
}

fn reader(units: usize, is_lstm: bool, flags: [bool; 4]) -> Recurrent {
    let [return_sequences, go_backwards, use_bias, reset_after] = flags;
    let (activation, recurrent_activation) = (Activation::Tanh, Activation::Sigmoid);
    let kernel_initializer = Initializer::GlorotUniform;
    let recurrent_initializer = Initializer::Orthogonal;
    let bias_initializer = Initializer::Zeros;
    match is_lstm {
        true => Recurrent::Lstm(Lstm {
            units,
            activation,
            recurrent_activation,
            use_bias,
            unit_forget_bias: true,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            return_sequences,
            go_backwards,
            trainable: true,
        }),
        false => Recurrent::Gru(Gru {
            units,
            activation,
            recurrent_activation,
            use_bias,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            return_sequences,
            go_backwards,
            reset_after,
            trainable: true,
        }),
    }
}
