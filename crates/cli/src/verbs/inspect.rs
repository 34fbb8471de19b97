//! `trainyard inspect`: what is in a model file.

use model::{Card, Graph};
use serde::Serialize;

use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// Print a model's layers, card and hash
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard inspect final.safetensors
  trainyard inspect mnist-sample --json")]
pub(crate) struct Args {
    /// A model file, or a run
    model: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Inspected<'a> {
    path: String,
    parameters: usize,
    weights_sha256: String,
    graph: &'a Graph,
    weights: Vec<WeightRow<'a>>,
    card: &'a Card,
}

#[derive(Serialize)]
struct WeightRow<'a> {
    name: &'a str,
    shape: &'a [usize],
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (path, model) = find::model(&args.model, env)?;
    let weights_sha256 = model::weights_sha256(&model.weights);
    if args.json {
        let weights = model.graph.weights().iter();
        return output::json(&Inspected {
            path: path.display().to_string(),
            parameters: model.graph.parameter_count(),
            weights_sha256,
            graph: &model.graph,
            weights: weights.map(|w| WeightRow { name: &w.name, shape: &w.shape }).collect(),
            card: &model.card,
        });
    }
    output::print(&model::summary(&model.graph));
    output::print(&serde_json::to_string_pretty(&model.card)?);
    output::print(&format!("weights  {weights_sha256}"));
    Ok(())
}
