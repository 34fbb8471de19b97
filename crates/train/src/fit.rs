//! The training loop: steps, epochs, progress, checkpoints, and leaving in order when asked to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::event::{Kind, Progress};
use crate::saver::Saver;
use crate::{Clock, Error, Trainer};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// However short training is, progress is told about this often: the points of its loss curve.
const CURVE_POINTS: u64 = 40;

/// What surrounds a training loop.
pub struct Around<'a> {
    /// The time.
    pub clock: &'a Clock,
    /// Set from outside when the loop is to leave.
    pub stop: &'a AtomicBool,
    /// Where events go.
    pub emit: &'a mut dyn FnMut(Kind),
    /// Where checkpoints go, if anywhere, and how often.
    pub saver: Option<(Saver, Duration)>,
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// All steps are done, at this many samples a second.
    Finished {
        /// Over the whole loop.
        samples_per_second: f64,
    },
    /// It was asked to leave; a checkpoint holds everything.
    Stopped,
}

/// Trains to the end, or until asked to leave.
pub fn fit(trainer: &mut Trainer, mut around: Around<'_>) -> Result<Ending, Error> {
    let mut pace = Pace::new(around.clock.elapsed(), trainer);
    let mut saved_at = around.clock.elapsed();
    while !trainer.position().ended {
        let epoch = trainer.step()?;
        let now = around.clock.elapsed();
        if let Some(epoch) = &epoch {
            (around.emit)(Kind::Epoch(epoch.clone()));
            if let Some(reason) = trainer.judge(epoch) {
                let best = trainer.position().watch.best;
                let best_epoch = best.map_or(epoch.epoch, |(_, at)| at);
                (around.emit)(Kind::EarlyStop { best_epoch, reason });
            }
        }
        let stop = around.stop.load(Ordering::Relaxed) && !trainer.position().ended;
        if let Some((saver, every)) = &mut around.saver {
            if epoch.is_some() || stop || now - saved_at >= *every {
                saver.save(trainer.snapshot());
                saved_at = now;
            }
            for step in saver.written()? {
                (around.emit)(Kind::Checkpoint { step });
            }
        }
        if stop {
            finish_saving(&mut around)?;
            return Ok(Ending::Stopped);
        }
        if let Some(progress) = pace.tell(now, trainer) {
            (around.emit)(Kind::Progress(progress));
        }
    }
    finish_saving(&mut around)?;
    Ok(Ending::Finished {
        samples_per_second: pace.overall(around.clock.elapsed(), trainer),
    })
}

fn finish_saving(around: &mut Around<'_>) -> Result<(), Error> {
    if let Some((saver, _)) = around.saver.take() {
        for step in saver.finish()? {
            (around.emit)(Kind::Checkpoint { step });
        }
    }
    Ok(())
}

/// Turns steps and time into speed.
struct Pace {
    began: (Duration, u64),
    told: (Duration, u64),
}

impl Pace {
    fn new(now: Duration, trainer: &Trainer) -> Self {
        let start = (now, trainer.position().step);
        Pace {
            began: start,
            told: start,
        }
    }

    fn tell(&mut self, now: Duration, trainer: &mut Trainer) -> Option<Progress> {
        let step = trainer.position().step;
        let steps = trainer.steps();
        let part = steps.div_ceil(CURVE_POINTS);
        if now - self.told.0 < TELL_EVERY && step / part == self.told.1 / part {
            return None;
        }
        let (time, since) = (now - self.told.0, step - self.told.1);
        self.told = (now, step);
        let metrics = trainer.take_recent()?;
        let seconds_per_step = time.as_secs_f64() / since as f64;
        let per_epoch = trainer.steps_per_epoch();
        Some(Progress {
            epoch: step.div_ceil(per_epoch),
            epochs: steps.div_ceil(per_epoch),
            step,
            steps,
            metrics,
            samples_per_second: trainer.settings().batch as f64 / seconds_per_step.max(1e-9),
            eta_seconds: seconds_per_step * (steps - step) as f64,
        })
    }

    fn overall(&self, now: Duration, trainer: &Trainer) -> f64 {
        let samples =
            trainer.samples_in(trainer.position().step) - trainer.samples_in(self.began.1);
        samples as f64 / (now - self.began.0).as_secs_f64().max(1e-9)
    }
}
