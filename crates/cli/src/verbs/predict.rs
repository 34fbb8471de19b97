//! `trainyard predict`: the answers of a model or an ensemble.

use anyhow::anyhow;
use engine::{Cpu, Jury};
use model::{Model, Published, Verdict};
use serde::Serialize;

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::{find, output};

/// How many samples are computed at a time.
const BATCH: usize = 100;

/// Print a model's answers for samples
///
/// Inputs are npz files with `x`, or idx files of images. Bytes are scaled as in training; floats are taken
/// as they are. Without --json, each sample's most probable class and
/// its probability. Of an ensemble, the class that most of its models vote for, the mean of their
/// probabilities, and the votes. Of a model for faces, the embedding, scaled to length 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard predict final.safetensors d/0.npz
  trainyard predict mnist-sample x.npz --json")]
pub(crate) struct Args {
    /// A model file, an ensemble's folder, or a run
    model: String,
    /// Files of samples
    #[arg(required = true)]
    inputs: Vec<std::path::PathBuf>,
    /// Print {"predictions": [[…]]}, in input order; of an ensemble also its "votes" and "classes"
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    predictions: Vec<&'a [f32]>,
    #[serde(flatten)]
    ballot: Option<Ballot<'a>>,
}

/// What only an ensemble has: how many members voted for each class, and which class won.
#[derive(Serialize)]
struct Ballot<'a> {
    votes: Vec<&'a [u32]>,
    classes: &'a [usize],
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (_, published) = find::model(&args.model, env)?;
    if published.first().card.embedding {
        return embed(&published, args, env);
    }
    let verdict = ask(&published, args, env)?;
    // One number of a network is the second of two probabilities; the other one follows from it.
    let outputs: usize = published.first().graph.output_shape().iter().product();
    let width = outputs.max(2);
    let rows = verdict.probabilities.chunks_exact(width);
    let predictions: Vec<&[f32]> = rows.map(|row| &row[width - outputs..]).collect();
    let votes: Vec<&[u32]> = verdict.votes.chunks_exact(width).collect();
    if let Some(row) = predictions.iter().position(|row| row.iter().any(|p| !p.is_finite())) {
        return Err(anyhow!("the model's answer to sample {row} is not a number").into());
    }
    let is_ensemble = matches!(published, Published::Many(_));
    if args.json {
        let ballot = is_ensemble.then_some(Ballot { votes, classes: &verdict.classes });
        return output::json(&Answer { predictions, ballot });
    }
    let (labels, members) = (&published.first().card.labels, published.members().len());
    for (number, &class) in verdict.classes.iter().enumerate() {
        let label = labels.get(class).cloned().unwrap_or_else(|| class.to_string());
        let probability = verdict.probabilities[number * width + class];
        let votes = match is_ensemble {
            true => format!(", {} of {members} votes", votes[number][class]),
            false => String::new(),
        };
        output::print(&format!("{number}: {label} ({probability:.4}{votes})"));
    }
    Ok(())
}

/// Prints embeddings, each of length 1.
fn embed(published: &Published, args: &Args, env: &Env) -> Result<(), Failure> {
    let Model { graph, card, .. } = published.first();
    let mut jury = Jury::new(published, BATCH, Cpu::new(env.threads, env.isa()))?;
    let mut all = vec![];
    for path in &args.inputs {
        let inputs = data::inputs(path, graph.input_shape()).or_usage()?;
        for start in (0..inputs.len()).step_by(BATCH) {
            let range = start..inputs.len().min(start + BATCH);
            let x = train::input(inputs.rows(range.clone()), card.input.scale);
            all.extend(jury.embed(x, range.len()));
        }
    }
    let rows: Vec<&[f32]> = all.chunks_exact(graph.output_shape()[0]).collect();
    if let Some(row) = rows.iter().position(|row| row.iter().any(|x| !x.is_finite())) {
        return Err(anyhow!("the model's answer to sample {row} is not a number").into());
    }
    if args.json {
        return output::json(&Answer { predictions: rows, ballot: None });
    }
    for (number, row) in rows.iter().enumerate() {
        let numbers: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        output::print(&format!("{number}: {}", numbers.join(" ")));
    }
    Ok(())
}

/// The answers to all inputs, one after another.
fn ask(published: &Published, args: &Args, env: &Env) -> Result<Verdict, Failure> {
    let mut jury = Jury::new(published, BATCH, Cpu::new(env.threads, env.isa()))?;
    let scale = published.first().card.input.scale;
    let mut all = Verdict::default();
    for path in &args.inputs {
        let graph = &published.first().graph;
        let inputs = data::inputs(path, graph.input_shape()).or_usage()?;
        train::check_ids(graph, inputs.x.view()).or_usage()?;
        for start in (0..inputs.len()).step_by(BATCH) {
            let range = start..inputs.len().min(start + BATCH);
            let Verdict { classes, probabilities, votes } =
                jury.ask(train::input(inputs.rows(range.clone()), scale), range.len());
            all.classes.extend(classes);
            all.probabilities.extend(probabilities);
            all.votes.extend(votes);
        }
    }
    Ok(all)
}
