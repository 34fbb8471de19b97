//! The speed of one worker, in this process.

use std::sync::Arc;

use engine::Cpu;
use spec::{Length, Train};
use train::{Clock, Context, Material, Origin, Pulse, Settings, Trainer, fit_alone};

use super::{Speed, Subject, fed};
use crate::env::Env;
use crate::failure::Failure;
use crate::machine::peak_rss_bytes;

pub(super) fn measure(subject: &Subject, env: &Env) -> Result<Speed, Failure> {
    let Subject { warm_up, steps, threads, .. } = *subject;
    let train = Train { length: Length::Endless, ..subject.train.clone() };
    let samples = fed::samples(&train);
    let (network, weights) = train::starting_point(&train, &samples.shape, samples.classes)?;
    let settings = Settings::of(&train, &network, 0);
    let origin = Origin::default();
    let material = Material { weights, ..Material::of_one(network, &samples, origin) };
    let mut trainer = Trainer::new(material, settings, Cpu::new(threads, env.isa()))?;
    let (samples, clock) = (Arc::new(samples), Clock::system());
    let mut train_to = |step| {
        let pulse = Pulse::default();
        let stop = || pulse.step() >= step;
        let mut context =
            Context { clock: &clock, stop: &stop, pulse: &pulse, log: &|_| {}, voice: &mut |_| {} };
        fit_alone(&mut trainer, &samples, &mut context, None)?;
        Ok::<_, train::Error>(clock.elapsed().as_secs_f64())
    };
    let began = train_to(warm_up)?;
    let seconds = train_to(warm_up + steps)? - began;
    let shares = trainer.shares();
    let samples = shares.samples_in(warm_up + steps) - shares.samples_in(warm_up);
    Ok(Speed {
        network: subject.network.clone(),
        batch: train.batch,
        workers: 1,
        processes: 1,
        strategy: subject.strategy.clone(),
        threads,
        isa: env.isa().name(),
        steps,
        seconds,
        steps_per_second: steps as f64 / seconds,
        samples_per_second: samples as f64 / seconds,
        bytes_sent: 0,
        link: None,
        waiting_share: 0.0,
        peak_rss_bytes: peak_rss_bytes(),
    })
}
