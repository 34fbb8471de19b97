//! The run file as people write it. Its JSON Schema, and so what the reader accepts, comes from
//! these types; [`resolve`](crate::resolve) turns them into a [`RunSpec`](crate::RunSpec).

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::train_form::TrainForm;
use crate::{Data, Evaluate, Model, On, Prepare, Serve};

/// A Trainyard run file.
///
/// The short form has `data`, `model`, `train`, `evaluate` and `serve`; the long form has `steps`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-later" = ["sweep", "output"]))]
pub(crate) struct RunFile {
    /// What the run is called: lower-case letters, digits and dashes, beginning with a letter, at
    /// most 40 characters.
    #[schemars(extend("format" = "name", "pattern" = "^[a-z][a-z0-9-]{0,39}$"))]
    pub(crate) name: String,
    /// What all randomness comes from. The same file with the same seed gives the same bits.
    #[serde(default)]
    pub(crate) seed: u64,
    /// What to learn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Data>,
    /// What to train.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<Model>,
    /// How to train it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) train: Option<TrainForm>,
    /// How to measure the result; `false` for not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evaluate: Option<EvaluateForm>,
    /// Serves the model with a web page when the run is done: `serve: {}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) serve: Option<Serve>,
    /// The long form: every step by name, with what it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<Steps>,
    /// What it is given in places other than this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on: Option<On>,
}

/// `false`, or how to measure.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Evaluation")]
pub(crate) enum EvaluateForm {
    /// `false`: the model is not measured. `true`: as if it were left out.
    Whether(bool),
    /// How it is measured.
    How(Evaluate),
}

/// A step of the long form: what it needs, and one of `prepare`, `train`, `evaluate`,
/// `serve`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Step", extend("x-later" = [
    "command", "for_each", "resources", "retries", "timeout", "workers"
]))]
pub(crate) struct StepForm {
    /// The steps that must be done before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<String>,
    /// Makes data ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prepare: Option<Prepare>,
    /// Trains a model on what a `prepare` step made ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) train: Option<TrainForm>,
    /// Measures what a `train` step trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evaluate: Option<Evaluate>,
    /// Serves what a `train` step trained, when all other steps are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) serve: Option<Serve>,
}

/// Steps by name, in the order of the file.
#[derive(Debug)]
pub(crate) struct Steps(pub(crate) Vec<(String, StepForm)>);

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, step)| (id, step)))
    }
}

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Steps;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("steps by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Steps, A::Error> {
                let mut steps = Vec::new();
                while let Some(step) = map.next_entry()? {
                    steps.push(step);
                }
                Ok(Steps(steps))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

impl JsonSchema for Steps {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Steps".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<StepForm>();
        json_schema!({
            "description": "Steps by name.",
            "type": "object",
            "propertyNames": { "pattern": "^[a-z][a-z0-9-]{0,39}$" },
            "minProperties": 1,
            "maxProperties": crate::check::MOST_STEPS,
            "additionalProperties": step
        })
    }
}
