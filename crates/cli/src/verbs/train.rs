//! `trainyard train`: S0's and S2's trainer. One file of samples in, one model out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Cpu;
use model::{DataFacts, Model};
use signal_hook::consts::{SIGINT, SIGTERM};
use spec::{Length, Train};
use train::{Clock, Context, Ending, Event, Material, Origin, Pulse, Settings, Trainer, fit_alone};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::view::View;
use crate::{find, output};

/// Train one model on one file or dataset, without a run directory
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard train --data d/0.npz --model mnist-cnn --epoch 3 --batch 100 --savemodel m/0.safetensors")]
pub(crate) struct Args {
    /// An npz file with `x` and `y`, a built-in dataset, or a path
    #[arg(long)]
    data: String,
    /// A built-in network, or a model file to train on
    #[arg(long, default_value = "mnist-cnn")]
    model: String,
    /// How many epochs
    #[arg(long, alias = "epochs", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    epoch: u32,
    /// Samples a step
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// The file the model goes to
    #[arg(long, value_name = "FILE")]
    savemodel: PathBuf,
    /// What all randomness is a function of
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many threads compute [default: all]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    Model::can_save(&args.savemodel).or_usage()?;
    let model = spec::Model::parse(&args.model).or_usage()?;
    let train = Train {
        length: Length::Epochs(args.epoch),
        batch: args.batch as usize,
        ..Train::new(model)
    };
    let dataset = find::dataset(&args.data, args.seed, env)?;
    let samples = dataset.train;
    let (network, weights) = train::starting_point(&train, &samples.shape, samples.classes)?;
    let settings = Settings::of(&train, &network, args.seed);
    let data = DataFacts {
        name: args.data.clone(),
        sha256: samples.sha256(),
        samples: BTreeMap::from([("train".to_owned(), samples.len() as u64)]),
    };
    let cpu = Cpu::new(args.threads.map_or(env.threads, usize::from), env.isa());
    let origin =
        Origin { name: stem(&args.savemodel), data, labels: dataset.labels, form: dataset.form };
    let validation = dataset.validation.map(Arc::new);
    let material = Material { validation, weights, ..Material::of_one(network, &samples, origin) };
    let mut trainer = Trainer::new(material, settings, cpu)?;

    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    let clock = Clock::system();
    let mut view = View::new(false, env);
    let mut emit = |kind| {
        let task = Some("train".to_owned());
        view.show(&Event { v: train::VERSION, seq: 0, ms: clock.unix_ms(), task, kind });
    };
    let (stop, pulse) = (|| stop.load(Ordering::Relaxed), Pulse::default());
    let log = output::talk;
    let mut context =
        Context { clock: &clock, stop: &stop, pulse: &pulse, log: &log, voice: &mut emit };
    let ending = fit_alone(&mut trainer, &Arc::new(samples), &mut context, None);
    view.close();
    if ending? == Ending::Left {
        output::talk("stopped; nothing was saved");
        return Err(Failure::Interrupted);
    }
    let model = trainer.model();
    model.save(&args.savemodel)?;
    output::print(&format!("{}  {}", args.savemodel.display(), model.card.weights_sha256));
    Ok(())
}

/// A model without a run is called after its file.
fn stem(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
}
