//! An activation on its own. Most gradients are functions of the output, and all is done in place; some
//! need the input, which is then kept.

use spec::Activation;

use super::{Run, disjoint, join};
use crate::kernels::{curves, humps, plain, softmax};
use crate::program::{Activate, Operation};
use crate::share::{Cut, portion};

impl Activate {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa) = (run.n, run.cpu.isa());
        join::copy(operation.x, operation.y, run);
        let y = &mut run.values[operation.y.range(n)];
        let parts = run.cpu.parts(y.len() * 8, n);
        run.cpu.each(parts, Cut::new(y, n, parts), |_, y| match self.activation {
            Activation::Linear => {}
            Activation::Relu => plain::relu(isa, y),
            Activation::Elu => curves::elu(isa, y),
            Activation::Exponential => curves::exponential(isa, y),
            Activation::HardSigmoid => curves::hard_sigmoid(isa, y),
            Activation::LeakyRelu => curves::leaky_relu(isa, y),
            Activation::Relu6 => curves::relu6(isa, y),
            Activation::Selu => curves::selu(isa, y),
            Activation::Sigmoid => curves::sigmoid(isa, y),
            Activation::Softplus => curves::softplus(isa, y),
            Activation::Softsign => curves::softsign(isa, y),
            Activation::Tanh => curves::tanh(isa, y),
            Activation::HardTanh => curves::hard_tanh(isa, y),
            Activation::Gelu => humps::gelu(isa, y),
            Activation::Silu => humps::silu(isa, y),
            Activation::Mish => humps::mish(isa, y),
            Activation::HardSilu => humps::hard_silu(isa, y),
            Activation::Softmax => y.chunks_exact_mut(self.row).for_each(|row| {
                softmax::forward(isa, row);
            }),
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (n, isa) = (run.n, run.cpu.isa());
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else {
            return;
        };
        join::copy(dy, dx, run);
        let seen = if self.by_input() { operation.x } else { operation.y };
        let [y, dx] = disjoint(run.values, [seen.range(n), dx.range(n)]);
        let (y, len) = (&*y, operation.y.len);
        let parts = run.cpu.parts(dx.len(), n);
        run.cpu.each(parts, Cut::new(dx, n, parts), |part, d| {
            let samples = portion(n, parts, part);
            let y = &y[samples.start * len..samples.end * len];
            match self.activation {
                Activation::Linear => {}
                Activation::Relu => plain::relu_backward(isa, y, d),
                Activation::Elu => curves::elu_backward(isa, y, d),
                Activation::Exponential => curves::exponential_backward(isa, y, d),
                Activation::HardSigmoid => curves::hard_sigmoid_backward(isa, y, d),
                Activation::LeakyRelu => curves::leaky_relu_backward(isa, y, d),
                Activation::Relu6 => curves::relu6_backward(isa, y, d),
                Activation::Selu => curves::selu_backward(isa, y, d),
                Activation::Sigmoid => curves::sigmoid_backward(isa, y, d),
                Activation::Softplus => curves::softplus_backward(isa, y, d),
                Activation::Softsign => curves::softsign_backward(isa, y, d),
                Activation::Tanh => curves::tanh_backward(isa, y, d),
                Activation::HardTanh => curves::hard_tanh_backward(isa, y, d),
                Activation::Gelu => humps::gelu_backward(isa, y, d),
                Activation::Silu => humps::silu_backward(isa, y, d),
                Activation::Mish => humps::mish_backward(isa, y, d),
                Activation::HardSilu => humps::hard_silu_backward(isa, y, d),
                Activation::Softmax => {
                    let rows = d.chunks_exact_mut(self.row).zip(y.chunks_exact(self.row));
                    rows.for_each(|(d, y)| softmax::backward(isa, y, d));
                }
            }
        });
    }
}
