//! The speed of several workers: a run like any other, with processes of its own, in a folder that is
//! gone afterwards.

use anyhow::{Context, anyhow};
use exec::Ending;
use spec::{Action, Assign, Checkpoint, Data, Prepare, RunSpec, Step, Train};
use store::Runs;
use train::{Event, Kind, Settings, Shares};

use super::fed::samples;
use super::timing::{Timed, Timing};
use super::{Speed, Subject};
use crate::driver::{self, HERE, Work};
use crate::env::Env;
use crate::facts;
use crate::failure::{Failure, OrUsage};

/// The step that trains.
const TRAIN: &str = "train";

pub(super) fn measure(
    subject: &Subject,
    processes: Option<usize>,
    env: &Env,
) -> Result<Speed, Failure> {
    let folder = tempfile::Builder::new().prefix("trainyard-bench-").tempdir();
    let folder = folder.context("cannot make a temporary folder")?;
    let spec = write_run(subject, folder.path())?;
    let (plan, _) = facts::plan(&spec, env)?;
    facts::check_memory(&plan, env)?;
    let run = Runs::new(folder.path().join("runs")).create(&spec.name)?;
    let stop = driver::stop_on_signals()?;
    let work = Work { spec: &spec, plan: &plan, run: &run, listen: HERE, processes, stop: &stop };
    let mut followed = Followed::new(subject)?;
    let ending = driver::drive(&work, env, &mut |event| followed.take(event))?;
    match ending {
        Ending::Done(_) => followed.speed(subject, processes, env),
        Ending::Stopped => Err(Failure::Interrupted),
        // Its logs are gone with the folder, so only the reason itself is told.
        Ending::Failed(why) => Err(anyhow!("{}", followed.failure.unwrap_or(why)).into()),
    }
}

/// Writes the data, and says what is to be done with it.
fn write_run(subject: &Subject, folder: &std::path::Path) -> Result<RunSpec, Failure> {
    let samples = samples(&subject.train);
    let files = data::write_shards(&samples, 1, &folder.join("data"), Assign::Split, 0)?;
    let file = files.first().context("nothing was written to train on")?;
    let shards = subject.train.workers;
    let data = Data::named(file.display().to_string());
    // What is timed is training; a checkpoint at each epoch's end belongs to it.
    let checkpoint = Checkpoint { every: spec::Duration::from_secs(86_400), keep: 1 };
    let train = Train { checkpoint, ..subject.train.clone() };
    let step = |id: &str, needs: &[&str], action| {
        let needs = needs.iter().map(ToString::to_string).collect();
        Step { id: id.into(), needs, action }
    };
    let steps = vec![
        step("prepare", &[], Action::Prepare(Prepare { data, shards })),
        step(TRAIN, &["prepare"], Action::Train(train)),
    ];
    Ok(RunSpec { name: "bench".into(), seed: 0, steps, on: spec::On::default() })
}

/// What the events of the run have said.
struct Followed {
    timing: Timing,
    done: Option<Kind>,
    failure: Option<String>,
}

impl Followed {
    fn new(subject: &Subject) -> Result<Self, Failure> {
        let train = &subject.train;
        let samples = samples(train);
        let network = train::starting_point(train, &samples.shape, samples.classes).or_usage()?.0;
        // Shards differ by one sample at most, and only what all have together matters here.
        let sizes = (0..train.workers).map(|rank| (samples.len() + rank) / train.workers);
        let shares = Shares::new(sizes.collect(), train.batch);
        let timing = Timing::new(Settings::of(train, &network, 0), shares, subject.warm_up);
        Ok(Followed { timing, done: None, failure: None })
    }

    fn take(&mut self, event: &Event) {
        match &event.kind {
            Kind::TaskFailed { reason } => self.failure = Some(reason.clone()),
            kind if event.task.as_deref() == Some(TRAIN) => {
                self.timing.take(kind);
                if matches!(kind, Kind::TaskDone { .. }) {
                    self.done = Some(kind.clone());
                }
            }
            _ => {}
        }
    }

    fn speed(
        self,
        subject: &Subject,
        processes: Option<usize>,
        env: &Env,
    ) -> Result<Speed, Failure> {
        let Subject { network, strategy, train, threads, warm_up, steps } = subject;
        let all = warm_up + steps;
        let (Some(timed), Some(done)) = (self.timing.timed(all), self.done) else {
            return Err(anyhow!("training ended without a word about its speed").into());
        };
        let Kind::TaskDone { peak_rss_bytes, bytes_sent, waiting_share, link, .. } = done else {
            unreachable!("nothing else is taken for the end")
        };
        let Timed { steps, samples, seconds } = timed;
        Ok(Speed {
            network: network.clone(),
            batch: train.batch,
            workers: train.workers,
            processes: processes.unwrap_or(train.workers).min(train.workers),
            strategy: strategy.clone(),
            threads: *threads,
            isa: env.isa().name(),
            steps,
            seconds,
            steps_per_second: steps as f64 / seconds,
            samples_per_second: samples / seconds,
            // It was counted to the end, and is the same in every step.
            bytes_sent: (bytes_sent as f64 * steps as f64 / all as f64) as u64,
            link: Some(link),
            waiting_share,
            peak_rss_bytes,
        })
    }
}
