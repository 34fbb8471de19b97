//! Trains a network on a shard, from the newest checkpoint if there is one, and publishes it.

use std::collections::BTreeMap;

use data::Manifest;
use model::{DataFacts, Model, Network};
use spec::{Split, Train};
use store::Store;

use crate::checkpoint::Found;
use crate::context::Context;
use crate::event::{Kind, Published};
use crate::perform::{Orders, Performed};
use crate::{Checkpoints, Ending, Error, Material, Origin, Saver, Settings, Trainer, fit};

pub(crate) fn worker(
    orders: &Orders,
    train: &Train,
    data: &str,
    context: &mut Context<'_>,
) -> Result<Performed, Error> {
    let run = orders.run_dir();
    let manifest = Manifest::open(&run.data(data))?;
    let samples = manifest.shard(0)?;
    let (network, weights) = starting_point(&train.model, &samples.shape, samples.classes)?;
    let settings = Settings::of(train, &network, orders.task.seed);
    let validation = match manifest.validation {
        Some(_) => Some(manifest.split(Split::Validation)?),
        None => None,
    };
    let mut trainer =
        Trainer::new(Material { network, samples, validation, weights }, settings, orders.cpu())?;

    let keep = train.checkpoint.keep as usize;
    let folder = Store::local(run.checkpoints().join(&orders.task.id))?;
    let checkpoints = Checkpoints::new(folder, orders.process_name(), keep);
    let Found { newest, damaged } = checkpoints.newest()?;
    for (step, problem) in damaged {
        context.emit(Kind::CheckpointDamaged { step, problem });
    }
    if let Some(snapshot) = newest {
        let step = snapshot.position.step;
        trainer.restore(snapshot)?;
        context.emit(Kind::Resumed { step });
    }
    let saver = (Saver::new(checkpoints), train.checkpoint.every.get());
    match fit(&mut trainer, context, Some(saver))? {
        Ending::Stopped => Ok(Performed::Stopped),
        Ending::Finished => {
            context.emit(Kind::Published(publish(orders, &trainer, &manifest)?));
            Ok(Performed::Done)
        }
    }
}

/// Publishes the model. One that is there already, from a process that died before it could say so,
/// has the same weights and stays.
fn publish(orders: &Orders, trainer: &Trainer, manifest: &Manifest) -> Result<Published, Error> {
    let run = orders.run_dir();
    let data = DataFacts {
        name: manifest.origin.name.clone(),
        sha256: manifest.origin.train_sha256.clone(),
        samples: BTreeMap::from([("train".to_owned(), manifest.train_samples() as u64)]),
    };
    let labels = manifest.labels.clone();
    let model = trainer.model(Origin { name: run.id(), data, labels });
    let path = run.model(&orders.task.id).join(model::FILE_NAME);
    let weights_sha256 = model.weights_sha256();
    if Model::load(&path).map(|there| there.weights_sha256()).ok().as_ref() != Some(&weights_sha256)
    {
        model.save(&path)?;
    }
    let position = trainer.position();
    let epoch = position.result.as_ref().map_or(0, |epoch| epoch.epoch);
    let samples = trainer.samples_in(position.step);
    Ok(Published {
        path: path.strip_prefix(&run.path).unwrap_or(&path).display().to_string(),
        weights_sha256,
        parameters: model.weights.len() as u64,
        epoch,
        samples_per_second: samples as f64 / position.seconds.max(1e-9),
    })
}

/// The network to train on samples of a shape and so many classes, and the weights to begin from
/// where a file brings them.
pub fn starting_point(
    model: &spec::Model,
    shape: &[usize],
    classes: usize,
) -> Result<(Network, Option<Vec<f32>>), Error> {
    match model {
        spec::Model::File(path) => {
            let Model { graph, weights, .. } = Model::load(path.as_ref())?;
            Ok((Network::around(graph), Some(weights)))
        }
        model => Ok((model::network(model, shape, classes)?, None)),
    }
}
