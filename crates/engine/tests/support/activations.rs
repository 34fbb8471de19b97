//! Activations in f64, and their gradients as functions of the result, or of the input.

use spec::Activation;

pub(crate) fn activate(activation: Activation, row: usize, y: &mut [f64]) {
    match activation {
        Activation::Linear => {}
        Activation::Relu => y.iter_mut().for_each(|y| *y = y.max(0.0)),
        Activation::Sigmoid => y.iter_mut().for_each(|y| *y = 1.0 / (1.0 + (-*y).exp())),
        Activation::Tanh => y.iter_mut().for_each(|y| *y = y.tanh()),
        Activation::Softmax => {
            for row in y.chunks_mut(row) {
                let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter_mut().for_each(|y| *y = (*y - top).exp());
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|y| *y /= total);
            }
        }
        other => y.iter_mut().for_each(|y| *y = curve(other, *y)),
    }
}

/// Activations of one number.
fn curve(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Elu if x > 0.0 => x,
        Activation::Elu => x.exp() - 1.0,
        Activation::Exponential => x.exp(),
        Activation::HardSigmoid => (x / 6.0 + 0.5).clamp(0.0, 1.0),
        Activation::LeakyRelu => x.max(0.2 * x),
        Activation::Relu6 => x.clamp(0.0, 6.0),
        Activation::Selu if x > 0.0 => SELU[0] * x,
        Activation::Selu => SELU[0] * SELU[1] * (x.exp() - 1.0),
        Activation::Softplus => x.exp().ln_1p(),
        Activation::Softsign => x / (1.0 + x.abs()),
        Activation::HardTanh => x.clamp(-1.0, 1.0),
        Activation::Gelu => x * below(x),
        Activation::Silu => x * sigmoid(x),
        Activation::Mish => x * x.exp().ln_1p().tanh(),
        Activation::HardSilu => x * (x / 6.0 + 0.5).clamp(0.0, 1.0),
        _ => unreachable!("seen to elsewhere"),
    }
}

/// Their slopes where the result is `y`.
fn slope(activation: Activation, y: f64) -> f64 {
    let within = |most: f64| f64::from(u8::from(y > 0.0 && y < most));
    match activation {
        Activation::Elu => 1.0 + y.min(0.0),
        Activation::Exponential => y,
        Activation::HardSigmoid => within(1.0) / 6.0,
        Activation::LeakyRelu if y > 0.0 => 1.0,
        Activation::LeakyRelu => 0.2,
        Activation::Relu6 => within(6.0),
        Activation::Selu if y > 0.0 => SELU[0],
        Activation::Selu => y + SELU[0] * SELU[1],
        Activation::Softplus => 1.0 - (-y).exp(),
        Activation::Softsign => (1.0 - y.abs()).powi(2),
        Activation::HardTanh => f64::from(u8::from(y.abs() < 1.0)),
        _ => unreachable!("seen to elsewhere"),
    }
}

/// The slopes of those that fall before they rise, where the input is `x`.
fn slope_at(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Gelu => {
            below(x) + x * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
        }
        Activation::Silu => sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x))),
        Activation::Mish => {
            let t = x.exp().ln_1p().tanh();
            t + x * (1.0 - t * t) * sigmoid(x)
        }
        Activation::HardSilu if x.abs() < 3.0 => x / 3.0 + 0.5,
        Activation::HardSilu => f64::from(u8::from(x > 0.0)),
        _ => unreachable!("seen to elsewhere"),
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The share of a normal distribution below x: a series whose terms all have x's sign.
fn below(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..300 {
        term *= x * x / (2.0 * f64::from(n) + 1.0);
        sum += term;
    }
    let area = sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    0.5 + if x.abs() < 12.0 { area } else { 0.5 * x.signum() }
}

const SELU: [f64; 2] = [1.050_700_987_355_480_5, 1.673_263_242_354_377_2];

pub(crate) fn activate_backward(
    activation: Activation,
    row: usize,
    (x, y): (&[f64], &[f64]),
    d: &mut [f64],
) {
    use Activation::{Gelu, HardSilu, Mish, Silu};
    let each = d.iter_mut().zip(y);
    match activation {
        Activation::Linear => {}
        Activation::Relu => each.for_each(|(d, &y)| *d *= f64::from(u8::from(y > 0.0))),
        Activation::Sigmoid => each.for_each(|(d, &y)| *d *= y * (1.0 - y)),
        Activation::Tanh => each.for_each(|(d, &y)| *d *= 1.0 - y * y),
        Activation::Softmax => {
            for (d, y) in d.chunks_mut(row).zip(y.chunks(row)) {
                let mean: f64 = d.iter().zip(y).map(|(d, y)| d * y).sum();
                d.iter_mut().zip(y).for_each(|(d, y)| *d = y * (*d - mean));
            }
        }
        Gelu | Silu | Mish | HardSilu => {
            d.iter_mut().zip(x).for_each(|(d, &x)| *d *= slope_at(activation, x));
        }
        other => each.for_each(|(d, &y)| *d *= slope(other, y)),
    }
}
