//! How workers train one model together: what they exchange, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::strategy_form::StrategyForm;

/// How workers train one model together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StrategyForm", into = "StrategyForm")]
pub enum Strategy {
    /// One worker trains alone.
    #[default]
    Single,
    /// Each worker trains by itself for a while; then their weights are averaged.
    Average(Average),
    /// Gradients are averaged in every step.
    AllReduce,
    /// Servers hold the weights; workers push gradients and pull weights.
    ParameterServer(ParameterServer),
}

/// How and when weights are averaged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    /// When workers meet.
    pub sync: Sync,
    /// Whether all workers begin from the same weights.
    pub shared_init: bool,
    /// Momentum over the rounds; none where not given.
    pub outer: Option<Outer>,
    /// What becomes of the workers' models.
    pub combine: Combine,
}

/// When workers that average their weights meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// After every epoch.
    #[default]
    Epoch,
    /// After so many steps.
    Steps(u64),
    /// So many times in all, evenly, the last time at the end.
    Rounds(u32),
}

/// Momentum over rounds, as in DiLoCo: what a round changed, on the mean, is taken for a gradient,
/// and Nesterov's momentum goes along it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Outer {
    /// How much of the last round's move is kept.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub momentum: f32,
    /// How much of a round's change is taken.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub learning_rate: f32,
}

/// What becomes of the models of workers that train by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Their mean, weighted by samples, is the model.
    #[default]
    Mean,
    /// All of them are kept, and answer together by a vote. They never meet while they train.
    Vote,
}

/// How weights lie on servers, and when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParameterServer {
    /// How many servers share the weights. Each is a process of its own and holds a part of them.
    #[schemars(range(min = 1, max = 1024))]
    pub servers: usize,
    /// When the weights change.
    pub mode: Mode,
    /// How many workers' gradients make one update where `mode` is `sync`. All of them unless
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub replicas_to_aggregate: Option<usize>,
    /// After how many of its steps a worker logs the accuracy on all test samples; 0 for never.
    pub accuracy_every: u64,
}

/// When weights on servers change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-later" = ["stale"]))]
pub enum Mode {
    /// With every gradient, as soon as it comes. Nobody waits, and the result depends on timing.
    #[default]
    Async,
    /// Once the gradients of a step are there. The same file and seed give the same bits.
    Sync,
}

impl Strategy {
    /// What is done unless the run file says: `single` for one worker, `all_reduce` for more.
    pub fn for_workers(workers: usize) -> Self {
        if workers > 1 { Strategy::AllReduce } else { Strategy::Single }
    }

    /// Its name in a run file.
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Single => "single",
            Strategy::Average(_) => "average",
            Strategy::AllReduce => "all_reduce",
            Strategy::ParameterServer(_) => "parameter_server",
        }
    }
}

impl Default for Average {
    fn default() -> Self {
        Average {
            sync: Sync::default(),
            shared_init: true,
            outer: None,
            combine: Combine::default(),
        }
    }
}

impl Default for Outer {
    fn default() -> Self {
        Outer { momentum: 0.9, learning_rate: 0.7 }
    }
}

impl Default for ParameterServer {
    fn default() -> Self {
        ParameterServer {
            servers: 1,
            mode: Mode::default(),
            replicas_to_aggregate: None,
            accuracy_every: 10,
        }
    }
}
