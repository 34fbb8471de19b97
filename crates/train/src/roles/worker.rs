//! What a process that trains has open: the data, the model, its checkpoints; and how it publishes.

use std::collections::BTreeMap;
use std::sync::Arc;

use collective::Group;
use data::{Manifest, Samples};
use model::{DataFacts, Ensemble, Model, Network};
use spec::{Assign, ParameterServer, Split, Strategy, Train};

use crate::checkpoint::Found;
use crate::context::Context;
use crate::event::{Kind, Published};
use crate::files::Files;
use crate::fit::{RankPlaces, Saving};
use crate::message::Mark;
use crate::orders::Orders;
use crate::schedule::rate;
use crate::servers::{self, Rules};
use crate::settings::turns;
use crate::triplets;
use crate::{
    Checkpoints, Error, Material, Origin, Saver, Settings, Shares, Station, Trainer, check_ids,
};

/// A process that trains.
pub(crate) struct Worker {
    pub(crate) trainer: Trainer,
    pub(crate) saving: Saving,
    /// Whether it holds a state that training can go on from.
    pub(crate) holds: bool,
    files: Arc<Files>,
    manifest: Manifest,
    checkpoints: Checkpoints,
    /// Where every rank has all samples: those.
    copy: Option<Arc<Samples>>,
}

impl Worker {
    /// Opens what training needs. Nothing of a rank is read yet.
    pub(crate) fn open(
        orders: &Orders,
        (station, files): (&Station, &Arc<Files>),
        (train, data): (&Train, &str),
    ) -> Result<Self, Error> {
        let run = &files.run;
        let manifest = open_data(files, data)?;
        let (shape, classes) = (manifest.shape.clone(), manifest.classes);
        let (network, weights) = network(orders, files, train, &manifest)?;
        let settings = Settings::of(train, &network, orders.task.seed);
        let [validation_file, test_file] = manifest.held_out_files();
        let validation = match validation_file {
            Some(file) => {
                files.bring(&file)?;
                Some(Arc::new(manifest.split(Split::Validation)?))
            }
            None => None,
        };
        let shards = triplets::shards(&manifest, train.workers, &settings.loss)?;
        let facts = DataFacts {
            name: manifest.origin.name.clone(),
            sha256: manifest.origin.train_sha256.clone(),
            samples: BTreeMap::from([("train".to_owned(), manifest.train_samples() as u64)]),
        };
        let (labels, form) = (manifest.labels.clone(), manifest.form.clone());
        let origin = Origin { name: run.id(), data: facts, labels, form };
        let scale = manifest.scale;
        let material =
            Material { network, shards, shape, classes, scale, validation, weights, origin };
        let mut trainer = Trainer::new(material, settings, orders.cpu())?;
        if let Strategy::ParameterServer(servers) = train.strategy {
            trainer.position.turns = vec![0; train.workers];
            if let Some(file) = test_file.filter(|_| servers.accuracy_every > 0) {
                files.bring(&file)?;
                let test = manifest.split(Split::Test)?;
                check_ids(&trainer.graph, test.x.view())?;
                let loss = &trainer.settings.loss;
                let test = triplets::measured_on(&test, loss).unwrap_or(test);
                trainer.test = Some(Arc::new(test));
            }
        }
        let (kept, folder) = (files.clone(), run.model(&orders.task.id));
        trainer.keep_member = Some(Box::new(move |rank, model| {
            Ensemble::save_member(&folder, rank, model)?;
            kept.hand_in(&Ensemble::member_file(&folder, rank))
        }));
        let folder = files.store(&run.checkpoints().join(&orders.task.id))?;
        let keep = train.checkpoint.keep as usize;
        let writer = orders.process_name(station.pid);
        let checkpoints = Checkpoints::new(folder, writer.clone(), keep);
        let saver = match station.clock.is_simulated() {
            true => Saver::at_once(checkpoints.clone()),
            false => Saver::new(checkpoints.clone()),
        };
        let (ranks, places) =
            (run.checkpoints().join(&orders.task.id).join("ranks"), files.clone());
        let place = move |rank: usize| {
            let store = places.store(&ranks.join(rank.to_string()))?;
            Ok(Checkpoints::new(store, writer.clone(), 1))
        };
        let ranks: Option<RankPlaces> = match train.strategy {
            Strategy::Average(_) => Some(Box::new(place)),
            _ => None,
        };
        let saving = Saving { saver, every: train.checkpoint.every.get(), ranks };
        let files = files.clone();
        Ok(Worker { trainer, saving, holds: false, files, manifest, checkpoints, copy: None })
    }

    /// Hosts the ranks that a group has placed here.
    pub(crate) fn host(&mut self, group: &mut Group) -> Result<(), Error> {
        let Worker { trainer, files, manifest, copy, .. } = self;
        trainer.host(group, |rank| {
            manifest.shard_file(rank).iter().try_for_each(|file| files.bring(file))?;
            if manifest.origin.assign == Assign::Split {
                return Ok(Arc::new(manifest.shard(rank)?));
            }
            if copy.is_none() {
                *copy = Some(Arc::new(manifest.shard(rank)?));
            }
            Ok(copy.clone().expect("it was read just now"))
        })
    }

    /// Goes on from the newest checkpoint, if there is one, in the group of a generation.
    pub(crate) fn restore_newest(
        &mut self,
        generation: u64,
        voice: &mut dyn FnMut(Kind),
    ) -> Result<(), Error> {
        let Found { newest, damaged } = self.checkpoints.newest()?;
        for (step, problem) in damaged {
            voice(Kind::CheckpointDamaged { step, problem });
        }
        if let Some(snapshot) = newest {
            let step = snapshot.position.step;
            self.trainer.restore(snapshot)?;
            voice(Kind::Resumed { step, generation });
        } else if matches!(self.trainer.settings.strategy, Strategy::ParameterServer(_)) {
            // Should a server be lost, there is something to go back to.
            self.saving.saver.save(self.trainer.snapshot());
            self.saving.saver.flush()?;
        }
        Ok(())
    }

    /// Goes on from what the ranks that are hosted here had done by themselves, where it was saved and
    /// nobody holds it.
    pub(crate) fn restore_ranks(&mut self) -> Result<(), Error> {
        let Worker { trainer, saving, .. } = self;
        let Some(place) = &saving.ranks else { return Ok(()) };
        let Trainer { hosted, round, position, session, optimizer, .. } = trainer;
        round.begin(session, optimizer);
        let held = round.progress();
        for &rank in hosted.keys().filter(|rank| !held.contains_key(rank)) {
            if let Some(snapshot) = place(rank)?.newest()?.newest {
                round.restore(rank, position.step, snapshot);
            }
        }
        Ok(())
    }

    /// Whether it holds just this state.
    pub(crate) fn is_at(&self, mark: Option<Mark>) -> bool {
        let position = self.trainer.position();
        let own = Mark { step: position.step, epoch_step: position.epoch_step };
        self.holds && mark == Some(own)
    }

    /// Whether there is a checkpoint of all it has done.
    pub(crate) fn is_saved(&self) -> Result<bool, Error> {
        let saved = self.checkpoints.newest()?.newest;
        Ok(saved.is_some_and(|saved| saved.position.step >= self.trainer.position().step))
    }

    /// Saves what it holds: what all ranks share, where that is its part.
    pub(crate) fn save(&mut self, whole: bool, voice: &mut dyn FnMut(Kind)) -> Result<(), Error> {
        if self.holds && whole {
            self.saving.saver.save(self.trainer.snapshot());
        }
        if self.holds {
            self.saving.save_ranks(&mut self.trainer)?;
        }
        for step in self.saving.saver.flush()? {
            voice(Kind::Checkpoint { step });
        }
        Ok(())
    }

    /// Ends training: everything is saved, and the model published.
    pub(crate) fn finish(
        &mut self,
        orders: &Orders,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        for step in self.saving.saver.flush()? {
            context.emit(Kind::Checkpoint { step });
        }
        context.emit(Kind::Published(self.publish(orders)?));
        Ok(())
    }

    /// Publishes the model. One that is there already, from a process that died before it could say
    /// so, has the same weights and stays.
    fn publish(&self, orders: &Orders) -> Result<Published, Error> {
        let (files, run) = (&self.files, &self.files.run);
        let folder = run.model(&orders.task.id);
        let parameters = self.trainer.parameters() as u64;
        let (path, weights_sha256, models) = if self.trainer.keeps_members() {
            let world = self.trainer.shares().world();
            let member = |rank| files.bring(&Ensemble::member_file(&folder, rank));
            (0..world).try_for_each(member)?;
            let weights_sha256 = Ensemble::seal(&folder, world)?;
            files.hand_in(&Ensemble::manifest_file(&folder))?;
            (folder.clone(), weights_sha256, world as u64)
        } else {
            let (path, model) = (folder.join(model::FILE_NAME), self.trainer.model());
            let weights_sha256 = model.weights_sha256();
            let there = Model::load(&path).map(|there| there.weights_sha256());
            if there.ok().as_ref() != Some(&weights_sha256) {
                model.save(&path)?;
            }
            files.hand_in(&path)?;
            (path, weights_sha256, 1)
        };
        let position = self.trainer.position();
        let samples = self.trainer.samples_in(position.step);
        Ok(Published {
            path: path.strip_prefix(&run.path).unwrap_or(&path).display().to_string(),
            weights_sha256,
            parameters: parameters * models,
            epoch: position.result.as_ref().map_or(0, |epoch| epoch.epoch),
            samples_per_second: samples as f64 / position.seconds.max(1e-9),
            seconds: position.seconds,
        })
    }
}

/// How the servers of a task make updates.
pub(crate) fn server_rules(
    (orders, files): (&Orders, &Files),
    train: &Train,
    data: &str,
    how: &ParameterServer,
) -> Result<Rules, Error> {
    let manifest = open_data(files, data)?;
    let (network, _) = network(orders, files, train, &manifest)?;
    servers::check(network.graph.parameter_count(), how.servers)?;
    let settings = Settings::of(train, &network, orders.task.seed);
    let shards = triplets::shards(&manifest, train.workers, &settings.loss)?;
    let steps = settings.steps(&Shares::new(shards, settings.batch));
    let Settings { optimizer, schedule, rate: base, clip, .. } = settings;
    Ok(Rules {
        optimizer,
        trained: engine::Trained::of(&network.graph),
        rate: Box::new(move |step| rate(&schedule, base, step, steps)),
        clip,
        turns: turns(how, train.workers),
        steps,
    })
}

/// What is known of the data. No samples are read yet.
fn open_data(files: &Files, data: &str) -> Result<Manifest, Error> {
    let folder = files.run.data(data);
    files.bring(&Manifest::file(&folder))?;
    Ok(Manifest::open(&folder)?)
}

/// The network of a task, wherever its file is.
fn network(
    orders: &Orders,
    files: &Files,
    train: &Train,
    data: &Manifest,
) -> Result<(Network, Option<Vec<f32>>), Error> {
    let mut here = train.clone();
    if let Some(path) = here.model.file_mut() {
        *path = files.input(&orders.task.id, path)?.to_string_lossy().into_owned();
    }
    starting_point(&here, &data.shape, data.classes)
}

/// The network to train on samples of a shape and so many classes, and the weights to begin from
/// where a file brings them.
pub fn starting_point(
    train: &Train,
    shape: &[usize],
    classes: usize,
) -> Result<(Network, Option<Vec<f32>>), Error> {
    let shape = if train.embeds() { data::picture_shape(shape) } else { shape };
    let (network, weights) = match train.model.thawed() {
        spec::Model::File(path) => {
            let Model { graph, weights, card } = Model::load(path.as_ref())?;
            // An embedding is trained on as one.
            let own = card.trained.filter(|_| card.embedding).map(|trained| trained.loss);
            (Network::around(graph).by(train.loss.or(own))?, Some(weights))
        }
        spec::Model::Fresh(path) => {
            let model = Model::load(path.as_ref())?;
            model.check_fresh()?;
            (Network::around(model.graph).by(train.loss)?, None)
        }
        model => (model::network_by(model, shape, classes, train.loss)?, None),
    };
    match &train.model {
        spec::Model::Frozen(_, freeze) => Ok((network.frozen(freeze)?, weights)),
        _ => Ok((network, weights)),
    }
}
