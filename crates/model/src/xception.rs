//! The network of S4: a small Xception, Keras' example of classifying pictures from scratch.
//!
//! Pictures are flipped and turned while training. Two convolutions halve them once; four blocks of
//! separable convolutions halve them each, with a shortcut past every block; then the mean of each
//! channel decides.

use spec::{
    Activation, ActivationLayer, Add, BatchNormalization, Conv2D, Dropout, Fill, Flip,
    GlobalPooling2D, Initializer, Layer, Padding, Pair, Pooling2D, RandomFlip, RandomRotation,
    Rescaling, SeparableConv2D,
};

use crate::build::Build;
use crate::network::dense;
use crate::{Graph, GraphError};

/// Channels of each block.
const BLOCKS: [usize; 4] = [128, 256, 512, 728];

pub(crate) fn small_xception(
    input: &[usize],
    classes: usize,
    dropout: f32,
) -> Result<Graph, GraphError> {
    let mut build = Build::new(input);
    build.then(Layer::RandomFlip(RandomFlip { mode: Flip::Horizontal }));
    build.then(Layer::RandomRotation(RandomRotation { factor: 0.1, fill_mode: Fill::Reflect }));
    build.then(Layer::Rescaling(Rescaling { scale: 1.0 / 255.0, offset: 0.0 }));
    build.then(conv(32, 3, 2));
    normalize(&mut build);
    relu(&mut build);
    build.then(conv(64, 3, 1));
    normalize(&mut build);
    let mut last = relu(&mut build);
    for filters in BLOCKS {
        last = block(&mut build, last, filters);
    }
    build.then(separable(1024));
    normalize(&mut build);
    relu(&mut build);
    build.then(Layer::GlobalAveragePooling2D(GlobalPooling2D::default()));
    build.then(Layer::Dropout(Dropout { rate: dropout }));
    let (units, activation) = match classes {
        2 => (1, Activation::Sigmoid),
        _ => (classes, Activation::Softmax),
    };
    build.then(Layer::Dense(dense(units, activation)));
    build.graph()
}

/// Two separable convolutions and a pooling, and a shortcut past all three.
fn block(build: &mut Build, from: usize, filters: usize) -> usize {
    for _ in 0..2 {
        relu(build);
        build.then(separable(filters));
        normalize(build);
    }
    let long = build.then(Layer::MaxPooling2D(Pooling2D {
        pool_size: Pair::square(3),
        strides: Some(Pair::square(2)),
        padding: Padding::Same,
    }));
    let short = build.add(conv(filters, 1, 2), vec![from]);
    build.add(Layer::Add(Add {}), vec![long, short])
}

fn relu(build: &mut Build) -> usize {
    build.then(Layer::Activation(ActivationLayer { activation: Activation::Relu }))
}

fn normalize(build: &mut Build) -> usize {
    build.then(Layer::BatchNormalization(BatchNormalization::default()))
}

fn conv(filters: usize, size: usize, stride: usize) -> Layer {
    Layer::Conv2D(Conv2D {
        strides: Pair::square(stride),
        padding: Padding::Same,
        ..Conv2D::new(filters, Pair::square(size))
    })
}

fn separable(filters: usize) -> Layer {
    Layer::SeparableConv2D(SeparableConv2D {
        filters,
        kernel_size: Pair::square(3),
        strides: Pair::square(1),
        padding: Padding::Same,
        dilation_rate: Pair::square(1),
        depth_multiplier: 1,
        activation: Activation::Linear,
        use_bias: true,
        depthwise_initializer: Initializer::GlorotUniform,
        pointwise_initializer: Initializer::GlorotUniform,
        bias_initializer: Initializer::Zeros,
        trainable: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_xception_is_the_network_of_s4() {
        let graph = small_xception(&[180, 180, 3], 2, 0.5).unwrap();
        assert_eq!(graph.parameter_count(), 2_782_649);
        assert_eq!(graph.output_shape(), [1]);
        assert!(graph.takes_bytes());
        let small = small_xception(&[30, 30, 3], 5, 0.5).unwrap();
        assert_eq!(small.output_shape(), [5]);
        let sides: Vec<usize> = (0..small.nodes().len()).map(|node| small.shape(node)[0]).collect();
        for side in [30, 15, 8, 4, 2, 1] {
            assert!(sides.contains(&side), "{sides:?}");
        }
        let last = small.nodes().iter().rev().find(|node| node.name.starts_with("batch"));
        assert_eq!(last.unwrap().name, "batch_normalization_10");
    }
}
