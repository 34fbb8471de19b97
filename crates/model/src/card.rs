//! A model's card: the facts that travel with its weights.
//!
//! The card is JSON inside the model file. What a newer version added to it is kept when an older
//! one writes the model again; a newer version that old readers would misread has a higher number.

use std::collections::BTreeMap;

use preprocess::Form;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use spec::{Loss, Optimizer};

use crate::FileProblem;
use crate::safetensors::shortened;

/// What is known about a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The version of the card and of the file it is in.
    pub version: u32,
    /// What the model is called: the run's name, or the file's.
    pub name: String,
    /// The network's name.
    #[serde(default)]
    pub network: String,
    /// What is done to a sample before it enters the network.
    pub input: Preprocess,
    /// What the classes are called, in order; empty where they have numbers only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Whether its answers are embeddings: numbers that are near to each other for pictures of one person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub embedding: bool,
    /// What it was trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataFacts>,
    /// How good it is, by split: `train`, `validation`, `test`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metrics>,
    /// How it was trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trained: Option<Trained>,
    /// The `weights_sha256` of the models it is the mean of, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub averaged: Vec<String>,
    /// The version of Trainyard that wrote it.
    #[serde(default)]
    pub trainyard: String,
    /// The identity of the weights. Set when the model is written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub weights_sha256: String,
    /// Facts that this version does not know.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// What is done to a sample before it enters the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preprocess {
    /// The shape of a sample.
    pub shape: Vec<usize>,
    /// What each number of a sample is multiplied by: 1/255 for pixels.
    pub scale: f32,
    /// What a sample is made from, and how: a text with its vocabulary, or a picture.
    #[serde(default, skip_serializing_if = "Form::is_numbers")]
    pub form: Form,
}

/// What a model was trained on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataFacts {
    /// The built-in name or path in the run file.
    pub name: String,
    /// The hash over the decoded samples.
    #[serde(default)]
    pub sha256: String,
    /// How many samples each split has.
    #[serde(default)]
    pub samples: BTreeMap<String, u64>,
}

/// How good a model is on one split. Numbers that are none are null in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The mean loss.
    #[serde(deserialize_with = "number_or_null")]
    pub loss: f64,
    /// The share of samples it got right.
    #[serde(deserialize_with = "number_or_null")]
    pub accuracy: f64,
}

/// How a model was trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Passes over the data, begun ones included.
    pub epochs: u64,
    /// Updates of the weights.
    pub steps: u64,
    /// Samples per update and worker.
    pub batch: usize,
    /// How gradients changed weights.
    pub optimizer: Optimizer,
    /// What was made small.
    pub loss: Loss,
    /// The run's seed.
    pub seed: u64,
    /// How long it took.
    #[serde(deserialize_with = "number_or_null")]
    pub seconds: f64,
}

impl Card {
    /// The newest version this code reads, and the one it writes.
    pub const VERSION: u32 = 1;

    /// A card with nothing but what every model has.
    pub fn new(name: &str, network: &str, input: Preprocess) -> Card {
        Card {
            version: Card::VERSION,
            name: name.into(),
            network: network.into(),
            input,
            trainyard: env!("CARGO_PKG_VERSION").into(),
            ..Card::default()
        }
    }

    /// Reads a card, the version before all else.
    pub(crate) fn from_json(text: &str) -> Result<Card, FileProblem> {
        let damaged = |error: serde_json::Error| {
            FileProblem::Damaged(format!("its card: {}", shortened(&error.to_string())))
        };
        let value: Value = serde_json::from_str(text).map_err(damaged)?;
        match value.get("version").and_then(Value::as_u64) {
            Some(found) if found > u64::from(Card::VERSION) => {
                Err(FileProblem::Newer { found, known: Card::VERSION })
            }
            _ => serde_json::from_value(value).map_err(damaged),
        }
    }
}

impl Preprocess {
    /// For samples that are numbers: each is multiplied by `scale`.
    pub fn numbers(shape: Vec<usize>, scale: f32) -> Preprocess {
        Preprocess { shape, scale, form: Form::Numbers }
    }

    /// Whether samples of `shape` can be given to the network. One channel more or less at the end
    /// makes no difference: `[28, 28]` is `[28, 28, 1]`.
    pub fn accepts(&self, shape: &[usize]) -> bool {
        let plain = |shape: &[usize]| shape.strip_suffix(&[1]).unwrap_or(shape).to_vec();
        plain(shape) == plain(&self.shape)
    }
}

impl Default for Preprocess {
    /// Nothing is done, to a sample of one number.
    fn default() -> Self {
        Preprocess { shape: vec![1], scale: 1.0, form: Form::Numbers }
    }
}

fn number_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(card: &Card) -> String {
        serde_json::to_string(card).unwrap()
    }

    #[test]
    fn unknown_facts_are_kept_and_newer_versions_refused() {
        let card = Card::new("a", "mnist-cnn", Preprocess::default());
        let newer = text(&card).replacen('{', "{\"carbon\":{\"grams\":3},", 1);
        let read = Card::from_json(&newer).unwrap();
        assert_eq!(read.more["carbon"]["grams"], 3);
        assert_eq!(Card::from_json(&text(&read)).unwrap(), read);

        let later = text(&card).replace("\"version\":1", "\"version\":2,\"name\":7");
        let error = Card::from_json(&later).unwrap_err().to_string();
        assert!(error.contains("version 2"), "{error}");
        for damaged in ["", "[]", "{}", "null", "{\"version\":1}"] {
            let error = Card::from_json(damaged).unwrap_err();
            assert!(matches!(error, FileProblem::Damaged(_)), "{damaged}");
        }
    }

    #[test]
    fn a_diverged_model_has_a_card_too() {
        let mut card = Card::new("a", "mnist-cnn", Preprocess::default());
        let metrics = Metrics { loss: f64::NAN, accuracy: 0.1 };
        card.metrics.insert("test".into(), metrics);
        let read = Card::from_json(&text(&card)).unwrap();
        assert!(read.metrics["test"].loss.is_nan());
    }

    #[test]
    fn the_vocabulary_travels_in_the_card() {
        let words = ["the", "it's", "\"quoted\""].map(str::to_owned).to_vec();
        let form = Form::Text(preprocess::Text::new(words, 100, 500));
        let input = Preprocess { form, ..Preprocess::numbers(vec![500], 1.0) };
        let card = Card::new("a", "imdb-bigru", input);
        assert_eq!(Card::from_json(&text(&card)).unwrap(), card);
        // Cards of numbers are as they were before there were other forms.
        let plain = text(&Card::new("a", "mnist-cnn", Preprocess::default()));
        assert!(plain.contains(r#""input":{"shape":[1],"scale":1.0}"#), "{plain}");
    }

    #[test]
    fn a_last_channel_may_be_left_out() {
        let pictures = Preprocess::numbers(vec![28, 28, 1], 1.0);
        assert!(pictures.accepts(&[28, 28]) && pictures.accepts(&[28, 28, 1]));
        assert!(!pictures.accepts(&[28, 28, 3]) && !pictures.accepts(&[784]));
        assert!(!pictures.accepts(&[28]) && !pictures.accepts(&[]));
    }
}
