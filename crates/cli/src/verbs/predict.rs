//! `trainyard predict`: a model's answers.

use engine::{Cpu, Program, Session};
use serde::Serialize;

use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// How many samples are computed at a time.
const BATCH: usize = 100;

/// Print a model's answers for samples
///
/// Inputs are npz files with `x`, or idx files of images. Without --json, each sample's most probable class and
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
    let program = Program::inference(&model.graph, BATCH)?;
    let mut session = Session::new(program, Cpu::new(env.threads, env.isa()));
    session.weights_mut().copy_from_slice(&model.weights);
    let width: usize = model.graph.output_shape().iter().product();
    let mut predictions: Vec<Vec<f32>> = vec![];
    for path in &args.inputs {
        let inputs = data::inputs(path, model.graph.input_shape())?;
        for start in (0..inputs.len()).step_by(BATCH) {
            let range = start..inputs.len().min(start + BATCH);
            let n = range.len();
            let answers = session.predict(train::input(inputs.rows(range), inputs.scale()), n);
            predictions.extend(answers.chunks_exact(width).map(<[f32]>::to_vec));
        }
    }
    if args.json {
        return output::json(&Answer { predictions });
    }
    for (number, row) in predictions.iter().enumerate() {
        let best =
            (0..row.len()).reduce(|best, class| if row[class] > row[best] { class } else { best });
        let class = best.unwrap_or(0);
        let label = model
            .card
            .labels
            .get(class)
            .cloned()
            .unwrap_or_else(|| class.to_string());
        output::print(&format!("{number}: {label} ({:.4})", row[class]));
    }
    Ok(())
}
