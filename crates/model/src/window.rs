//! What windows that slide over pictures and sequences make of them.

use spec::{Conv2D, Layer, Padding, Pair};

/// The shape of what a layer whose windows slide comes to.
pub(crate) fn shape(layer: &Layer, input: &[usize]) -> Result<Vec<usize>, String> {
    match layer {
        Layer::Conv2D(conv) => convolved(picture(input)?, conv).map(Vec::from),
        Layer::Conv1D(conv) => {
            let [_, steps, filters] = convolved(one_row(input)?, &conv.over_row())?;
            Ok(vec![steps, filters])
        }
        Layer::DepthwiseConv2D(conv) => {
            let window = (conv.kernel_size, conv.dilation_rate);
            let [height, width, channels] =
                slid(picture(input)?, window, conv.strides, conv.padding)?;
            let channels = channels.checked_mul(conv.depth_multiplier);
            Ok(vec![height, width, channels.ok_or("it has too many channels")?])
        }
        Layer::SeparableConv2D(conv) => {
            let window = (conv.kernel_size, conv.dilation_rate);
            let [height, width, _] = slid(picture(input)?, window, conv.strides, conv.padding)?;
            Ok(vec![height, width, conv.filters])
        }
        Layer::MaxPooling2D(pool) | Layer::AveragePooling2D(pool) => {
            let strides = pool.strides.unwrap_or(pool.pool_size);
            slid(picture(input)?, (pool.pool_size, ONE), strides, pool.padding).map(Vec::from)
        }
        Layer::MaxPooling1D(pool) | Layer::AveragePooling1D(pool) => {
            let (row, pool) = (one_row(input)?, pool.over_row());
            let strides = pool.strides.unwrap_or(pool.pool_size);
            let [_, steps, features] = slid(row, (pool.pool_size, ONE), strides, pool.padding)?;
            Ok(vec![steps, features])
        }
        Layer::GlobalMaxPooling2D(pool) | Layer::GlobalAveragePooling2D(pool) => {
            let [_, _, channels] = picture(input)?;
            Ok(if pool.keepdims { vec![1, 1, channels] } else { vec![channels] })
        }
        Layer::GlobalMaxPooling1D(pool) | Layer::GlobalAveragePooling1D(pool) => {
            let [_, _, features] = one_row(input)?;
            Ok(if pool.keepdims { vec![1, features] } else { vec![features] })
        }
        other => unreachable!("it has no windows that slide: {other:?}"),
    }
}

pub(crate) fn picture(shape: &[usize]) -> Result<[usize; 3], String> {
    shape
        .try_into()
        .map_err(|_| format!("it takes pictures [height, width, channels], not {shape:?}"))
}

/// A sequence as a picture of one row.
fn one_row(shape: &[usize]) -> Result<[usize; 3], String> {
    match *shape {
        [steps, features] => Ok([1, steps, features]),
        _ => Err(format!("it takes sequences [steps, features], not {shape:?}")),
    }
}

/// What a convolution makes of a picture.
fn convolved(input: [usize; 3], conv: &Conv2D) -> Result<[usize; 3], String> {
    let (groups, [_, _, channels]) = (conv.groups, input);
    for (count, what) in [(channels, "input channels"), (conv.filters, "filters")] {
        if groups == 0 || count % groups != 0 {
            return Err(format!(
                "its {count} {what} do not fall into {groups} equal groups; set `groups` to a number that \
                 divides both its input channels ({channels}) and its filters ({})",
                conv.filters
            ));
        }
    }
    let window = (conv.kernel_size, conv.dilation_rate);
    let [height, width, _] = slid(input, window, conv.strides, conv.padding)?;
    Ok([height, width, conv.filters])
}

/// What windows make of a picture: as many pixels as windows, and its channels. `dilation` is how far apart the
/// pixels of a window are.
fn slid(
    [height, width, channels]: [usize; 3],
    (window, dilation): (Pair, Pair),
    stride: Pair,
    padding: Padding,
) -> Result<[usize; 3], String> {
    let apart = |pair: Pair| pair.height > 1 || pair.width > 1;
    if apart(dilation) && apart(stride) {
        return Err(format!(
            "its `strides` are {:?} and its `dilation_rate` is {:?}, and only one of them can be above 1, as in \
             Keras; set the other to 1",
            <[usize; 2]>::from(stride),
            <[usize; 2]>::from(dilation)
        ));
    }
    let along = |pixels: usize, window: (usize, usize), stride: usize| {
        let reach = reach(window, stride)?;
        match padding {
            Padding::Valid if reach > pixels && window.1 > 1 => Err(format!(
                "a window of {} with a `dilation_rate` of {} reaches over {reach} pixels, and does not fit into \
                 {pixels}; set one of them smaller",
                window.0, window.1
            )),
            Padding::Valid if reach > pixels => {
                Err(format!("a window of {reach} does not fit into {pixels} pixels"))
            }
            Padding::Valid => Ok((pixels - reach) / stride + 1),
            Padding::Same => Ok(pixels.div_ceil(stride)),
        }
    };
    let height = along(height, (window.height, dilation.height), stride.height)?;
    Ok([height, along(width, (window.width, dilation.width), stride.width)?, channels])
}

/// How many pixels a window reaches over, gaps and all.
fn reach((window, dilation): (usize, usize), stride: usize) -> Result<usize, String> {
    if window == 0 || stride == 0 || dilation == 0 {
        return Err("windows, strides and dilation rates are at least 1".into());
    }
    if window > MAX_SIDE || stride > MAX_SIDE {
        return Err(format!("windows and strides are at most {MAX_SIDE}"));
    }
    let reach = (window - 1).checked_mul(dilation).filter(|&gaps| gaps < MAX_SIDE);
    reach.map(|gaps| gaps + 1).ok_or_else(|| {
        format!(
            "a window of {window} with a `dilation_rate` of {dilation} reaches over more than {MAX_SIDE} pixels; \
             set a smaller `dilation_rate`"
        )
    })
}

/// The largest window and stride, so that padding never overflows a counter.
pub(crate) const MAX_SIDE: usize = 1 << 16;

/// Of windows whose pixels touch.
const ONE: Pair = Pair::square(1);
