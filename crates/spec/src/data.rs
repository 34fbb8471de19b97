//! What a run learns from: the `data` field and the step that prepares it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::Pair;

/// Fetches the data, splits it and writes it as shards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    /// What to prepare.
    pub data: Data,
    /// For how many workers the training samples are made ready: into how many shards they are
    /// split, or, with `assign: copy`, how many see all of them.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub shards: usize,
}

/// A dataset. A name or a path alone means `{from: …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-short" = "from", "x-later" = ["seed"]))]
pub struct Data {
    /// A built-in dataset (`mnist-sample`, `mnist`, `fashion-mnist`, `imdb`), or a path: an npz or CSV file; a
    /// folder or archive (`.zip`, `.tar`, `.tar.gz`, `.tar.xz`) with idx files, CSV files, or a folder
    /// of texts or pictures for each class.
    pub from: String,
    /// Another home of a built-in dataset: a folder or a URL. Its samples are checked, so any
    /// faithful copy will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
    /// Which training samples each worker sees.
    #[serde(default)]
    pub assign: Assign,
    /// What is held out of the training samples for validation: a share (`0.1`) or a number of
    /// samples (`5000`).
    #[serde(default)]
    pub validation: Holdout,
    /// Whether shards and validation keep the shares of the classes.
    #[serde(default)]
    pub stratify: bool,
    /// What the classes are called, in order. A built-in dataset knows its own, and folders of classes
    /// are called by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Pictures: the height and width they are resized to. Without it, all must be of one size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_size: Option<Pair>,
    /// Pictures: whether they are in colour or grey; `rgb` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Pictures: the share of files that may be skipped because they cannot be decoded; 0.05 unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub skip_up_to: Option<f64>,
    /// Pictures: how many classes are held out whole, to test on: people who are never trained on.
    /// The last ones by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub hold_out_people: Option<usize>,
    /// Texts: a file with the rank of each word (JSON, as Keras' `imdb_word_index.json`), or a word a
    /// line, the most frequent first. Without it, words are ranked by the training texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<String>,
    /// Texts: ids of words are below this; 10000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5, max = 200_000))]
    pub vocabulary_size: Option<usize>,
    /// Texts: how many words a sample has. Longer ones lose their beginning, shorter ones are padded in
    /// front; 500 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub length: Option<usize>,
    /// CSV: the column with the class, by its name, or by its number from 1; `label` or the last one
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// CSV: the column with a text, by name or number, where samples are texts; `text` where there is
    /// such a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Data {
    /// A built-in dataset or a path, with nothing else said about it.
    pub fn named(from: impl Into<String>) -> Self {
        Data {
            from: from.into(),
            mirror: None,
            assign: Assign::default(),
            validation: Holdout::None,
            stratify: false,
            labels: None,
            image_size: None,
            color: None,
            skip_up_to: None,
            hold_out_people: None,
            vocabulary: None,
            vocabulary_size: None,
            length: None,
            label: None,
            text: None,
        }
    }
}

/// What a pixel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// Red, green and blue.
    #[default]
    Rgb,
    /// How bright it is.
    Grey,
}

impl Color {
    /// How many numbers a pixel is.
    pub fn channels(self) -> usize {
        match self {
            Color::Rgb => 3,
            Color::Grey => 1,
        }
    }
}

/// Which training samples each worker sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assign {
    /// A shard of its own: every sample is in exactly one, sizes differ by at most one, shuffled by
    /// the seed.
    #[default]
    Split,
    /// Everything, each worker in an order of its own: for models that vote.
    Copy,
}

impl Assign {
    /// How many of `samples` the worker with the most of them sees.
    pub fn largest_shard(self, samples: usize, workers: usize) -> usize {
        match self {
            Assign::Split => samples.div_ceil(workers),
            Assign::Copy => samples,
        }
    }
}

/// The datasets that are known by name.
pub const BUILTIN_DATA: [&str; 4] = ["mnist-sample", "mnist", "fashion-mnist", "imdb"];

/// What is held out for validation: `0`, a share such as `0.1`, or a count such as `5000`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "Number")]
pub enum Holdout {
    /// Nothing.
    #[default]
    None,
    /// A share of the training samples, between 0 and 1.
    Share(f64),
    /// So many samples.
    Count(u64),
}

/// The most samples a holdout can name: what an `f64` counts exactly.
const MOST: f64 = (1u64 << 53) as f64;

impl TryFrom<f64> for Holdout {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        if number == 0.0 {
            Ok(Holdout::None)
        } else if number > 0.0 && number < 1.0 {
            Ok(Holdout::Share(number))
        } else if (1.0..=MOST).contains(&number) && number.fract() == 0.0 {
            Ok(Holdout::Count(number as u64))
        } else {
            Err(format!(
                "expected a share below 1 such as `0.1`, or a whole number of samples such as \
                 `5000`, found `{number}`"
            ))
        }
    }
}

/// A holdout as a number: whole numbers stay whole in JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Fraction(f64),
}

impl From<Holdout> for Number {
    fn from(holdout: Holdout) -> Self {
        match holdout {
            Holdout::None => Number::Whole(0),
            Holdout::Share(share) => Number::Fraction(share),
            Holdout::Count(count) => Number::Whole(count),
        }
    }
}

impl JsonSchema for Holdout {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Holdout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A share of the samples such as `0.1`, or a number of them such as `5000`.",
            "type": "number",
            "format": "holdout",
            "minimum": 0
        })
    }
}

fn one() -> usize {
    1
}
