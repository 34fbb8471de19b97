//! Models from outside: their files, their means, their ensembles, and layers that lie.

mod average;
mod damaged;
mod ensemble;
mod files;
mod keras;
mod lying;

use model::{Card, Model, Network, Preprocess, network};
use spec::Builtin;

/// A small network: 4·3+3 and 3·2+2 numbers.
fn small_network() -> Network {
    let mlp = Builtin::MnistMlp { hidden_units: 3 };
    network(&spec::Model::Builtin(mlp), &[2, 2, 1], 2).expect("a right network")
}

fn small_model(seed: u64) -> Model {
    let network = small_network();
    let input = Preprocess::numbers(vec![2, 2, 1], 1.0 / 255.0);
    Model {
        weights: network.graph.initialize(seed),
        card: Card::new("small", &network.name, input),
        graph: network.graph,
    }
}
