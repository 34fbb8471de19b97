//! Finds what a user means on a command line: a run, a model, a dataset.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use data::{Dataset, Samples};
use model::Published;
use store::{Lock, RunDir, Runs};
use train::{Standing, State, read_events};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::output;

/// The run that `name` means, and where it stands.
pub(crate) fn run(name: &str, env: &Env) -> Result<(RunDir, Standing), Failure> {
    let run = Runs::new(&env.runs).resolve(name).or_usage()?;
    let standing = Standing::of(&read_events(&run.events())?);
    Ok((run, standing))
}

/// The model or ensemble that `name` means: a file, a folder with one, or a run that published one.
pub(crate) fn model(name: &str, env: &Env) -> Result<(PathBuf, Published), Failure> {
    let path = model_path(name, env)?;
    let published = Published::open(&path).or_usage()?;
    Ok((path, published))
}

/// Where that model or ensemble is.
pub(crate) fn model_path(name: &str, env: &Env) -> Result<PathBuf, Failure> {
    if Published::is_at(Path::new(name)) {
        return Ok(PathBuf::from(name));
    }
    let (run, standing) = run(name, env)
        .map_err(|_| {
            anyhow::anyhow!(
                "`{name}` is no model file, no ensemble and no run; `trainyard ls` lists runs, \
                 `trainyard aggregate --combine vote` makes an ensemble of models"
            )
        })
        .or_usage()?;
    let newest = standing.newest_model.and_then(|id| standing.models.get(&id));
    let published = newest.and_then(|model| model.published.as_ref()).with_context(|| {
        format!("run {} has published no model yet; see `trainyard status {0}`", run.id())
    })?;
    Ok(run.path.join(&published.path))
}

/// The dataset that `from` means: a built-in name or a path.
pub(crate) fn dataset(from: &str, seed: u64, env: &Env) -> Result<Dataset, Failure> {
    load(&spec::Data::named(from), seed, env)
}

/// The same for a model: pictures are made what it takes.
pub(crate) fn dataset_for(
    from: &str,
    published: &Published,
    env: &Env,
) -> Result<Dataset, Failure> {
    let mut data = spec::Data::named(from);
    published.first().card.input.form.ask_of(&mut data);
    load(&data, 0, env)
}

fn load(data: &spec::Data, seed: u64, env: &Env) -> Result<Dataset, Failure> {
    let mut tell = |progress: data::Progress<'_>| {
        // A person who waits for a download wants to know; once for each file is enough here.
        if let data::Progress::Fetching { file, done: 0, .. } = progress {
            output::talk(&format!("fetching {file}"));
        }
    };
    data::load(data, seed, &env.places(), &mut tell).or_usage()
}

/// The samples of a dataset that a model is measured on: the test split where there is one.
pub(crate) fn test_samples(dataset: Dataset) -> Samples {
    dataset.test.unwrap_or(dataset.train)
}

/// The plan of a run. One that was killed before it had a plan has no tasks yet.
pub(crate) fn plan(run: &RunDir) -> Result<plan::Plan, Failure> {
    let path = run.plan();
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let (version, run) = (plan::VERSION, run.name.clone());
            return Ok(plan::Plan { version, run, seed: 0, tasks: vec![], serving: None });
        }
        text => text.with_context(|| format!("cannot read {}", path.display()))?,
    };
    Ok(serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?)
}

/// A run's state: what its driver wrote last, unless that driver is gone without a word.
pub(crate) fn true_state(run: &RunDir, standing: &Standing) -> State {
    match standing.state {
        State::Running if !Lock::is_held(run).unwrap_or(true) => State::Stopped,
        state => state,
    }
}

/// Why a run is in its true state, where there is something to say.
pub(crate) fn true_reason(standing: &Standing, state: State) -> Option<String> {
    match (standing.state, state) {
        (State::Running, State::Stopped) => {
            Some("its driver is gone; running its file again continues it".into())
        }
        _ => standing.reason.clone(),
    }
}
