//! A trained model and the card that says where it comes from.

use std::collections::BTreeMap;

use model::{Card, DataFacts, Model, Preprocess, Trained};
use preprocess::Form;
use spec::LossName;

use crate::event::Metrics;
use crate::{Error, Settings, Trainer};

/// Where a model comes from, as far as its trainer does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The run it is of.
    pub name: String,
    /// The data it was trained on.
    pub data: DataFacts,
    /// What its classes are called.
    pub labels: Vec<String>,
    /// What its samples were made from, and how.
    pub form: Form,
}

impl Trainer {
    /// What has come out so far, with its card.
    pub fn model(&self) -> Model {
        self.with_card(self.result().to_vec())
    }

    /// Keeps the model of a rank that has come to its end.
    pub(crate) fn save_member(&self, rank: usize) -> Result<(), Error> {
        let Some(keep) = &self.keep_member else {
            return Ok(());
        };
        let weights = self.round.replicas[&rank].weights.clone();
        keep(rank, &self.with_card(weights))
    }

    fn with_card(&self, weights: Vec<f32>) -> Model {
        let origin = self.origin.clone();
        let position = self.position();
        let steps = position.step;
        let Settings { batch, optimizer, loss, seed, .. } = *self.settings();
        let trained = Trained {
            epochs: steps.div_ceil(self.steps_per_epoch()),
            steps,
            batch,
            optimizer,
            loss,
            seed,
            seconds: position.seconds,
        };
        let mut metrics = BTreeMap::new();
        if let Some(epoch) = &position.result {
            metrics.insert("train".to_owned(), on_card(epoch.train));
            metrics.extend(epoch.validation.map(|m| ("validation".to_owned(), on_card(m))));
        }
        let input = Preprocess { shape: self.shape.clone(), scale: self.scale, form: origin.form };
        let card = Card {
            labels: origin.labels,
            embedding: loss.name == LossName::Triplet,
            data: Some(origin.data),
            metrics,
            trained: Some(trained),
            weights_sha256: model::weights_sha256(&weights),
            ..Card::new(&origin.name, &self.network, input)
        };
        Model { graph: self.graph.clone(), weights, card }
    }
}

fn on_card(Metrics { loss, accuracy }: Metrics) -> model::Metrics {
    model::Metrics { loss, accuracy }
}
