//! The training loop: steps, epochs, progress, checkpoints, and leaving in order when asked to.

use std::time::Duration;

use crate::checkpoint::Position;
use crate::context::Context;
use crate::event::{Kind, Progress};
use crate::saver::Saver;
use crate::{Error, Trainer};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// However short training is, progress is told about this often: the points of its loss curve.
const CURVE_POINTS: u64 = 40;

/// How a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps are done.
    Finished,
    /// It was asked to leave; a checkpoint holds everything.
    Stopped,
}

/// Trains to the end, or until asked to leave. Checkpoints go to `saver`, if anywhere, at least as
/// often as it says.
pub fn fit(
    trainer: &mut Trainer,
    context: &mut Context<'_>,
    mut saver: Option<(Saver, Duration)>,
) -> Result<Ending, Error> {
    let mut pace = Pace::new(context.clock.elapsed(), trainer);
    let mut saved_at = context.clock.elapsed();
    while !trainer.position().ended {
        let epoch = trainer.step()?;
        let now = context.clock.elapsed();
        trainer.set_seconds(pace.seconds(now));
        if let Some(epoch) = &epoch {
            context.emit(Kind::Epoch(epoch.clone()));
            if let Some((best_epoch, reason)) = trainer.judge(epoch) {
                context.emit(Kind::EarlyStop { best_epoch, reason });
            }
        }
        let stop = context.is_asked_to_stop() && !trainer.position().ended;
        if let Some((saver, every)) = &mut saver {
            if epoch.is_some() || stop || now - saved_at >= *every {
                saver.save(trainer.snapshot());
                saved_at = now;
            }
            for step in saver.written()? {
                context.emit(Kind::Checkpoint { step });
            }
        }
        if stop {
            finish_saving(saver, context)?;
            return Ok(Ending::Stopped);
        }
        if let Some(progress) = pace.tell(now, trainer) {
            context.emit(Kind::Progress(progress));
        }
    }
    finish_saving(saver, context)?;
    Ok(Ending::Finished)
}

fn finish_saving(saver: Option<(Saver, Duration)>, context: &mut Context<'_>) -> Result<(), Error> {
    for step in saver.map_or(Ok(vec![]), |(saver, _)| saver.finish())? {
        context.emit(Kind::Checkpoint { step });
    }
    Ok(())
}

/// Turns steps and time into speed.
struct Pace {
    began: Duration,
    /// How long training had taken before.
    before: f64,
    told: (Duration, u64),
}

impl Pace {
    fn new(now: Duration, trainer: &Trainer) -> Self {
        let Position { step, seconds, .. } = *trainer.position();
        Pace { began: now, before: seconds, told: (now, step) }
    }

    fn seconds(&self, now: Duration) -> f64 {
        self.before + (now - self.began).as_secs_f64()
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
}
