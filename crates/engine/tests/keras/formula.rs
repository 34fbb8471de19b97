//! Weights, samples and gradients by the integer formula that the recorder used.
//! `testbed/keras/formula.py` is the other side; a change here is a change there.

/// The hash of an element of a tensor: 32 well-mixed bits.
fn mix(tensor: u32, element: usize) -> u32 {
    let mut x = (element as u32).wrapping_add(tensor.wrapping_mul(0x9E37_79B9));
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

/// Values in [-1, 1), exact in f32.
pub(crate) fn floats(tensor: u32, count: usize) -> Vec<f32> {
    let value = |element| (mix(tensor, element) >> 16) as f32 / 32768.0 - 1.0;
    (0..count).map(value).collect()
}

pub(crate) fn pixels(tensor: u32, count: usize) -> Vec<u8> {
    (0..count).map(|element| (mix(tensor, element) >> 24) as u8).collect()
}

/// Ids below `words`, a quarter of them 0.
pub(crate) fn ids(tensor: u32, count: usize, words: usize) -> Vec<u16> {
    let id = |bits: u32| if bits & 3 == 0 { 0 } else { (bits >> 16) % words as u32 };
    (0..count).map(|element| id(mix(tensor, element)) as u16).collect()
}

pub(crate) fn labels(count: usize, classes: usize) -> Vec<u32> {
    (0..count).map(|sample| ((7 * sample + 3) % classes) as u32).collect()
}

/// A weight: values times a power of two that keeps sums near one.
pub(crate) fn weight(tensor: u32, shape: &[usize]) -> Vec<f32> {
    let scale = match shape {
        [_] => 1.0 / 16.0,
        [inputs @ .., _] => {
            0.5f32.powi((inputs.iter().product::<usize>().ilog2() / 2).cast_signed())
        }
        [] => unreachable!("a weight has a shape"),
    };
    scaled(floats(tensor, shape.iter().product()), scale)
}

/// Where optimizers begin.
pub(crate) fn start(count: usize) -> Vec<f32> {
    scaled(floats(1000, count), 0.5f32.powi(10))
}

/// What optimizers are fed in a step.
pub(crate) fn gradient(step: u32, count: usize) -> Vec<f32> {
    let size = 2f32.powi((step % 4).cast_signed() - 2);
    let mut values = scaled(floats(1001 + step, count), size);
    values.iter_mut().skip(6).step_by(7).for_each(|value| *value = 0.0);
    values
}

fn scaled(mut values: Vec<f32>, scale: f32) -> Vec<f32> {
    values.iter_mut().for_each(|value| *value *= scale);
    values
}
