//! The update of one element, rule by rule.
//!
//! A mean that nothing is added to any more, as of a unit that has died, gets smaller with every step. It
//! [settles](math::settle) at zero: where floats end, many processors take a hundred times as long.

use crate::math;
use crate::simd::{Kernel, Simd};

/// A rule with everything computed that is the same for all elements of a step.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    Sgd {
        rate: f32,
    },
    Momentum {
        rate: f32,
        momentum: f32,
        nesterov: bool,
    },
    Adam {
        rate: f32,
        new_1: f32,
        new_2: f32,
        epsilon: f32,
    },
    /// With what is left of a weight before the step.
    Adamw {
        left: f32,
        rate: f32,
        new_1: f32,
        new_2: f32,
        epsilon: f32,
    },
    Rmsprop {
        rate: f32,
        rho: f32,
        new: f32,
        epsilon: f32,
    },
    RmspropMomentum {
        rate: f32,
        rho: f32,
        new: f32,
        epsilon: f32,
        momentum: f32,
    },
}

impl Rule {
    /// The rule at its `step`-th step, counted from 1.
    pub(super) fn new(rule: spec::Optimizer, step: u64, rate: f32) -> Self {
        match rule {
            spec::Optimizer::Sgd(sgd) if sgd.momentum == 0.0 => Rule::Sgd { rate },
            spec::Optimizer::Sgd(sgd) => {
                Rule::Momentum { rate, momentum: sgd.momentum, nesterov: sgd.nesterov }
            }
            spec::Optimizer::Adam(adam) => {
                let (rate, [new_1, new_2]) = corrected(rate, step, [adam.beta_1, adam.beta_2]);
                Rule::Adam { rate, new_1, new_2, epsilon: adam.epsilon }
            }
            spec::Optimizer::Adamw(adamw) => {
                let left = (1.0 - f64::from(adamw.weight_decay) * f64::from(rate)) as f32;
                let (rate, [new_1, new_2]) = corrected(rate, step, [adamw.beta_1, adamw.beta_2]);
                Rule::Adamw { left, rate, new_1, new_2, epsilon: adamw.epsilon }
            }
            spec::Optimizer::Rmsprop(spec::Rmsprop { rho, epsilon, momentum, .. }) => {
                let (rho, new) = (rho as f32, (1.0 - rho) as f32);
                if momentum == 0.0 {
                    Rule::Rmsprop { rate, rho, new, epsilon }
                } else {
                    Rule::RmspropMomentum { rate, rho, new, epsilon, momentum }
                }
            }
        }
    }
}

/// The learning rate that makes up for means which began at zero, and what is new in each of them.
fn corrected(rate: f32, step: u64, betas: [f64; 2]) -> (f32, [f32; 2]) {
    let [first, second] = betas.map(|beta| 1.0 - power(beta, step));
    let correction = second.sqrt() / first;
    ((f64::from(rate) * correction) as f32, betas.map(|beta| (1.0 - beta) as f32))
}

/// A power by squaring: the library's may differ between machines.
fn power(mut x: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= x;
        }
        x *= x;
        exponent >>= 1;
    }
    result
}

/// What a step does to every element.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) rule: Rule,
    /// Gradients are multiplied by this,
    pub(super) scale: f32,
    /// and kept within plus and minus this.
    pub(super) bound: f32,
}

/// One part of the weights, with its part of the gradients and slots.
pub(super) struct Update<'a> {
    pub(super) step: Step,
    pub(super) weights: &'a mut [f32],
    pub(super) gradients: &'a [f32],
    pub(super) slots: [&'a mut [f32]; 2],
}

/// Floats of a cache line.
pub(super) const LINE: usize = 16;

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Step { scale, bound, .. } = self.step;
        // Most are taken as they are, and the processor is spared what would change nothing.
        if scale == 1.0 && bound == f32::INFINITY {
            return self.by(|g| g);
        }
        self.by(|g| {
            let g = g * scale;
            let g = if g > bound { bound } else { g };
            if g < -bound { -bound } else { g }
        });
    }
}

impl Update<'_> {
    /// The update by gradients after they were clipped.
    #[inline(always)]
    fn by(self, clip: impl Fn(f32) -> f32) {
        let rule = self.step.rule;
        let gradients = self.gradients.iter().map(|&g| clip(g));
        let weights = self.weights.iter_mut().zip(gradients);
        let [first, second] = self.slots;
        match rule {
            Rule::Sgd { rate } => weights.for_each(|(w, g)| *w -= g * rate),
            Rule::Momentum { rate, momentum, nesterov } => {
                for ((w, g), m) in weights.zip(first) {
                    *m = math::settle(*m * momentum - g * rate);
                    *w += if nesterov { *m * momentum - g * rate } else { *m };
                }
            }
            Rule::Adam { rate, new_1, new_2, epsilon } => {
                for ((w, g), (m, v)) in weights.zip(first.iter_mut().zip(second)) {
                    *m = math::settle((g - *m).mul_add(new_1, *m));
                    *v = math::settle(g.mul_add(g, -*v).mul_add(new_2, *v));
                    *w -= *m * rate / (v.sqrt() + epsilon);
                }
            }
            Rule::Adamw { left, rate, new_1, new_2, epsilon } => {
                for ((w, g), (m, v)) in weights.zip(first.iter_mut().zip(second)) {
                    *m = math::settle((g - *m).mul_add(new_1, *m));
                    *v = math::settle(g.mul_add(g, -*v).mul_add(new_2, *v));
                    *w = *w * left - *m * rate / (v.sqrt() + epsilon);
                }
            }
            Rule::Rmsprop { rate, rho, new, epsilon } => {
                for ((w, g), v) in weights.zip(first) {
                    *v = math::settle(rho * *v + new * (g * g));
                    *w -= rate * g / (*v + epsilon).sqrt();
                }
            }
            Rule::RmspropMomentum { rate, rho, new, epsilon, momentum } => {
                for ((w, g), (v, m)) in weights.zip(first.iter_mut().zip(second)) {
                    *v = math::settle(rho * *v + new * (g * g));
                    *m = math::settle(momentum * *m + rate * g / (*v + epsilon).sqrt());
                    *w -= *m;
                }
            }
        }
    }
}
