//! The same bits on every instruction set this machine has, each forced in turn, and for 1, 2 and 4
//! threads: the golden losses of built-in networks, and random networks of every layer.
//!
//! The golden files hold the bits of the summed loss and, at the end, a hash of the weights: of 20 steps
//! at batch 8 on every path, and of a longer training on the fastest; of large networks a few steps. They
//! change only when the meaning of a computation changes. To renew them, delete the file, run this test
//! once (it writes what it found, and fails), look at the difference, and say in the commit why it is right.

mod support;

use std::path::Path;

use engine::{Cpu, Input, Isa, Noise, Optimizer, Trained};
use model::Network;
use spec::Builtin;
use support::{
    bits, every_cpu, gradients, groups, labels, networks, session_by, signals, texts, uniform,
    weights,
};

/// How long a golden training is.
#[derive(Clone, Copy)]
struct Length {
    steps: u64,
    batch: usize,
}

const SHORT: Length = Length { steps: 20, batch: 8 };

/// Trains for some steps and writes down what happened.
fn train(network: &Network, length: Length, cpu: Cpu) -> String {
    let (graph, Length { steps, batch }) = (&network.graph, length);
    let weights = weights(graph, 0);
    let mut session = session_by(network.loss, graph, batch, (&weights, cpu));
    let mut optimizer = Optimizer::new(network.optimizer, Trained::of(graph));
    let len = batch * graph.input_shape().iter().product::<usize>();
    let classes = graph.output_shape()[0].max(2);
    let mut text = String::new();
    for step in 0..steps {
        let bytes: Vec<u8> =
            uniform(step, len, 128.0).into_iter().map(|v| (v + 128.0) as u8).collect();
        let ids = texts::samples(graph, step, batch);
        let input = match graph.vocabulary() {
            Some(_) => Input::Floats(&ids),
            None => Input::Bytes { x: &bytes, scale: 1.0 / 255.0 },
        };
        let noise = Noise { seed: 0, rank: 0, step };
        let outcome = session.gradient(input, &labels(step, batch, classes), noise, 1.0);
        session.update(&mut optimizer, 0.001, None);
        text += &format!("{step:3} {:016x} {:.9}\n", outcome.loss.to_bits(), outcome.loss);
    }
    text + &format!("weights {:016x}\n", hash(session.weights()))
}

/// FNV-1a over the bits.
fn hash(values: &[f32]) -> u64 {
    values.iter().fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Compares a training with its golden file, on every processor given.
fn check_golden(name: &str, network: &Network, length: Length, cpus: &[Cpu]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    let Ok(want) = std::fs::read_to_string(&file) else {
        let found = train(network, length, Cpu::new(1, Isa::detect()));
        std::fs::write(&file, found).expect("the golden folder can be written");
        panic!("{} was not there and is written now", file.display());
    };
    for cpu in cpus {
        assert_eq!(train(network, length, cpu.clone()), want, "{name} on {cpu:?}");
    }
}

/// Every instruction set with 1, 2 and 4 threads; but once is enough where a fused multiply-add is a
/// function call.
fn paths() -> Vec<Cpu> {
    let slow = |cpu: &Cpu| cpu.isa() == Isa::Portable && cpu.threads() < 4;
    every_cpu().into_iter().filter(|cpu| !slow(cpu)).collect()
}

/// The fastest instruction set with 1, 2 and 4 threads.
fn fastest() -> Vec<Cpu> {
    let mut cpus = every_cpu();
    cpus.retain(|cpu| cpu.isa() == Isa::detect());
    cpus
}

fn built_in(network: Builtin, input: &[usize], classes: usize) -> Network {
    model::network(&spec::Model::Builtin(network), input, classes).expect("a built-in network")
}

#[test]
fn mnist_mlp_gives_the_golden_losses() {
    let network = built_in(Builtin::MnistMlp { hidden_units: 100 }, &[28, 28, 1], 10);
    check_golden("mnist-mlp", &network, SHORT, &paths());
    let long = Length { steps: 300, batch: 20 };
    check_golden("mnist-mlp-long", &network, long, &fastest());
}

#[test]
fn mnist_cnn_gives_the_golden_losses() {
    let network = built_in(Builtin::MnistCnn { dropout: [0.25, 0.5] }, &[28, 28, 1], 10);
    check_golden("mnist-cnn", &network, SHORT, &paths());
    let long = Length { steps: 40, batch: 50 };
    check_golden("mnist-cnn-long", &network, long, &fastest());
}

#[test]
fn small_xception_gives_the_golden_losses() {
    let network =
        built_in(Builtin::SmallXception { dropout: 0.5, image_size: None }, &[30, 30, 3], 2);
    check_golden("small-xception", &network, Length { steps: 2, batch: 3 }, &paths());
    check_golden("small-xception-long", &network, Length { steps: 4, batch: 25 }, &fastest());
}

#[test]
fn imdb_bigru_gives_the_golden_losses() {
    let network = built_in(Builtin::ImdbBigru { vocabulary_size: 10_000 }, &[50], 2);
    check_golden("imdb-bigru", &network, Length { steps: 3, batch: 8 }, &paths());
    check_golden("imdb-bigru-long", &network, Length { steps: 6, batch: 40 }, &fastest());
}

#[test]
fn random_networks_give_the_same_bits_everywhere() {
    let cpus = every_cpu();
    for seed in 0..240 {
        let graph = match seed {
            200.. => groups::grouped(seed),
            160.. => signals::signals(seed),
            0..60 => networks::random(seed),
            60..100 => networks::branched(seed),
            _ => texts::sequences(seed),
        };
        let n = [1, 3, 17, 33, 61][seed as usize % 5];
        let weights = weights(&graph, seed);
        let x = texts::samples(&graph, seed, n);
        let y = labels(seed, n, graph.output_shape()[0]);
        let results = cpus.iter().map(|cpu| {
            let noise = Noise::default();
            let (outcome, gradients, answers) =
                gradients(&graph, cpu.clone(), (&weights, &x, &y), noise);
            (outcome.loss.to_bits(), bits(&gradients), bits(&answers))
        });
        let results: Vec<_> = results.collect();
        for (cpu, result) in cpus.iter().zip(&results) {
            assert!(*result == results[0], "network {seed}: {cpu:?} differs from {:?}", cpus[0]);
        }
    }
}
