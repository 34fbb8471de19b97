//! Turns steps and time into speed.

use std::time::Duration;

use crate::Trainer;
use crate::checkpoint::Position;
use crate::event::Progress;

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// However short training is, progress is told about this often: the points of its loss curve.
const CURVE_POINTS: u64 = 40;

/// When training began here, and when it was last told of.
pub(crate) struct Pace {
    began: Duration,
    /// How long training had taken before.
    before: f64,
    told: (Duration, u64),
}

impl Pace {
    pub(crate) fn new(now: Duration, trainer: &Trainer) -> Self {
        let Position { seconds, .. } = *trainer.position();
        Pace { began: now, before: seconds, told: (now, trainer.reached()) }
    }

    /// How long training has taken in all.
    pub(crate) fn seconds(&self, now: Duration) -> f64 {
        self.before + (now - self.began).as_secs_f64()
    }

    /// Progress, where it is time to tell of it.
    pub(crate) fn tell(&mut self, now: Duration, trainer: &mut Trainer) -> Option<Progress> {
        let (step, steps) = (trainer.reached(), trainer.steps());
        let part = steps.div_ceil(CURVE_POINTS);
        let due = now - self.told.0 >= TELL_EVERY || step / part != self.told.1 / part;
        // A process that trains several ranks in turn goes back when it begins the next.
        if !due || step <= self.told.1 {
            return None;
        }
        let (time, since) = (now - self.told.0, self.told.1);
        self.told = (now, step);
        let metrics = trainer.take_recent()?;
        let seconds = time.as_secs_f64().max(1e-9);
        let samples = trainer.samples_in(step) - trainer.samples_in(since);
        let per_epoch = trainer.steps_per_epoch();
        let endless = steps == u64::MAX;
        Some(Progress {
            epoch: step.div_ceil(per_epoch),
            epochs: if endless { 0 } else { steps.div_ceil(per_epoch) },
            step,
            steps: if endless { 0 } else { steps },
            metrics,
            samples_per_second: samples as f64 / seconds,
            eta_seconds: if endless {
                0.0
            } else {
                seconds / (step - since) as f64 * (steps - step) as f64
            },
            workers: vec![],
        })
    }
}
