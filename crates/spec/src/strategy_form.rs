//! A strategy as a run file writes it, and how that becomes [`Strategy`] and back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Average, Combine, Outer, ParameterServer, Strategy, Sync};

/// How workers train one model together: what they exchange, and when.
///
/// `single` for one worker and `all_reduce` for more unless given. The result depends on `workers`
/// and the strategy, never on how many processes or machines do the work, or on which of them died.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Strategy")]
pub(crate) enum StrategyForm {
    /// One worker trains alone.
    Single,
    /// Workers train by themselves for a round, each on its own samples; then their weights are
    /// averaged and all go on from the mean. Little is exchanged, so it suits slow networks. Workers
    /// meet after each epoch unless `sync_every` or `rounds` is given.
    Average(AverageForm),
    /// Gradients are averaged over all workers in every step: N workers do what one would do with
    /// batches N times as large. Much is exchanged, so it wants a fast network.
    AllReduce,
    /// Servers hold the weights. Workers push gradients to them and pull weights from them in every
    /// step.
    ParameterServer(ParameterServer),
}

/// Workers train by themselves and then average their weights.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Average")]
pub(crate) struct AverageForm {
    /// After how many steps workers meet. After each epoch unless this or `rounds` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(crate) sync_every: Option<u64>,
    /// How many times workers meet in all, instead of `sync_every`. `1` averages once, at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(crate) rounds: Option<u32>,
    /// Whether all workers begin from the same weights. The mean of models that did not is a bad
    /// model; `false` is for votes, and for showing that.
    pub(crate) shared_init: bool,
    /// Momentum over the rounds. None unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outer: Option<Outer>,
    /// What becomes of the workers' models.
    pub(crate) combine: Combine,
}

impl TryFrom<StrategyForm> for Strategy {
    type Error = &'static str;

    fn try_from(form: StrategyForm) -> Result<Self, &'static str> {
        Ok(match form {
            StrategyForm::Single => Strategy::Single,
            StrategyForm::Average(form) => Strategy::Average(form.try_into()?),
            StrategyForm::AllReduce => Strategy::AllReduce,
            StrategyForm::ParameterServer(servers) => Strategy::ParameterServer(servers),
        })
    }
}

impl From<Strategy> for StrategyForm {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Single => StrategyForm::Single,
            Strategy::Average(average) => StrategyForm::Average(average.into()),
            Strategy::AllReduce => StrategyForm::AllReduce,
            Strategy::ParameterServer(servers) => StrategyForm::ParameterServer(servers),
        }
    }
}

impl TryFrom<AverageForm> for Average {
    type Error = &'static str;

    fn try_from(form: AverageForm) -> Result<Self, &'static str> {
        let AverageForm { sync_every, rounds, shared_init, outer, combine } = form;
        let sync = match (sync_every, rounds) {
            (Some(_), Some(_)) => return Err("`sync_every` and `rounds` are both given; keep one"),
            (Some(steps), None) => Sync::Steps(steps),
            (None, Some(rounds)) => Sync::Rounds(rounds),
            (None, None) => Sync::Epoch,
        };
        Ok(Average { sync, shared_init, outer, combine })
    }
}

impl From<Average> for AverageForm {
    fn from(average: Average) -> Self {
        let Average { sync, shared_init, outer, combine } = average;
        let (sync_every, rounds) = match sync {
            Sync::Epoch => (None, None),
            Sync::Steps(steps) => (Some(steps), None),
            Sync::Rounds(rounds) => (None, Some(rounds)),
        };
        AverageForm { sync_every, rounds, shared_init, outer, combine }
    }
}

impl Default for AverageForm {
    fn default() -> Self {
        Average::default().into()
    }
}
