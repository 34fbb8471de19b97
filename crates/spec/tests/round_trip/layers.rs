//! Any layer.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spec::{
    Activation, ActivationLayer, Add, Concatenate, Conv2D, Dense, DepthwiseConv2D, Dropout,
    Flatten, GlobalPooling2D, Initializer, Input, Layer, Padding, Pooling2D, Reshape,
    SeparableConv2D,
};

use crate::{pair, share};

fn activation() -> impl Strategy<Value = Activation> {
    prop_oneof![
        Just(Activation::Linear),
        Just(Activation::Relu),
        Just(Activation::Sigmoid),
        Just(Activation::Tanh),
        Just(Activation::Softmax),
        Just(Activation::HardSigmoid),
        Just(Activation::Relu6)
    ]
}

fn initializer() -> impl Strategy<Value = Initializer> {
    prop_oneof![
        Just(Initializer::GlorotUniform),
        Just(Initializer::HeNormal),
        Just(Initializer::Zeros),
        Just(Initializer::Ones),
        (1e-30f32..1000.0).prop_map(|stddev| Initializer::TruncatedNormal { stddev }),
    ]
}

fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![Just(Padding::Valid), Just(Padding::Same)]
}

pub(crate) fn layer() -> impl Strategy<Value = Layer> {
    let weights = || (activation(), any::<bool>(), initializer(), initializer());
    prop_oneof![
        vec(1usize..1000, 1..4).prop_map(|shape| Layer::Input(Input { shape })),
        (1usize..1000, weights()).prop_map(|(units, (activation, use_bias, kernel, bias))| {
            Layer::Dense(Dense {
                units,
                activation,
                use_bias,
                kernel_initializer: kernel,
                bias_initializer: bias,
                trainable: true,
            })
        }),
        (1usize..1000, pair(), pair(), padding(), weights()).prop_map(
            |(filters, kernel_size, strides, padding, (activation, use_bias, kernel, bias))| {
                Layer::Conv2D(Conv2D {
                    filters,
                    kernel_size,
                    strides,
                    padding,
                    activation,
                    use_bias,
                    kernel_initializer: kernel,
                    bias_initializer: bias,
                    trainable: true,
                })
            }
        ),
        (pair(), option::of(pair()), padding()).prop_map(|(pool_size, strides, padding)| {
            Layer::MaxPooling2D(Pooling2D { pool_size, strides, padding })
        }),
        (pair(), option::of(pair()), padding()).prop_map(|(pool_size, strides, padding)| {
            Layer::AveragePooling2D(Pooling2D { pool_size, strides, padding })
        }),
        any::<bool>()
            .prop_map(|keepdims| Layer::GlobalAveragePooling2D(GlobalPooling2D { keepdims })),
        any::<bool>().prop_map(|keepdims| Layer::GlobalMaxPooling2D(GlobalPooling2D { keepdims })),
        vec(1usize..100, 1..4).prop_map(|target_shape| Layer::Reshape(Reshape { target_shape })),
        Just(Layer::Add(Add {})),
        Just(Layer::Concatenate(Concatenate {})),
        channelwise(),
        share().prop_map(|rate| Layer::Dropout(Dropout { rate })),
        Just(Layer::Flatten(Flatten {})),
        activation().prop_map(|activation| Layer::Activation(ActivationLayer { activation })),
    ]
}

fn channelwise() -> impl Strategy<Value = Layer> {
    let weights = (activation(), any::<bool>(), [initializer(), initializer(), initializer()]);
    let sizes = (pair(), pair(), padding(), 1usize..9);
    (option::of(1usize..1000), sizes, weights).prop_map(|(filters, sizes, weights)| {
        let (kernel_size, strides, padding, depth_multiplier) = sizes;
        let (activation, use_bias, [depthwise, pointwise, bias]) = weights;
        match filters {
            None => Layer::DepthwiseConv2D(DepthwiseConv2D {
                kernel_size,
                strides,
                padding,
                depth_multiplier,
                activation,
                use_bias,
                depthwise_initializer: depthwise,
                bias_initializer: bias,
                trainable: true,
            }),
            Some(filters) => Layer::SeparableConv2D(SeparableConv2D {
                filters,
                kernel_size,
                strides,
                padding,
                depth_multiplier,
                activation,
                use_bias,
                depthwise_initializer: depthwise,
                pointwise_initializer: pointwise,
                bias_initializer: bias,
                trainable: true,
            }),
        }
    })
}
