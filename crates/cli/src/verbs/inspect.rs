//! `trainyard inspect`: what is in a model file or an ensemble.

use model::{Card, Graph, Published};
use serde::Serialize;

use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// Print a model's layers, card and hash
///
/// Of an ensemble, the layers that all its models have, and each model's hash.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard inspect final.safetensors
  trainyard inspect mnist-sample --json")]
pub(crate) struct Args {
    /// A model file, an ensemble's folder, or a run
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
    #[serde(flatten)]
    kind: Kind<'a>,
}

/// What differs between the two kinds.
#[derive(Serialize)]
#[serde(untagged)]
enum Kind<'a> {
    Model { card: &'a Card },
    Ensemble { combine: &'static str, members: Vec<Member<'a>> },
}

#[derive(Serialize)]
struct WeightRow<'a> {
    name: &'a str,
    shape: &'a [usize],
}

#[derive(Serialize)]
struct Member<'a> {
    rank: usize,
    weights_sha256: String,
    card: &'a Card,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (path, published) = find::model(&args.model, env)?;
    let graph = &published.first().graph;
    let weights_sha256 = published.weights_sha256();
    if args.json {
        let weights = graph.weights().iter();
        return output::json(&Inspected {
            path: path.display().to_string(),
            parameters: published.parameters(),
            weights_sha256,
            graph,
            weights: weights.map(|w| WeightRow { name: &w.name, shape: &w.shape }).collect(),
            kind: kind(&published),
        });
    }
    output::print(&model::summary(graph));
    match kind(&published) {
        Kind::Model { card } => output::print(&serde_json::to_string_pretty(card)?),
        Kind::Ensemble { members, .. } => {
            output::print(&format!("{} of these vote\n{}", members.len(), listed(&members)));
        }
    }
    output::print(&format!("weights  {weights_sha256}"));
    Ok(())
}

fn kind(published: &Published) -> Kind<'_> {
    match published {
        Published::One(model) => Kind::Model { card: &model.card },
        Published::Many(ensemble) => {
            let members = ensemble.members().iter().enumerate();
            let members = members.map(|(rank, model)| Member {
                rank,
                weights_sha256: model.weights_sha256(),
                card: &model.card,
            });
            Kind::Ensemble { combine: "vote", members: members.collect() }
        }
    }
}

/// A line for each member: its hash, and how good it was found to be.
fn listed(members: &[Member<'_>]) -> String {
    let row = |member: &Member<'_>| {
        let mut row = vec![format!("  {}", member.rank), member.weights_sha256.clone()];
        let metrics = member.card.metrics.iter();
        row.extend(metrics.map(|(split, found)| format!("{split} accuracy {:.4}", found.accuracy)));
        row
    };
    output::table(&members.iter().map(row).collect::<Vec<_>>())
}
