//! A network for faces on small machines: a picture of any size becomes an embedding.
//!
//! Convolutions halve the picture until it has sixteen rows and columns at most, and means of four pixels
//! halve it once more. Where a face has its eyes and mouth matters, so what is left is not averaged over
//! places but taken as it is; pictures of any size take about as many weights. Much is dropped before the
//! last layer: a few dozen people are soon learned by heart, and others then not recognized. The embedding is
//! brought to mean 0 and a length of about 1, so that triplets cannot be told apart by making it longer, and
//! what is near in training is near when it is used. Moving means follow fast, because a laptop takes few
//! steps.

use spec::{
    Activation, ActivationLayer, BatchNormalization, Conv2D, Dense, Dropout, Fill, Flatten, Flip,
    Layer, Padding, Pair, Pooling2D, RandomFlip, RandomRotation, Rescaling,
};

use crate::network::dense;
use crate::{Graph, GraphError};

/// How large what convolutions leave of a picture may be.
const LEFT: usize = 16;

/// Channels of the first convolution, and of all that follow.
const FIRST: usize = 48;
const LATER: usize = 64;

/// How slowly moving means follow.
const MOMENTUM: f32 = 0.9;

pub(crate) fn facenet_small(
    input: &[usize],
    dropout: f32,
    embedding: usize,
) -> Result<Graph, GraphError> {
    let mut layers = vec![
        Layer::RandomFlip(RandomFlip { mode: Flip::Horizontal }),
        Layer::RandomRotation(RandomRotation { factor: 0.05, fill_mode: Fill::Nearest }),
        Layer::Rescaling(Rescaling { scale: 2.0 / 255.0, offset: -1.0 }),
    ];
    let side = input.iter().take(2).copied().max().unwrap_or(1);
    let halvings = std::iter::successors(Some(side), |side| Some(side.div_ceil(2)));
    let halvings = halvings.take_while(|&side| side > LEFT).count();
    for halving in 0..halvings.max(2) {
        let filters = if halving == 0 { FIRST } else { LATER };
        layers.push(conv(filters, if halving < halvings { 2 } else { 1 }));
        layers.push(normalize(true));
        layers.push(Layer::Activation(ActivationLayer { activation: Activation::Relu }));
    }
    layers.push(Layer::AveragePooling2D(Pooling2D {
        pool_size: Pair::square(2),
        strides: None,
        padding: Padding::Same,
    }));
    layers.push(Layer::Flatten(Flatten {}));
    layers.push(Layer::Dropout(Dropout { rate: dropout }));
    let last = Dense { use_bias: false, ..dense(embedding, Activation::Linear) };
    layers.push(Layer::Dense(last));
    layers.push(normalize(false));
    let scale = (1.0 / (embedding as f64).sqrt()) as f32;
    layers.push(Layer::Rescaling(Rescaling { scale, offset: 0.0 }));
    Graph::sequential(input, layers)
}

/// Brings channels to mean 0 and variance 1, or to what is learned instead.
fn normalize(learned: bool) -> Layer {
    Layer::BatchNormalization(BatchNormalization {
        momentum: MOMENTUM,
        center: learned,
        scale: learned,
        ..BatchNormalization::default()
    })
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
            ([112, 92, 1], 237_808),
            ([56, 46, 1], 200_688),
            ([160, 160, 3], 206_160),
            ([28, 28, 1], 229_360),
            ([1, 1, 1], 32_752),
        ] {
            let graph = facenet_small(&input, 0.0, 64).unwrap();
            assert_eq!(graph.output_shape(), [64]);
            assert_eq!(graph.parameter_count(), parameters, "{input:?}");
            assert!(graph.takes_bytes());
        }
    }
}
