//! Any layer.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spec::{
    Activation, ActivationLayer, Add, Bidirectional, Concatenate, Conv1D, Conv2D, Dense,
    DepthwiseConv2D, Dropout, Embedding, Flatten, GlobalPooling1D, GlobalPooling2D, Gru,
    Initializer, Input, Layer, LayerNormalization, Lstm, MergeMode, Padding, Padding1D, Pooling1D,
    Pooling2D, Recurrent, Reshape, SeparableConv2D, UnitNormalization,
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
        Just(Activation::Relu6),
        Just(Activation::Gelu),
        Just(Activation::Silu),
        Just(Activation::Mish),
        Just(Activation::HardSilu),
        Just(Activation::HardTanh)
    ]
}

fn initializer() -> impl Strategy<Value = Initializer> {
    prop_oneof![
        Just(Initializer::GlorotUniform),
        Just(Initializer::HeNormal),
        Just(Initializer::Zeros),
        Just(Initializer::Ones),
        Just(Initializer::Uniform),
        Just(Initializer::Orthogonal),
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
        (1usize..1000, pair(), pair(), padding(), (pair(), 1usize..9), weights()).prop_map(
            |(filters, kernel_size, strides, padding, (dilation_rate, groups), weights)| {
                let (activation, use_bias, kernel, bias) = weights;
                Layer::Conv2D(Conv2D {
                    filters,
                    kernel_size,
                    strides,
                    padding,
                    dilation_rate,
                    groups,
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
        Just(Layer::UnitNormalization(UnitNormalization {})),
        normalization(),
        signal(),
        Just(Layer::Concatenate(Concatenate {})),
        channelwise(),
        sequence(),
        share().prop_map(|rate| Layer::Dropout(Dropout { rate })),
        Just(Layer::Flatten(Flatten {})),
        activation().prop_map(|activation| Layer::Activation(ActivationLayer { activation })),
    ]
}

fn signal() -> impl Strategy<Value = Layer> {
    let edges = prop_oneof![Just(Padding1D::Valid), Just(Padding1D::Same), Just(Padding1D::Causal)];
    let sizes = (1usize..100, 1usize..9, 1usize..9, 1usize..9);
    let conv = (1usize..1000, sizes, edges, activation(), initializer()).prop_map(
        |(filters, sizes, padding, activation, kernel_initializer)| {
            let (kernel_size, strides, dilation_rate, groups) = sizes;
            Layer::Conv1D(Conv1D {
                filters,
                kernel_size,
                strides,
                padding,
                dilation_rate,
                groups,
                activation,
                use_bias: strides != 2,
                kernel_initializer,
                bias_initializer: Initializer::Zeros,
                trainable: strides != 3,
            })
        },
    );
    let pool = (1usize..100, option::of(1usize..9), padding())
        .prop_map(|(pool_size, strides, padding)| Pooling1D { pool_size, strides, padding });
    prop_oneof![
        conv,
        (pool, any::<bool>()).prop_map(|(pool, largest)| match largest {
            true => Layer::MaxPooling1D(pool),
            false => Layer::AveragePooling1D(pool),
        }),
        any::<bool>().prop_map(|keepdims| Layer::GlobalMaxPooling1D(GlobalPooling1D { keepdims })),
        any::<bool>()
            .prop_map(|keepdims| Layer::GlobalAveragePooling1D(GlobalPooling1D { keepdims })),
    ]
}

fn normalization() -> impl Strategy<Value = Layer> {
    let flags = any::<[bool; 3]>();
    (1e-30f32..1.0, flags, [initializer(), initializer()]).prop_map(|(epsilon, flags, starts)| {
        let [center, scale, trainable] = flags;
        let [beta_initializer, gamma_initializer] = starts;
        Layer::LayerNormalization(LayerNormalization {
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            trainable,
        })
    })
}

fn channelwise() -> impl Strategy<Value = Layer> {
    let weights = (activation(), any::<bool>(), [initializer(), initializer(), initializer()]);
    let sizes = (pair(), pair(), padding(), pair(), 1usize..9);
    (option::of(1usize..1000), sizes, weights).prop_map(|(filters, sizes, weights)| {
        let (kernel_size, strides, padding, dilation_rate, depth_multiplier) = sizes;
        let (activation, use_bias, [depthwise, pointwise, bias]) = weights;
        match filters {
            None => Layer::DepthwiseConv2D(DepthwiseConv2D {
                kernel_size,
                strides,
                padding,
                dilation_rate,
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
                dilation_rate,
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

fn sequence() -> impl Strategy<Value = Layer> {
    let embedding = (1usize..1 << 24, 1usize..1000, initializer(), any::<bool>()).prop_map(
        |(input_dim, output_dim, embeddings_initializer, mask_zero)| {
            Layer::Embedding(Embedding {
                input_dim,
                output_dim,
                embeddings_initializer,
                mask_zero,
                trainable: !mask_zero,
            })
        },
    );
    let merge = prop_oneof![
        Just(MergeMode::Concat),
        Just(MergeMode::Sum),
        Just(MergeMode::Ave),
        Just(MergeMode::Mul)
    ];
    prop_oneof![
        embedding,
        recurrent().prop_map(|layer| match layer {
            Recurrent::Gru(gru) => Layer::Gru(gru),
            Recurrent::Lstm(lstm) => Layer::Lstm(lstm),
        }),
        (recurrent(), merge).prop_map(|(layer, merge_mode)| {
            Layer::Bidirectional(Bidirectional { layer, merge_mode, trainable: true })
        }),
    ]
}

fn recurrent() -> impl Strategy<Value = Recurrent> {
    let initializers = [initializer(), initializer(), initializer()];
    let flags = any::<[bool; 5]>();
    (1usize..1000, [activation(), activation()], initializers, flags).prop_map(
        |(units, [activation, recurrent_activation], [kernel, recurrent, bias], flags)| {
            let [is_gru, use_bias, return_sequences, go_backwards, last] = flags;
            match is_gru {
                true => Recurrent::Gru(Gru {
                    units,
                    activation,
                    recurrent_activation,
                    use_bias,
                    kernel_initializer: kernel,
                    recurrent_initializer: recurrent,
                    bias_initializer: bias,
                    return_sequences,
                    go_backwards,
                    reset_after: last,
                    trainable: true,
                }),
                false => Recurrent::Lstm(Lstm {
                    units,
                    activation,
                    recurrent_activation,
                    use_bias,
                    unit_forget_bias: last,
                    kernel_initializer: kernel,
                    recurrent_initializer: recurrent,
                    bias_initializer: bias,
                    return_sequences,
                    go_backwards,
                    trainable: true,
                }),
            }
        },
    )
}
