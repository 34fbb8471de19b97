//! What is told about the model: `GET /v1/model`.

use std::collections::BTreeMap;

use model::{DataFacts, Metrics, Published, Trained, class_of};
use preprocess::Form;
use serde::Serialize;

use crate::examples::Example;
use crate::kind::Kind;
use crate::limits::Limits;

/// A model's facts, for people and programs that ask it.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// What it is called.
    pub name: String,
    /// What it is and how good, in a line.
    pub summary: String,
    /// What it is asked about.
    pub kind: Kind,
    /// The network's name, where it has one.
    pub network: String,
    /// Numbers of all weights.
    pub parameters: usize,
    /// How many models answer together.
    pub members: usize,
    /// What it takes.
    pub input: Input,
    /// What its classes are called; none where it answers with embeddings.
    pub labels: Vec<String>,
    /// Numbers of an answer.
    pub outputs: usize,
    /// Faces nearer than this are taken to be of one person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Pictures to try it with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// How many people are in the gallery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<usize>,
    /// Its layers, the first one first.
    pub layers: Vec<LayerFacts>,
    /// What it was trained on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataFacts>,
    /// How good it is, by split.
    pub metrics: BTreeMap<String, Metrics>,
    /// How it was trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<Trained>,
    /// The identity of its weights.
    pub weights_sha256: String,
    /// The version of Trainyard that serves it.
    pub trainyard: &'static str,
}

/// What a model takes.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// The shape of a sample.
    pub shape: Vec<usize>,
    /// How many words of a text it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// Bytes of a text, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_text: Option<usize>,
}

/// One layer.
#[derive(Clone, Debug, Serialize)]
pub struct LayerFacts {
    /// Its name.
    pub name: String,
    /// Its class, as Keras calls it.
    pub kind: &'static str,
    /// The shape of its output for one sample.
    pub output: Vec<usize>,
    /// Numbers of its weights.
    pub parameters: usize,
}

/// The threshold for faces where nobody says another one.
const THRESHOLD: f32 = 1.0;

impl About {
    pub(crate) fn of(published: &Published, kind: Kind) -> About {
        let (model, members) = (published.first(), published.members().len());
        let (graph, card) = (&model.graph, &model.card);
        let outputs: usize = graph.output_shape().iter().product();
        let words = match &card.input.form {
            Form::Text(text) => Some(text.length),
            _ => None,
        };
        // An ensemble was measured as a whole nowhere that its members could tell.
        let metrics = if members == 1 { card.metrics.clone() } else { BTreeMap::new() };
        let layers = graph.nodes().iter().enumerate().map(|(number, node)| LayerFacts {
            name: node.name.clone(),
            kind: class_of(&node.layer),
            output: graph.shape(number).to_vec(),
            parameters: graph.weights_of(number).iter().map(|weight| weight.range.len()).sum(),
        });
        About {
            name: card.name.clone(),
            summary: summary(published, &metrics),
            kind,
            network: card.network.clone(),
            parameters: published.parameters(),
            members,
            input: Input {
                shape: graph.input_shape().to_vec(),
                words,
                longest_text: words.map(|_| Limits::default().text),
            },
            labels: if kind == Kind::Faces { vec![] } else { labels(&card.labels, outputs) },
            outputs,
            threshold: (kind == Kind::Faces).then_some(THRESHOLD),
            examples: vec![],
            people: None,
            layers: layers.collect(),
            data: card.data.as_ref().map(without_folders),
            metrics,
            trained: card.trained.clone(),
            weights_sha256: published.weights_sha256(),
            trainyard: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Adds how good it turned out to be.
    pub(crate) fn measured(&mut self, published: &Published, results: BTreeMap<String, Metrics>) {
        self.metrics.extend(results);
        self.summary = summary(published, &self.metrics);
    }
}

/// What a model was trained on, without where that lies on its owner's machine.
fn without_folders(data: &DataFacts) -> DataFacts {
    DataFacts { name: file_name(&data.name).to_owned(), ..data.clone() }
}

fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// A name for each class. One number tells two classes apart.
fn labels(known: &[String], outputs: usize) -> Vec<String> {
    let classes = outputs.max(2);
    let name = |class: usize| known.get(class).cloned().unwrap_or_else(|| class.to_string());
    (0..classes).map(name).collect()
}

fn summary(published: &Published, metrics: &BTreeMap<String, Metrics>) -> String {
    let (card, members) = (&published.first().card, published.members().len());
    let network = match card.network.as_str() {
        "" => "A network",
        name => name,
    };
    let many = if members > 1 { format!("{members} × {network}") } else { network.to_owned() };
    let on = card
        .data
        .as_ref()
        .map_or(String::new(), |data| format!(", trained on {}", file_name(&data.name)));
    let right = metrics.get("test").filter(|test| test.accuracy.is_finite());
    let right = right.map_or(String::new(), |test| {
        format!(": {:.1} % of the test samples right", 100.0 * test.accuracy)
    });
    format!("{many}{on}{right}.")
}
