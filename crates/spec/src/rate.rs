//! The size of an update: a number, or one that grows with the number of workers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The size of an update, before any schedule: `base + workers * per_worker`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RateForm", into = "RateForm")]
pub struct Rate {
    /// What does not depend on the number of workers.
    pub base: f32,
    /// What each worker adds.
    pub per_worker: f32,
}

/// The largest rate that makes sense.
pub(crate) const MOST: f32 = 1e6;

/// A number, or how it grows with the number of workers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "LearningRate")]
pub(crate) enum RateForm {
    /// The same for any number of workers.
    Fixed(#[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))] f32),
    /// More for more workers.
    Scaled(Scaled),
}

/// `base + workers * per_worker`: with 3 workers, `{base: 0.0001, per_worker: 0.00006}` is 0.00028.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScaledRate")]
pub(crate) struct Scaled {
    /// What does not depend on the number of workers.
    #[schemars(extend("minimum" = 0, "maximum" = 1e6))]
    base: f32,
    /// What each worker adds.
    #[schemars(extend("minimum" = 0, "maximum" = 1e6))]
    per_worker: f32,
}

impl Rate {
    /// The rate for so many workers, reckoned with the numbers as they are written: 0.0001 and three
    /// times 0.00006 are 0.00028, and not what their nearest `f32`s would come to.
    pub fn of(self, workers: usize) -> f32 {
        (written(self.base) + workers as f64 * written(self.per_worker)) as f32
    }
}

/// The shortest number that is this `f32`.
fn written(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

impl From<f32> for Rate {
    /// The same rate for any number of workers.
    fn from(base: f32) -> Self {
        Rate { base, per_worker: 0.0 }
    }
}

impl From<RateForm> for Rate {
    fn from(form: RateForm) -> Self {
        match form {
            RateForm::Fixed(rate) => rate.into(),
            RateForm::Scaled(Scaled { base, per_worker }) => Rate { base, per_worker },
        }
    }
}

impl From<Rate> for RateForm {
    fn from(rate: Rate) -> Self {
        match rate {
            Rate { base, per_worker: 0.0 } => RateForm::Fixed(base),
            Rate { base, per_worker } => RateForm::Scaled(Scaled { base, per_worker }),
        }
    }
}
