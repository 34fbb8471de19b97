//! `trainyard evaluate`: S2's accuracy test.

use engine::Cpu;
use serde::Serialize;
use train::{Faces, Metrics};

use crate::env::Env;
use crate::failure::Failure;
use crate::report_text::recognized;
use crate::{find, output};

/// Measure a model's loss and accuracy
///
/// On the test split where the data has one, otherwise on all of it. An ensemble is measured by its votes. Of
/// embeddings, also how well people are recognized: by them, by the same network untrained, and by pixels.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard evaluate --modelpath final.safetensors --data mnist-sample
  trainyard evaluate --modelpath mnist-sample --data d/0.npz --json")]
pub(crate) struct Args {
    /// A model file, an ensemble's folder, or a run
    #[arg(long, value_name = "MODEL")]
    modelpath: String,
    /// A built-in dataset, an npz file or a path
    #[arg(long)]
    data: String,
    /// Samples at a time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// Faces: pictures nearer than this are taken to be of one person
    #[arg(long, default_value_t = 1.0)]
    threshold: f32,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Measured {
    model: String,
    samples: usize,
    #[serde(flatten)]
    metrics: Metrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    faces: Option<Faces>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let (path, published) = find::model(&args.modelpath, env)?;
    let samples = find::test_samples(find::dataset_for(&args.data, &published, env)?);
    let cpu = Cpu::new(env.threads, env.isa());
    let batch = args.batch as usize;
    let metrics = train::measure(&published, &samples, batch, cpu.clone())?;
    let faces = train::recognize(&published, &samples, (batch, args.threshold), cpu)?;
    if args.json {
        let model = path.display().to_string();
        return output::json(&Measured { model, samples: samples.len(), metrics, faces });
    }
    let Metrics { loss, accuracy } = metrics;
    output::print(&format!("loss {loss:.4}, accuracy {accuracy:.4} on {} samples", samples.len()));
    for (way, found) in faces.iter().flat_map(recognized) {
        output::print(&format!("{way}: {found}"));
    }
    Ok(())
}
