//! Trains built-in networks on random data and prints the speed; `trainyard bench --profile` tells what
//! each operation takes.
//!
//! `cargo run --release -p trainyard-engine --example speed -- [mlp|cnn|xception|bigru|all] [threads] [isa] [rounds]`
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock and prints"
)]

use std::time::Instant;

use engine::{Cpu, Input, Isa, Noise, Optimizer, Program, Session, Trained};
use model::Network;
use random::{Key, Purpose};
use spec::Builtin;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word =
        |i: usize, default: &str| arguments.get(i).map_or(default.to_string(), String::clone);
    let threads = word(1, "2").parse().expect("a number of threads");
    let isa = match &word(2, "best")[..] {
        "avx512" => Isa::Avx512,
        "avx2" => Isa::Avx2,
        "portable" => Isa::Portable,
        _ => Isa::detect(),
    };
    let rounds = word(3, "5").parse().expect("a number of rounds");
    let cpu = Cpu::new(threads, isa);
    let which = word(0, "all");
    for _ in 0..rounds {
        if which == "all" || which == "xception" {
            measure_cats((128, 3), &cpu);
        }
        if which == "all" || which == "bigru" {
            measure_texts((100, 3), &cpu);
        }
        if which == "all" || which == "mlp" {
            measure_pictures(
                "mnist-mlp",
                Builtin::MnistMlp { hidden_units: 100 },
                (20, 4000),
                &cpu,
            );
        }
        if which == "all" || which == "cnn" {
            measure_pictures(
                "mnist-cnn",
                Builtin::MnistCnn { dropout: [0.25, 0.5] },
                (100, 60),
                &cpu,
            );
        }
    }
}

/// S0's network on made-up texts.
fn measure_texts((batch, steps): (usize, u64), cpu: &Cpu) {
    let builtin = spec::Model::Builtin(Builtin::ImdbBigru { vocabulary_size: 10_000 });
    let network = model::network(&builtin, &[500], 2).expect("a built-in network");
    let key = Key::new(0, Purpose::Synthetic);
    let x: Vec<u16> = (0..batch as u64 * 500).map(|i| key.below(i, 10_000) as u16).collect();
    let y: Vec<u32> = (0..batch as u64).map(|i| key.below(i, 2) as u32).collect();
    measure("imdb-bigru", &network, (Input::Ids(&x), &y, steps), cpu);
}

/// S4's network on made-up pictures.
fn measure_cats((batch, steps): (usize, u64), cpu: &Cpu) {
    let builtin = spec::Model::Builtin(Builtin::SmallXception { dropout: 0.5, image_size: None });
    let network = model::network(&builtin, &[30, 30, 3], 2).expect("a built-in network");
    let key = Key::new(0, Purpose::Synthetic);
    let x: Vec<u8> = (0..batch as u64 * 2700).map(|i| key.bits(i) as u8).collect();
    let y: Vec<u32> = (0..batch as u64).map(|i| key.below(i, 2) as u32).collect();
    measure("small-xception", &network, (Input::Bytes { x: &x, scale: 1.0 }, &y, steps), cpu);
}

/// A built-in network on made-up pictures.
fn measure_pictures(name: &str, builtin: Builtin, (batch, steps): (usize, u64), cpu: &Cpu) {
    let builtin = spec::Model::Builtin(builtin);
    let network = model::network(&builtin, &[28, 28, 1], 10).expect("a built-in network");
    let key = Key::new(0, Purpose::Synthetic);
    let x: Vec<u8> = (0..batch as u64 * 784).map(|i| key.bits(i) as u8).collect();
    let y: Vec<u32> = (0..batch as u64).map(|i| key.below(i, 10) as u32).collect();
    let input = Input::Bytes { x: &x, scale: 1.0 / 255.0 };
    measure(name, &network, (input, &y, steps), cpu);
}

/// Prints steps and samples a second: the mean of all steps, and the best tenth of them.
fn measure(name: &str, network: &Network, (input, y, steps): (Input<'_>, &[u32], u64), cpu: &Cpu) {
    let (graph, batch) = (&network.graph, y.len());
    let program = Program::training(graph, network.loss, batch).expect("a network of classes");
    let megabytes = program.memory().total() as f64 / 1e6;
    let mut session = Session::new(program, cpu.clone());
    session.weights_mut().copy_from_slice(&graph.initialize(0));
    let mut optimizer = Optimizer::new(network.optimizer, Trained::of(graph));
    let busy = processor_seconds();
    let mut times: Vec<f64> = (0..steps)
        .map(|step| {
            let start = Instant::now();
            session.gradient(input, y, Noise { seed: 0, rank: 0, step }, 1.0);
            session.update(&mut optimizer, 1e-5, None);
            start.elapsed().as_secs_f64()
        })
        .collect();
    let busy = (processor_seconds() - busy) / steps as f64;
    let mean = times.iter().sum::<f64>() / steps as f64;
    times.sort_by(f64::total_cmp);
    let best = times[times.len() / 10];
    let samples = batch as f64;
    println!(
        "{name} {cpu:?}: mean {:.1} steps/s, {:.0} samples/s; best tenth {:.1} steps/s, {:.0} samples/s; caller busy {:.0} µs a step; {megabytes:.1} MB",
        1.0 / mean,
        samples / mean,
        1.0 / best,
        samples / best,
        busy * 1e6,
    );
}

/// Processor time of the calling thread: with one thread, a measure that other programs disturb less.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
