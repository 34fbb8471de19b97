//! Activations: functions of one number, and their slopes, each a function of the result alone. So the
//! backward pass needs no more than the output.

use crate::math;
use crate::simd::kernel;

/// Makes two kernels: the function of each element, and the gradient `d` times the slope where the result
/// is `y`, or where the input is, for the curves of `humps`.
macro_rules! curve {
    ($(#[$meta:meta])* $forward:ident, $backward:ident, |$x:ident| $value:expr, |$y:ident| $slope:expr) => {
        kernel! {
            $(#[$meta])*
            fn $forward<'a>(values: &'a mut [f32]) {
                for value in values {
                    let $x = *value;
                    *value = $value;
                }
            }
        }

        kernel! {
            /// The gradient of the function of this name.
            fn $backward<'a>(y: &'a [f32], d: &'a mut [f32]) {
                for (d, y) in d.iter_mut().zip(y) {
                    let $y = *y;
                    *d *= $slope;
                }
            }
        }
    };
}
pub(super) use curve;

curve!(
    /// 1 / (1 + e^-x).
    sigmoid, sigmoid_backward, |x| math::sigmoid(x), |y| y * (1.0 - y)
);
curve!(
    /// The hyperbolic tangent.
    tanh, tanh_backward, |x| math::tanh(x), |y| 1.0 - y * y
);
curve!(
    /// x, and a fifth of it below zero.
    leaky_relu, leaky_relu_backward,
    |x| if x < 0.0 { LEAK * x } else { x },
    |y| if y < 0.0 { LEAK } else { 1.0 }
);
curve!(
    /// x from 0 to 6.
    relu6, relu6_backward,
    |x| clamp(x, 6.0),
    |y| if y > 0.0 && y < 6.0 { 1.0 } else { 0.0 }
);
curve!(
    /// x/6 + 1/2, from 0 to 1.
    hard_sigmoid, hard_sigmoid_backward,
    |x| clamp(x + 3.0, 6.0) / 6.0,
    |y| if y > 0.0 && y < 1.0 { 1.0 / 6.0 } else { 0.0 }
);
curve!(
    /// x from -1 to 1.
    hard_tanh, hard_tanh_backward,
    |x| clamp(x + 1.0, 2.0) - 1.0,
    |y| if y > -1.0 && y < 1.0 { 1.0 } else { 0.0 }
);
curve!(
    /// x, and e^x - 1 below zero.
    elu, elu_backward,
    |x| if x > 0.0 { x } else { math::exp(x) - 1.0 },
    |y| if y > 0.0 { 1.0 } else { y + 1.0 }
);
curve!(
    /// `elu` with the two constants for which means and variances stay what they are.
    selu, selu_backward,
    |x| if x > 0.0 { SCALE * x } else { SCALE * ALPHA * (math::exp(x) - 1.0) },
    |y| if y > 0.0 { SCALE } else { y + SCALE * ALPHA }
);
curve!(
    /// e^x.
    exponential, exponential_backward, |x| math::exp(x), |y| y
);
curve!(
    /// ln(1 + e^x).
    softplus, softplus_backward,
    |x| math::softplus(x),
    |y| 1.0 - math::exp(-y)
);
curve!(
    /// x / (1 + |x|).
    softsign, softsign_backward, |x| x / (1.0 + x.abs()), |y| (1.0 - y.abs()) * (1.0 - y.abs())
);

/// The slope of `leaky_relu` below zero, as Keras has it.
const LEAK: f32 = 0.2;
const SCALE: f32 = 1.050_701;
const ALPHA: f32 = 1.673_263_2;

/// From 0 to a bound; not-a-number stays.
#[inline(always)]
pub(super) fn clamp(x: f32, most: f32) -> f32 {
    let x = math::relu(x);
    if x > most { most } else { x }
}
