//! What each kind of layer makes of its input: the shape that comes out, the weights it needs.

use spec::{Initializer, Layer, Reshape};

use crate::window::{MAX_SIDE, picture};
use crate::{sequence, window};

/// One sample's output, and all weights together, stay below this many numbers: element counters
/// are 32-bit.
pub(crate) const MAX_ELEMENTS: usize = 1 << 31;

/// The class of a layer in Keras, and Keras' name for layers of that class.
pub(crate) fn class_and_stem(layer: &Layer) -> (&'static str, &'static str) {
    match layer {
        Layer::Input(_) => ("InputLayer", "input"),
        Layer::Dense(_) => ("Dense", "dense"),
        Layer::Conv1D(_) => ("Conv1D", "conv1d"),
        Layer::MaxPooling1D(_) => ("MaxPooling1D", "max_pooling1d"),
        Layer::AveragePooling1D(_) => ("AveragePooling1D", "average_pooling1d"),
        Layer::GlobalMaxPooling1D(_) => ("GlobalMaxPooling1D", "global_max_pooling1d"),
        Layer::GlobalAveragePooling1D(_) => ("GlobalAveragePooling1D", "global_average_pooling1d"),
        Layer::Conv2D(_) => ("Conv2D", "conv2d"),
        Layer::DepthwiseConv2D(_) => ("DepthwiseConv2D", "depthwise_conv2d"),
        Layer::SeparableConv2D(_) => ("SeparableConv2D", "separable_conv2d"),
        Layer::MaxPooling2D(_) => ("MaxPooling2D", "max_pooling2d"),
        Layer::AveragePooling2D(_) => ("AveragePooling2D", "average_pooling2d"),
        Layer::GlobalMaxPooling2D(_) => ("GlobalMaxPooling2D", "global_max_pooling2d"),
        Layer::GlobalAveragePooling2D(_) => ("GlobalAveragePooling2D", "global_average_pooling2d"),
        Layer::BatchNormalization(_) => ("BatchNormalization", "batch_normalization"),
        Layer::LayerNormalization(_) => ("LayerNormalization", "layer_normalization"),
        Layer::UnitNormalization(_) => ("UnitNormalization", "unit_normalization"),
        Layer::Rescaling(_) => ("Rescaling", "rescaling"),
        Layer::RandomFlip(_) => ("RandomFlip", "random_flip"),
        Layer::RandomRotation(_) => ("RandomRotation", "random_rotation"),
        Layer::RandomTranslation(_) => ("RandomTranslation", "random_translation"),
        Layer::ZeroPadding2D(_) => ("ZeroPadding2D", "zero_padding2d"),
        Layer::Dropout(_) => ("Dropout", "dropout"),
        Layer::Flatten(_) => ("Flatten", "flatten"),
        Layer::Reshape(_) => ("Reshape", "reshape"),
        Layer::Activation(_) => ("Activation", "activation"),
        Layer::Add(_) => ("Add", "add"),
        Layer::Concatenate(_) => ("Concatenate", "concatenate"),
        Layer::Embedding(_) => ("Embedding", "embedding"),
        Layer::Gru(_) => ("GRU", "gru"),
        Layer::Lstm(_) => ("LSTM", "lstm"),
        Layer::Bidirectional(_) => ("Bidirectional", "bidirectional"),
    }
}

/// The class of a layer in Keras.
pub fn class_of(layer: &Layer) -> &'static str {
    class_and_stem(layer).0
}

/// How many numbers a shape holds, if it is neither empty nor too large.
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    let product = shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side))?;
    (1..=MAX_ELEMENTS).contains(&product).then_some(product)
}

/// The shape of a layer's output for one sample.
pub(crate) fn output_shape(layer: &Layer, inputs: &[&[usize]]) -> Result<Vec<usize>, String> {
    if let Layer::Input(input) = layer {
        return Ok(input.shape.clone());
    }
    if let Layer::Add(_) | Layer::Concatenate(_) = layer {
        return joined_shape(layer, inputs);
    }
    let [input] = inputs else {
        return Err(format!("it reads {} layers, and takes one", inputs.len()));
    };
    check_arguments(layer)?;
    match layer {
        Layer::Input(_) | Layer::Add(_) | Layer::Concatenate(_) => unreachable!("answered above"),
        Layer::Dense(dense) => {
            Ok(input[..input.len() - 1].iter().copied().chain([dense.units]).collect())
        }
        Layer::Conv2D(_)
        | Layer::Conv1D(_)
        | Layer::DepthwiseConv2D(_)
        | Layer::SeparableConv2D(_)
        | Layer::MaxPooling2D(_)
        | Layer::AveragePooling2D(_)
        | Layer::MaxPooling1D(_)
        | Layer::AveragePooling1D(_)
        | Layer::GlobalMaxPooling2D(_)
        | Layer::GlobalAveragePooling2D(_)
        | Layer::GlobalMaxPooling1D(_)
        | Layer::GlobalAveragePooling1D(_) => window::shape(layer, input),
        Layer::Reshape(Reshape { target_shape }) => {
            match elements(target_shape) == elements(input) {
                true => Ok(target_shape.clone()),
                false => Err(format!("{input:?} has other than the numbers of {target_shape:?}")),
            }
        }
        Layer::RandomFlip(_) | Layer::RandomRotation(_) | Layer::RandomTranslation(_) => {
            picture(input).map(Vec::from)
        }
        Layer::ZeroPadding2D(layer) => {
            let [height, width, channels] = picture(input)?;
            let spec::Sides { top, bottom, left, right } = layer.padding;
            Ok(vec![height + top + bottom, width + left + right, channels])
        }
        Layer::Dropout(_)
        | Layer::Activation(_)
        | Layer::BatchNormalization(_)
        | Layer::LayerNormalization(_)
        | Layer::UnitNormalization(_)
        | Layer::Rescaling(_) => Ok(input.to_vec()),
        Layer::Flatten(_) => Ok(vec![input.iter().product()]),
        Layer::Embedding(_) | Layer::Gru(_) | Layer::Lstm(_) | Layer::Bidirectional(_) => {
            sequence::shape(layer, input)
        }
    }
}

/// Whether a layer's own numbers make sense, whatever it reads.
fn check_arguments(layer: &Layer) -> Result<(), String> {
    let problem = match layer {
        Layer::Dropout(layer) if !(0.0..1.0).contains(&layer.rate) => {
            format!("a rate of {} is not from 0 to below 1", layer.rate)
        }
        Layer::BatchNormalization(layer)
            if !((0.0..=1.0).contains(&layer.momentum) && layer.epsilon > 0.0) =>
        {
            "its momentum is from 0 to 1, and its epsilon above 0".into()
        }
        Layer::LayerNormalization(layer) if layer.epsilon.is_nan() || layer.epsilon <= 0.0 => {
            format!("an epsilon of {} is not above 0", layer.epsilon)
        }
        Layer::Rescaling(layer) if !(layer.scale.is_finite() && layer.offset.is_finite()) => {
            "its scale and offset must be finite numbers".into()
        }
        Layer::RandomRotation(layer) if !(0.0..=1.0).contains(&layer.factor) => {
            format!("a factor of {} is not from 0 to 1", layer.factor)
        }
        Layer::RandomTranslation(layer) => {
            let factors = [layer.height_factor, layer.width_factor];
            match factors.into_iter().find(|factor| !(0.0..=1.0).contains(factor)) {
                Some(factor) => format!("a factor of {factor} is not from 0 to 1"),
                None => return Ok(()),
            }
        }
        Layer::ZeroPadding2D(layer) => {
            let [down, across]: [[usize; 2]; 2] = layer.padding.into();
            match down.iter().chain(&across).max() {
                Some(&most) if most > MAX_SIDE => format!("a padding is at most {MAX_SIDE}"),
                _ => return Ok(()),
            }
        }
        _ => return Ok(()),
    };
    Err(problem)
}

/// The shape of what several layers come to.
fn joined_shape(layer: &Layer, inputs: &[&[usize]]) -> Result<Vec<usize>, String> {
    let [first, others @ ..] = inputs else { return Err("it reads no layer".into()) };
    if others.is_empty() {
        return Err("it reads one layer, and takes two or more; in `layers:`, where each reads the one before, it \
                    cannot stand"
            .into());
    }
    let but_last = |shape: &[usize]| shape[..shape.len() - 1].to_vec();
    let (alike, shape) = match layer {
        Layer::Add(_) => (others.iter().all(|other| other == first), first.to_vec()),
        _ => {
            let mut sides = inputs.iter().filter_map(|shape| shape.last());
            let sum = sides.try_fold(0usize, |sum, &side| sum.checked_add(side));
            let mut shape = but_last(first);
            shape.push(sum.ok_or("its output is too large")?);
            (others.iter().all(|other| but_last(other) == but_last(first)), shape)
        }
    };
    match alike {
        true => Ok(shape),
        false => Err(format!("shapes {inputs:?} do not fit together")),
    }
}

/// Suffix, shape and start of each weight of a layer, in Keras' order and layout. Shapes of inputs
/// have been checked.
pub(crate) fn weights_of(
    layer: &Layer,
    inputs: &[&[usize]],
) -> Vec<(&'static str, Vec<usize>, Initializer)> {
    let with_bias = |kernel, initializer, outputs, bias: Option<Initializer>| {
        let mut weights = vec![("kernel", kernel, initializer)];
        weights.extend(bias.map(|initializer| ("bias", vec![outputs], initializer)));
        weights
    };
    match layer {
        Layer::Dense(d) => {
            let kernel = vec![inputs[0][inputs[0].len() - 1], d.units];
            let bias = d.use_bias.then_some(d.bias_initializer);
            with_bias(kernel, d.kernel_initializer, d.units, bias)
        }
        Layer::DepthwiseConv2D(c) => {
            let (window, channels) = (c.kernel_size, inputs[0][2]);
            let kernel = vec![window.height, window.width, channels, c.depth_multiplier];
            let bias = c.use_bias.then_some(c.bias_initializer);
            with_bias(kernel, c.depthwise_initializer, channels * c.depth_multiplier, bias)
        }
        Layer::SeparableConv2D(c) => {
            let (window, channels) = (c.kernel_size, inputs[0][2]);
            let depthwise = vec![window.height, window.width, channels, c.depth_multiplier];
            let pointwise = vec![1, 1, channels.saturating_mul(c.depth_multiplier), c.filters];
            let mut weights = vec![
                ("depthwise_kernel", depthwise, c.depthwise_initializer),
                ("pointwise_kernel", pointwise, c.pointwise_initializer),
            ];
            weights.extend(c.use_bias.then(|| ("bias", vec![c.filters], c.bias_initializer)));
            weights
        }
        Layer::Conv2D(c) => {
            let window = c.kernel_size;
            let kernel = vec![window.height, window.width, inputs[0][2] / c.groups, c.filters];
            let bias = c.use_bias.then_some(c.bias_initializer);
            with_bias(kernel, c.kernel_initializer, c.filters, bias)
        }
        Layer::Conv1D(c) => {
            let kernel = vec![c.kernel_size, inputs[0][1] / c.groups, c.filters];
            let bias = c.use_bias.then_some(c.bias_initializer);
            with_bias(kernel, c.kernel_initializer, c.filters, bias)
        }
        Layer::BatchNormalization(norm) => {
            let channels = || vec![inputs[0][inputs[0].len() - 1]];
            let gamma = norm.scale.then(|| ("gamma", channels(), norm.gamma_initializer));
            let beta = norm.center.then(|| ("beta", channels(), norm.beta_initializer));
            let moving = [
                ("moving_mean", channels(), norm.moving_mean_initializer),
                ("moving_variance", channels(), norm.moving_variance_initializer),
            ];
            gamma.into_iter().chain(beta).chain(moving).collect()
        }
        Layer::LayerNormalization(norm) => {
            let channels = || vec![inputs[0][inputs[0].len() - 1]];
            let gamma = norm.scale.then(|| ("gamma", channels(), norm.gamma_initializer));
            let beta = norm.center.then(|| ("beta", channels(), norm.beta_initializer));
            gamma.into_iter().chain(beta).collect()
        }
        Layer::Embedding(_) | Layer::Gru(_) | Layer::Lstm(_) | Layer::Bidirectional(_) => {
            sequence::weights(layer, inputs[0])
        }
        _ => vec![],
    }
}
