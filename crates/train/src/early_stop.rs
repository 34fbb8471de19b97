//! Early stopping, as Keras does it: when the watched metric has not become better for some epochs.
//! Pure: a state and an epoch's result give a decision with its reason.

use serde::{Deserialize, Serialize};
use spec::{EarlyStop, Monitor};

use crate::event::Epoch;

/// What is remembered from epoch to epoch. Part of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The best value so far and its epoch, counted from 1.
    pub best: Option<(f64, u64)>,
    /// Epochs since.
    pub waited: u64,
}

/// What an epoch's result means.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The best so far: its weights are worth keeping.
    Better,
    /// Not better, but patience is left.
    GoOn,
    /// Patience is at its end.
    Stop {
        /// Why, in a sentence.
        reason: String,
    },
}

impl Watch {
    /// Takes note of an epoch's result.
    pub fn decide(&mut self, rule: &EarlyStop, epoch: &Epoch) -> Verdict {
        let Some(value) = watched(rule.monitor, epoch) else {
            return Verdict::GoOn;
        };
        let gain = match (rule.monitor, self.best) {
            (_, None) => f64::INFINITY,
            (Monitor::Loss | Monitor::ValLoss, Some((best, _))) => best - value,
            (Monitor::Accuracy | Monitor::ValAccuracy, Some((best, _))) => value - best,
        };
        if gain > rule.min_delta {
            *self = Watch { best: Some((value, epoch.epoch)), waited: 0 };
            return Verdict::Better;
        }
        self.waited += 1;
        if self.waited < u64::from(rule.patience) {
            return Verdict::GoOn;
        }
        let (best, at) = self.best.unwrap_or((value, epoch.epoch));
        let name = rule.monitor.as_str();
        Verdict::Stop {
            reason: format!(
                "stopped early: {name} has not become better than {best:.4} (epoch {at}) for {} epochs",
                self.waited
            ),
        }
    }
}

fn watched(monitor: Monitor, epoch: &Epoch) -> Option<f64> {
    match monitor {
        Monitor::Loss => Some(epoch.train.loss),
        Monitor::Accuracy => Some(epoch.train.accuracy),
        Monitor::ValLoss => epoch.validation.map(|metrics| metrics.loss),
        Monitor::ValAccuracy => epoch.validation.map(|metrics| metrics.accuracy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Metrics;

    #[test]
    fn it_waits_and_then_says_why() {
        let rule = EarlyStop {
            monitor: Monitor::ValLoss,
            patience: 2,
            min_delta: 0.1,
            restore_best: true,
        };
        let mut watch = Watch::default();
        let mut after = |epoch, loss| {
            let metrics = Metrics { loss, accuracy: 0.5 };
            let validation = Some(metrics);
            let epoch = Epoch { epoch, step: 0, train: metrics, validation, learning_rate: 0.1 };
            watch.decide(&rule, &epoch)
        };
        assert_eq!(after(1, 1.0), Verdict::Better);
        assert_eq!(after(2, 0.95), Verdict::GoOn); // Better, but by less than min_delta.
        assert_eq!(after(3, 0.8), Verdict::Better);
        assert_eq!(after(4, 0.9), Verdict::GoOn);
        let Verdict::Stop { reason } = after(5, 0.8) else { panic!("patience was at its end") };
        assert!(reason.contains("0.8000 (epoch 3) for 2 epochs"), "{reason}");
    }
}
