//! The network of S3: FaceNet as an Inception-ResNet v1, which makes 128 numbers of a face.
//!
//! A stem makes the picture small; three kinds of blocks follow, the last two of them after a reduction.
//! A block looks at the same values in several ways (branches), and what they find is added, scaled down,
//! to what came in: x + scale · up. Then the mean of each channel becomes the embedding.

use spec::{
    Activation, ActivationLayer, Add, BatchNormalization, Concatenate, Conv2D, Dense, Dropout,
    GlobalPooling2D, Layer, Padding, Pair, Pooling2D, Rescaling,
};

use crate::build::Build;
use crate::network::dense;
use crate::{Graph, GraphError};

/// A convolution of a branch: channels, window and stride.
type Window = (usize, [usize; 2], usize);

/// Convolutions one after another. One with a stride has no padding.
type Branch = &'static [Window];

/// A block: its branches.
const BLOCK_35: &[Branch] = &[
    &[(32, [1, 1], 1)],
    &[(32, [1, 1], 1), (32, [3, 3], 1)],
    &[(32, [1, 1], 1), (32, [3, 3], 1), (32, [3, 3], 1)],
];
const BLOCK_17: &[Branch] =
    &[&[(128, [1, 1], 1)], &[(128, [1, 1], 1), (128, [1, 7], 1), (128, [7, 1], 1)]];
const BLOCK_8: &[Branch] =
    &[&[(192, [1, 1], 1)], &[(192, [1, 1], 1), (192, [1, 3], 1), (192, [3, 1], 1)]];

/// A reduction: its branches, beside which there is a pooling.
const REDUCTION_A: &[Branch] =
    &[&[(384, [3, 3], 2)], &[(192, [1, 1], 1), (192, [3, 3], 1), (256, [3, 3], 2)]];
const REDUCTION_B: &[Branch] = &[
    &[(256, [1, 1], 1), (384, [3, 3], 2)],
    &[(256, [1, 1], 1), (256, [3, 3], 2)],
    &[(256, [1, 1], 1), (256, [3, 3], 1), (256, [3, 3], 2)],
];

pub(crate) fn facenet(
    input: &[usize],
    dropout: f32,
    embedding: usize,
) -> Result<Graph, GraphError> {
    let mut build = Build::new(input);
    let mut last = stem(&mut build);
    for _ in 0..5 {
        last = block(&mut build, last, BLOCK_35, (256, 0.17));
        last = relu(&mut build, last);
    }
    last = reduction(&mut build, last, REDUCTION_A);
    for _ in 0..10 {
        last = block(&mut build, last, BLOCK_17, (896, 0.1));
        last = relu(&mut build, last);
    }
    last = reduction(&mut build, last, REDUCTION_B);
    for _ in 0..5 {
        last = block(&mut build, last, BLOCK_8, (1792, 0.2));
        last = relu(&mut build, last);
    }
    block(&mut build, last, BLOCK_8, (1792, 1.0));
    build.then(Layer::GlobalAveragePooling2D(GlobalPooling2D::default()));
    build.then(Layer::Dropout(Dropout { rate: dropout }));
    build.then(Layer::Dense(Dense { use_bias: false, ..dense(embedding, Activation::Linear) }));
    build.then(normalize());
    build.graph()
}

/// The picture, made small.
fn stem(build: &mut Build) -> usize {
    let mut last = 0;
    let valid = Padding::Valid;
    for (window, padding) in
        [((32, [3, 3], 2), valid), ((32, [3, 3], 1), valid), ((64, [3, 3], 1), Padding::Same)]
    {
        last = convolve(build, last, window, padding);
    }
    last = pool(build, last);
    for window in [(80, [1, 1], 1), (192, [3, 3], 1), (256, [3, 3], 2)] {
        last = convolve(build, last, window, valid);
    }
    last
}

/// Several looks at the same values, added to them scaled down.
fn block(
    build: &mut Build,
    from: usize,
    branches: &[Branch],
    (channels, scale): (usize, f32),
) -> usize {
    let ends = branches.iter().map(|branch| follow(build, from, branch)).collect();
    let mixed = build.add(Layer::Concatenate(Concatenate {}), ends);
    let up = Conv2D { use_bias: true, ..conv((channels, [1, 1], 1), Padding::Same) };
    build.add(Layer::Conv2D(up), vec![mixed]);
    let up = build.then(Layer::Rescaling(Rescaling { scale, offset: 0.0 }));
    build.add(Layer::Add(Add {}), vec![from, up])
}

/// Half the height and width, and more channels.
fn reduction(build: &mut Build, from: usize, branches: &[Branch]) -> usize {
    let mut ends: Vec<usize> = branches.iter().map(|branch| follow(build, from, branch)).collect();
    ends.push(pool(build, from));
    build.add(Layer::Concatenate(Concatenate {}), ends)
}

fn follow(build: &mut Build, from: usize, branch: Branch) -> usize {
    branch.iter().fold(from, |last, &window| {
        let padding = if window.2 == 1 { Padding::Same } else { Padding::Valid };
        convolve(build, last, window, padding)
    })
}

/// A convolution without a constant, normalized, and ReLU.
fn convolve(build: &mut Build, from: usize, window: Window, padding: Padding) -> usize {
    build.add(Layer::Conv2D(conv(window, padding)), vec![from]);
    let normalized = build.then(normalize());
    relu(build, normalized)
}

fn conv((filters, [height, width], stride): Window, padding: Padding) -> Conv2D {
    Conv2D {
        strides: Pair::square(stride),
        padding,
        use_bias: false,
        ..Conv2D::new(filters, Pair { height, width })
    }
}

fn normalize() -> Layer {
    Layer::BatchNormalization(BatchNormalization {
        momentum: 0.995,
        epsilon: 0.001,
        scale: false,
        ..BatchNormalization::default()
    })
}

fn relu(build: &mut Build, from: usize) -> usize {
    build.add(Layer::Activation(ActivationLayer { activation: Activation::Relu }), vec![from])
}

fn pool(build: &mut Build, from: usize) -> usize {
    let pool = Pooling2D {
        pool_size: Pair::square(3),
        strides: Some(Pair::square(2)),
        padding: Padding::Valid,
    };
    build.add(Layer::MaxPooling2D(pool), vec![from])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn facenet_is_the_network_of_s3() {
        let graph = facenet(&[160, 160, 3], 0.2, 128).unwrap();
        assert_eq!(graph.parameter_count(), 22_808_144);
        let trained = graph.weights().iter().filter(|weight| weight.kind == Kind::Trained);
        assert_eq!(trained.map(|weight| weight.range.len()).sum::<usize>(), 22_779_312);
        assert_eq!(graph.output_shape(), [128]);
        assert!(!graph.takes_bytes());
        // S3 had 447 layers: its scaled sum was one layer, and here it is two.
        assert_eq!(graph.nodes().len(), 447);
        let shapes: Vec<&[usize]> =
            (0..graph.nodes().len()).map(|node| graph.shape(node)).collect();
        for shape in [[38, 38, 64], [17, 17, 256], [8, 8, 896], [3, 3, 1792]] {
            assert!(shapes.contains(&&shape[..]), "{shape:?}");
        }
        assert_eq!(facenet(&[75, 75, 1], 0.0, 64).unwrap().output_shape(), [64]);
        assert!(facenet(&[74, 74, 3], 0.2, 128).is_err());
    }
}
