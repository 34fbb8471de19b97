//! A network for faces on small machines: a picture of any size becomes an embedding.
//!
//! Convolutions halve the picture until it has eight rows and columns at most. Where a face has its eyes and mouth
//! matters, so what is left is not averaged over places but taken as it is; and as a few dozen people are soon learned by
//! heart, pictures are shifted and turned a little, but not flipped: a face is not the same on both sides. The embedding
//! is brought to length 1 in training as when it is used, so that triplets cannot be told apart by making it longer.
//! Moving means follow fast, because a laptop takes few steps.
//!
//! All this was chosen by the mean over four tens of the ORL's people, each held out in turn.

use spec::{
    Activation, ActivationLayer, BatchNormalization, Conv2D, Dense, Dropout, Fill, Flatten, Layer,
    Padding, Pair, RandomRotation, RandomTranslation, Rescaling, UnitNormalization,
};

use crate::network::dense;
use crate::{Graph, GraphError};

/// How large what convolutions leave of a picture may be.
const LEFT: usize = 8;

/// Filters of the first convolution, of the second, and of all that follow.
const FILTERS: [usize; 3] = [32, 64, 128];

/// How slowly moving means follow.
const MOMENTUM: f32 = 0.9;

pub(crate) fn facenet_small(
    input: &[usize],
    dropout: f32,
    embedding: usize,
) -> Result<Graph, GraphError> {
    let (by, fill_mode) = (0.03, Fill::Nearest);
    let mut layers = vec![
        Layer::RandomTranslation(RandomTranslation {
            height_factor: by,
            width_factor: by,
            fill_mode,
        }),
        Layer::RandomRotation(RandomRotation { factor: 0.01, fill_mode }),
        Layer::Rescaling(Rescaling { scale: 2.0 / 255.0, offset: -1.0 }),
    ];
    let side = input.iter().take(2).copied().max().unwrap_or(1);
    let halvings = std::iter::successors(Some(side), |side| Some(side.div_ceil(2)));
    let halvings = halvings.take_while(|&side| side > LEFT).count();
    for halving in 0..halvings.max(2) {
        let filters = FILTERS[halving.min(FILTERS.len() - 1)];
        layers.push(conv(filters, if halving < halvings { 2 } else { 1 }));
        layers.push(Layer::BatchNormalization(BatchNormalization {
            momentum: MOMENTUM,
            ..BatchNormalization::default()
        }));
        layers.push(Layer::Activation(ActivationLayer { activation: Activation::Relu }));
    }
    layers.push(Layer::Flatten(Flatten {}));
    layers.push(Layer::Dropout(Dropout { rate: dropout }));
    let last = Dense { use_bias: false, ..dense(embedding, Activation::Linear) };
    layers.push(Layer::Dense(last));
    layers.push(Layer::UnitNormalization(UnitNormalization {}));
    Graph::sequential(input, layers)
}

fn conv(filters: usize, stride: usize) -> Layer {
    Layer::Conv2D(Conv2D {
        strides: Pair::square(stride),
        padding: Padding::Same,
        use_bias: false,
        ..Conv2D::new(filters, Pair::square(3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_any_size_become_embeddings() {
        for (input, parameters) in [
            ([112, 92, 1], 585_376),
            ([56, 46, 1], 437_408),
            ([160, 160, 3], 594_656),
            ([28, 28, 1], 219_808),
            ([1, 1, 1], 23_200),
        ] {
            let graph = facenet_small(&input, 0.0, 64).unwrap();
            assert_eq!(graph.output_shape(), [64]);
            assert_eq!(graph.parameter_count(), parameters, "{input:?}");
            assert!(graph.takes_bytes());
        }
    }
}
