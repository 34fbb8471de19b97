//! The same bits on every instruction set this machine has, each forced in turn, and for 1, 2 and 4
//! threads: the golden losses of both networks, and random networks of every layer.
//!
//! The golden files hold, for 20 steps at batch 8, the bits of the summed loss and, at the end, a hash
//! of the weights. They change only when the meaning of a computation changes. To renew them, delete
//! the file, run this test once (it writes what it found, and fails), look at the difference, and
//! say in the commit why it is right.

mod support;

use std::path::Path;

use engine::{Cpu, Input, Isa, Noise, Optimizer};
use model::Graph;
use support::{bits, every_cpu, gradients, labels, networks, session, uniform, weights};

const STEPS: u64 = 20;
const BATCH: usize = 8;

/// Trains for a few steps and writes down what happened.
fn train(graph: &Graph, cpu: Cpu) -> String {
    let weights = weights(graph, 0);
    let mut session = session(graph, BATCH, &weights, cpu);
    let adam = spec::Optimizer::Adam(spec::Adam::default());
    let mut optimizer = Optimizer::new(adam, weights.len());
    let len = BATCH * graph.input_shape().iter().product::<usize>();
    let mut text = String::new();
    for step in 0..STEPS {
        let x: Vec<u8> = uniform(step, len, 128.0)
            .into_iter()
            .map(|v| (v + 128.0) as u8)
            .collect();
        let input = Input::Bytes {
            x: &x,
            scale: 1.0 / 255.0,
        };
        let noise = Noise {
            seed: 0,
            rank: 0,
            step,
        };
        let outcome = session.gradient(input, &labels(step, BATCH, 10), noise);
        session.update(&mut optimizer, 0.001, None);
        text += &format!(
            "{step:2} {:016x} {:.9}\n",
            outcome.loss.to_bits(),
            outcome.loss
        );
    }
    text + &format!("weights {:016x}\n", hash(session.weights()))
}

/// FNV-1a over the bits.
fn hash(values: &[f32]) -> u64 {
    values.iter().fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3)
    })
}

fn check_golden(name: &str, graph: &Graph) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    let Ok(want) = std::fs::read_to_string(&file) else {
        let found = train(graph, Cpu::new(1, Isa::detect()));
        std::fs::write(&file, found).expect("the golden folder can be written");
        panic!("{} was not there and is written now", file.display());
    };
    for isa in Isa::available() {
        // Once is enough where a fused multiply-add is a function call.
        let counts = if isa == Isa::Portable {
            &[4][..]
        } else {
            &[1, 2, 4]
        };
        for &threads in counts {
            let got = train(graph, Cpu::new(threads, isa));
            assert_eq!(got, want, "{name} on {isa:?} with {threads} threads");
        }
    }
}

#[test]
fn mnist_mlp_gives_the_golden_losses() {
    check_golden("mnist-mlp", &networks::mnist_mlp());
}

#[test]
fn mnist_cnn_gives_the_golden_losses() {
    check_golden("mnist-cnn", &networks::mnist_cnn());
}

#[test]
fn random_networks_give_the_same_bits_everywhere() {
    let cpus = every_cpu();
    for seed in 0..60 {
        let graph = networks::random(seed);
        let n = [1, 3, 17, 33][seed as usize % 4];
        let weights = weights(&graph, seed);
        let x = uniform(seed, n * graph.input_shape().iter().product::<usize>(), 1.0);
        let y = labels(seed, n, graph.output_shape()[0]);
        let results = cpus.iter().map(|cpu| {
            let noise = Noise::default();
            let (outcome, gradients, answers) =
                gradients(&graph, cpu.clone(), (&weights, &x, &y), noise);
            (outcome.loss.to_bits(), bits(&gradients), bits(&answers))
        });
        let results: Vec<_> = results.collect();
        for (cpu, result) in cpus.iter().zip(&results) {
            assert!(
                *result == results[0],
                "network {seed}: {cpu:?} differs from {:?}",
                cpus[0]
            );
        }
    }
}
