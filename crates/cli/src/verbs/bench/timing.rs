//! The speed of a run without its beginning, from what its events say. Pure.
//!
//! Each progress event gives the speed since the last one, by the clock of the process that leads. The
//! samples in between follow from the steps, so that the time does, too. The published model gives the
//! time of all of training. What lies after the first progress that is past the warm-up is timed.

use train::{Kind, Progress, Published, Settings, Shares};

/// Follows the training of one task.
pub(super) struct Timing {
    settings: Settings,
    shares: Shares,
    warm_up: u64,
    /// Steps and seconds when progress was last told.
    told: (u64, f64),
    /// The same when the warm-up was over.
    warm: Option<(u64, f64)>,
    /// Samples and seconds of all of training.
    all: Option<(f64, f64)>,
}

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    pub(super) steps: u64,
    pub(super) samples: f64,
    pub(super) seconds: f64,
}

impl Timing {
    pub(super) fn new(settings: Settings, shares: Shares, warm_up: u64) -> Self {
        Timing { settings, shares, warm_up, told: (0, 0.0), warm: None, all: None }
    }

    pub(super) fn take(&mut self, kind: &Kind) {
        match kind {
            Kind::Progress(Progress { step, samples_per_second, .. }) => {
                let samples = self.samples_in(*step) - self.samples_in(self.told.0);
                self.told = (*step, self.told.1 + samples / samples_per_second);
                if *step >= self.warm_up {
                    self.warm.get_or_insert(self.told);
                }
            }
            Kind::Published(Published { samples_per_second, seconds, .. }) => {
                self.all = Some((samples_per_second * seconds, *seconds));
            }
            _ => {}
        }
    }

    /// What was timed of `steps` in all; nothing before training has ended.
    pub(super) fn timed(&self, steps: u64) -> Option<Timed> {
        let (samples, seconds) = self.all?;
        // So few steps that none were told of are timed from the first one on.
        let (step, before) = self
            .warm
            .filter(|&(step, before)| step < steps && before < seconds)
            .unwrap_or((0, 0.0));
        let samples = samples - self.samples_in(step);
        Some(Timed { steps: steps - step, samples, seconds: seconds - before })
    }

    /// How many samples the first steps train on, all ranks together.
    fn samples_in(&self, steps: u64) -> f64 {
        let each = self.settings.batches_per_step(&self.shares) as u64;
        self.shares.samples_in(steps * each / self.shares.world() as u64) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use train::Metrics;

    fn timing(strategy: &str, warm_up: u64) -> Timing {
        let model = spec::Model::parse("mnist-mlp").expect("it is built in");
        let strategy = spec::Strategy::parse(strategy, 2).expect("it is right");
        let train = spec::Train { workers: 2, strategy, batch: 10, ..spec::Train::new(model) };
        let network = train::starting_point(&train, &[28, 28, 1], 10).expect("it fits").0;
        Timing::new(Settings::of(&train, &network, 0), Shares::new(vec![100; 2], 10), warm_up)
    }

    fn progress(step: u64, samples_per_second: f64) -> Kind {
        let metrics = Metrics { loss: 0.0, accuracy: 0.0 };
        let (epoch, epochs, steps, eta_seconds, workers) = (1, 1, 0, 0.0, vec![]);
        Kind::Progress(Progress {
            epoch,
            epochs,
            step,
            steps,
            metrics,
            samples_per_second,
            eta_seconds,
            workers,
        })
    }

    fn published(samples: f64, seconds: f64) -> Kind {
        let (path, weights_sha256) = (String::new(), String::new());
        let samples_per_second = samples / seconds;
        let (parameters, epoch) = (1, 1);
        Kind::Published(Published {
            path,
            weights_sha256,
            parameters,
            epoch,
            samples_per_second,
            seconds,
        })
    }

    #[test]
    fn the_warm_up_does_not_count() {
        let mut timing = timing("all_reduce", 10);
        // Slow for ten steps of twenty samples, then ten times as fast.
        for kind in [progress(5, 10.0), progress(10, 10.0), progress(20, 100.0)] {
            timing.take(&kind);
        }
        assert_eq!(timing.timed(110), None);
        timing.take(&published(2200.0, 40.0));
        let timed = timing.timed(110).expect("it has ended");
        assert_eq!(timed, Timed { steps: 100, samples: 2000.0, seconds: 20.0 });
    }

    #[test]
    fn where_every_gradient_is_a_step_it_has_one_batch() {
        let mut timing = timing("parameter_server", 10);
        timing.take(&progress(10, 100.0));
        timing.take(&published(1100.0, 6.0));
        let timed = timing.timed(110).expect("it has ended");
        assert_eq!(timed, Timed { steps: 100, samples: 1000.0, seconds: 5.0 });
    }

    #[test]
    fn without_progress_everything_counts() {
        let mut timing = timing("average", 1);
        timing.take(&published(40.0, 2.0));
        let all = Timed { steps: 2, samples: 40.0, seconds: 2.0 };
        assert_eq!(timing.timed(2), Some(all));
        timing.take(&progress(2, 20.0));
        assert_eq!(timing.timed(2), Some(all));
    }
}
