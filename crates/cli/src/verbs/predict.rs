//! `trainyard predict`: a model's answers.

use anyhow::anyhow;
use engine::Cpu;
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
/// its probability.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard predict final.safetensors d/0.npz
  trainyard predict mnist-sample x.npz --json")]
pub(crate) struct Args {
    /// A model file, or a run
    model: String,
    /// Files of samples
    #[arg(required = true)]
    inputs: Vec<std::path::PathBuf>,
    /// Print {"predictions": [[…]]}, in input order
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    predictions: Vec<Vec<f32>>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (_, model) = find::model(&args.model, env)?;
    let mut session = train::session(&model, BATCH, Cpu::new(env.threads, env.isa()))?;
    let width: usize = model.graph.output_shape().iter().product();
    let mut predictions: Vec<Vec<f32>> = vec![];
    for path in &args.inputs {
        let inputs = data::inputs(path, model.graph.input_shape()).or_usage()?;
        for start in (0..inputs.len()).step_by(BATCH) {
            let range = start..inputs.len().min(start + BATCH);
            let n = range.len();
            let x = train::input(inputs.rows(range), model.card.input.scale);
            let answers = session.predict(x, n);
            predictions.extend(answers.chunks_exact(width).map(<[f32]>::to_vec));
        }
    }
    if let Some(row) = predictions.iter().position(|row| row.iter().any(|p| !p.is_finite())) {
        return Err(anyhow!("the model's answer to sample {row} is not a number").into());
    }
    if args.json {
        return output::json(&Answer { predictions });
    }
    for (number, row) in predictions.iter().enumerate() {
        let best =
            (0..row.len()).reduce(|best, class| if row[class] > row[best] { class } else { best });
        let class = best.unwrap_or(0);
        let label = model.card.labels.get(class).cloned().unwrap_or_else(|| class.to_string());
        output::print(&format!("{number}: {label} ({:.4})", row[class]));
    }
    Ok(())
}
