//! A network for faces on small machines: a picture of any size becomes an embedding.

use spec::{
    Activation, ActivationLayer, BatchNormalization, Conv2D, Dropout, Flip, GlobalPooling2D,
    Initializer, Layer, Padding, Pair, RandomFlip, RandomRotation, Rescaling,
};

use crate::Graph;
use crate::GraphError;
use crate::network::dense;

/// Channels of each convolution, and its stride.
const CONVOLUTIONS: [(usize, usize); 6] = [(24, 2), (48, 2), (64, 2), (64, 1), (96, 2), (96, 1)];

pub(crate) fn facenet_small(
    input: &[usize],
    dropout: f32,
    embedding: usize,
) -> Result<Graph, GraphError> {
    let mut layers = vec![
        Layer::RandomFlip(RandomFlip { mode: Flip::Horizontal }),
        Layer::RandomRotation(RandomRotation { factor: 0.03, fill_mode: spec::Fill::Nearest }),
        Layer::Rescaling(Rescaling { scale: 1.0 / 255.0, offset: 0.0 }),
    ];
    for (filters, stride) in CONVOLUTIONS {
        layers.push(conv(filters, stride));
        layers.push(Layer::BatchNormalization(BatchNormalization::default()));
        layers.push(Layer::Activation(ActivationLayer { activation: Activation::Relu }));
    }
    layers.push(Layer::GlobalAveragePooling2D(GlobalPooling2D::default()));
    layers.push(Layer::Dropout(Dropout { rate: dropout }));
    layers.push(Layer::Dense(dense(embedding, Activation::Linear)));
    Graph::sequential(input, layers)
}

fn conv(filters: usize, stride: usize) -> Layer {
    Layer::Conv2D(Conv2D {
        filters,
        kernel_size: Pair::square(3),
        strides: Pair::square(stride),
        padding: Padding::Same,
        activation: Activation::Linear,
        use_bias: false,
        kernel_initializer: Initializer::GlorotUniform,
        bias_initializer: Initializer::Zeros,
        trainable: true,
    })
}
