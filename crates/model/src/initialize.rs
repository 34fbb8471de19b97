//! Initial weights: each number a pure function of the seed, the weight's place and the element.
//!
//! Rank and machine have no say, unless asked for, so that all workers start from the same weights. Only correctly
//! rounded operations are used, so that all machines get the same bits.

use random::{Key, Purpose};
use spec::Initializer;

use crate::{Graph, Weight, orthogonal};

impl Graph {
    /// Fresh weights for the whole arena.
    pub fn initialize(&self, seed: u64) -> Vec<f32> {
        self.initialize_by(Key::new(seed, Purpose::Init))
    }

    /// Fresh weights of a rank's own, for workers that are not to start equal.
    pub fn initialize_for(&self, seed: u64, rank: u64) -> Vec<f32> {
        self.initialize_by(Key::new(seed, Purpose::Init).with(rank))
    }

    fn initialize_by(&self, key: Key) -> Vec<f32> {
        let mut arena = vec![0.0; self.parameter_count()];
        for (number, weight) in self.weights().iter().enumerate() {
            fill(&mut arena[weight.range.clone()], weight, key.with(number as u64));
        }
        self.forget_biases().into_iter().for_each(|range| arena[range].fill(1.0));
        arena
    }
}

fn fill(values: &mut [f32], weight: &Weight, key: Key) {
    let mut set = |of: &dyn Fn(u64) -> f32| {
        for (element, value) in values.iter_mut().enumerate() {
            *value = of(element as u64);
        }
    };
    match weight.initializer {
        Initializer::Zeros => set(&|_| 0.0),
        Initializer::Ones => set(&|_| 1.0),
        Initializer::Uniform => set(&|element| (key.uniform(element) * 2.0 - 1.0) * UNIFORM),
        Initializer::Orthogonal => {
            let columns = weight.shape.last().copied().unwrap_or(1);
            orthogonal::fill(values, weight.range.len() / columns, columns, key);
        }
        Initializer::GlorotUniform => {
            let [inputs, outputs] = fans(&weight.shape);
            let limit = (6.0 / (inputs + outputs)).sqrt() as f32;
            set(&|element| (key.uniform(element) * 2.0 - 1.0) * limit);
        }
        Initializer::HeNormal => {
            let [inputs, _] = fans(&weight.shape);
            let stddev = ((2.0 / inputs).sqrt() / CUT_DEVIATION) as f32;
            set(&|element| key.truncated_normal(element) * stddev);
        }
        Initializer::TruncatedNormal { stddev } => {
            set(&|element| key.truncated_normal(element) * stddev);
        }
    }
}

/// The limit of Keras' `uniform`.
const UNIFORM: f32 = 0.05;

/// The deviation of a normal distribution of deviation 1 that is cut at two deviations. Keras'
/// variance scaling divides by it; its plain `TruncatedNormal` does not.
const CUT_DEVIATION: f64 = 0.879_625_661_034_239_8;

/// How many inputs and outputs each number of a weight connects, as Keras counts them.
fn fans(shape: &[usize]) -> [f64; 2] {
    match shape {
        [] => [1.0, 1.0],
        [one] => [*one as f64; 2],
        [window @ .., inputs, outputs] => {
            let window = window.iter().product::<usize>() as f64;
            [*inputs as f64 * window, *outputs as f64 * window]
        }
    }
}

#[cfg(test)]
mod tests {
    use spec::{Activation, Conv2D, Dense, Layer, Pair};

    use super::*;
    use crate::weights_sha256;

    fn dense(units: usize, kernel_initializer: Initializer) -> Layer {
        Layer::Dense(Dense {
            units,
            activation: Activation::Linear,
            use_bias: true,
            kernel_initializer,
            bias_initializer: Initializer::Zeros,
            trainable: true,
        })
    }

    /// Mean, deviation and largest magnitude of the first weight.
    fn moments(input: &[usize], layer: Layer) -> [f64; 3] {
        let graph = Graph::sequential(input, vec![layer]).unwrap();
        let arena = graph.initialize(3);
        let values = &arena[graph.weights()[0].range.clone()];
        let n = values.len() as f64;
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
        let square = |v: &f32| (f64::from(*v) - mean).powi(2);
        let deviation = (values.iter().map(square).sum::<f64>() / n).sqrt();
        let largest = values.iter().fold(0.0f32, |max, v| max.max(v.abs()));
        [mean, deviation, f64::from(largest)]
    }

    #[track_caller]
    fn assert_near(found: [f64; 3], expected: [f64; 3]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 0.02 * expected.max(0.05),
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn statistics_are_keras() {
        // √(6/1200) = 0.0707; a uniform distribution's deviation is its limit over √3.
        let glorot = moments(&[900], dense(300, Initializer::GlorotUniform));
        assert_near(glorot, [0.0, 0.070_71 / 3f64.sqrt(), 0.070_71]);
        let stddev = 1.0 / 28.0;
        let cut = moments(&[784], dense(100, Initializer::TruncatedNormal { stddev }));
        assert_near(cut, [0.0, CUT_DEVIATION / 28.0, 2.0 / 28.0]);
        // √(2/800) = 0.05.
        let he = moments(&[800], dense(100, Initializer::HeNormal));
        assert_near(he, [0.0, 0.05, 0.1 / CUT_DEVIATION]);
        let conv = Layer::Conv2D(Conv2D::new(64, Pair::square(3)));
        // √(6/(9·32 + 9·64)) = 0.0833.
        let limit = 0.083_33;
        assert_near(moments(&[9, 9, 32], conv), [0.0, limit / 3f64.sqrt(), limit]);
        // A filter sees half of the channels: √(6/(9·16 + 9·64)) = 0.0913.
        let groups = Conv2D { groups: 2, ..Conv2D::new(64, Pair::square(3)) };
        let limit = 0.091_29;
        let found = moments(&[9, 9, 32], Layer::Conv2D(groups));
        assert_near(found, [0.0, limit / 3f64.sqrt(), limit]);
        assert_eq!(moments(&[5], dense(5, Initializer::Ones)), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn seeds_and_weights_are_apart_and_nothing_else_matters() {
        let layers = || vec![dense(50, Initializer::GlorotUniform); 2];
        let graph = Graph::sequential(&[50], layers()).unwrap();
        assert_eq!(graph.initialize(1), graph.initialize(1));
        let [a, b] = [graph.initialize(1), graph.initialize(2)];
        assert_ne!(a, b);
        let [first, second] = [0, 2].map(|w: usize| &a[graph.weights()[w].range.clone()]);
        assert_ne!(first, second);
        assert!(a[graph.weights()[1].range.clone()].iter().all(|&bias| bias == 0.0));
    }

    #[test]
    fn the_numbers_never_change() {
        // Written down once: a run that is resumed by a newer version must not start elsewhere.
        let layers = vec![
            dense(7, Initializer::GlorotUniform),
            dense(5, Initializer::HeNormal),
            dense(3, Initializer::TruncatedNormal { stddev: 0.1 }),
        ];
        let graph = Graph::sequential(&[11], layers).unwrap();
        assert_eq!(
            weights_sha256(&graph.initialize(0)),
            "c6e91dcda8d44fc4fd1b06a577d426ec9dca03ccf013e7faaffb95940e6e0bd4"
        );
    }
}
