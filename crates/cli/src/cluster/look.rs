//! Looks at runs on a cluster, with no more than the kubeconfig.

use std::fs::File;
use std::io::Seek;
use std::path::Path;

use anyhow::{Context, anyhow};
use exec::kubernetes::{self, Api, Reach};
use serde::Serialize;

use super::pipe::Sink;
use super::{Place, block_on};
use crate::failure::{Failure, OrUsage};
use crate::verbs::get::Part;
use crate::{output, pack};

/// Has a verb done where the run's folder is, and shows what it says.
pub(crate) fn forward(place: &Place, verb: &str, run: &str, flags: &[&str]) -> Result<(), Failure> {
    let code = block_on(async {
        let api = place.api().await?;
        let run = resolve(&api, run).await?;
        let arguments: Vec<&str> = [verb, &run].into_iter().chain(flags.iter().copied()).collect();
        call(&api, &run, &arguments, &mut std::io::stdout()).await
    })?;
    match code {
        0 => Ok(()),
        // It has said what is wrong.
        code => std::process::exit(code),
    }
}

async fn call(
    api: &Api,
    run: &str,
    arguments: &[&str],
    out: &mut (dyn std::io::Write + Send),
) -> Result<i32, Failure> {
    let reach = Reach::open(api, run).await?;
    let ends = (&mut Sink(out) as _, &mut Sink(std::io::stderr()) as _);
    let code = reach.call(arguments, None, ends).await;
    reach.close().await;
    Ok(code?)
}

/// The run that a name means: the newest of that name, or the one of that name and number.
async fn resolve(api: &Api, name: &str) -> Result<String, Failure> {
    let runs = kubernetes::runs(api).await?;
    if runs.iter().any(|run| run.name == name) {
        return Ok(name.to_owned());
    }
    if let Some(number) = kubernetes::newest(api, name).await? {
        return Ok(format!("{name}-{number}"));
    }
    let known: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let hint = spec::nearest(name, known.iter().copied())
        .map_or_else(|| "`trainyard ls` lists them".into(), |near| format!("did you mean {near}?"));
    Err(anyhow!("there is no run {name} in namespace {}; {hint}", api.namespace)).or_usage()
}

/// Stops a run in order. Its driver ends with it, and may do so before it has answered.
pub(crate) fn stop(place: &Place, run: &str) -> Result<(), Failure> {
    block_on(async {
        let api = place.api().await?;
        let run = resolve(&api, run).await?;
        if kubernetes::driver_pod(&api, &run).await?.is_none() {
            return Err(anyhow!("{run} does not run now").into());
        }
        let asked = call(&api, &run, &["stop", &run], &mut std::io::sink()).await;
        let runs = kubernetes::runs(&api).await?;
        let goes_on = runs.iter().any(|it| it.name == run && it.state == "running");
        if goes_on && kubernetes::driver_pod(&api, &run).await?.is_some() {
            asked?;
        }
        output::talk(&format!("{run} is stopped; running its file again continues it"));
        Ok(())
    })
}

/// Why a run does not go on, or goes on without somebody.
pub(crate) fn why(place: &Place, run: &str) -> Result<(), Failure> {
    block_on(async {
        let api = place.api().await?;
        let run = resolve(&api, run).await?;
        let reasons = kubernetes::why(&api, &run).await?;
        reasons.iter().for_each(|reason| output::print(reason));
        if kubernetes::driver_pod(&api, &run).await?.is_none() && !reasons.is_empty() {
            return Ok(());
        }
        match call(&api, &run, &["why", &run], &mut std::io::stdout()).await? {
            0 => Ok(()),
            code => std::process::exit(code),
        }
    })
}

/// A run in a list.
#[derive(Serialize)]
struct Row {
    run: String,
    state: &'static str,
}

/// Lists runs.
pub(crate) fn list(place: &Place, json: bool) -> Result<(), Failure> {
    let runs = block_on(async { Ok(kubernetes::runs(&place.api().await?).await?) })?;
    let rows: Vec<Row> =
        runs.into_iter().map(|run| Row { run: run.name, state: run.state }).collect();
    if json {
        return output::json(&rows);
    }
    let mut lines = vec![vec!["RUN".to_owned(), "STATE".to_owned()]];
    lines.extend(rows.into_iter().map(|row| vec![row.run, row.state.to_owned()]));
    output::print(&output::table(&lines));
    Ok(())
}

/// Removes a run and everything that it made, its volume included.
pub(crate) fn remove(place: &Place, run: &str, force: bool) -> Result<(), Failure> {
    block_on(async {
        let api = place.api().await?;
        let run = resolve(&api, run).await?;
        if !force && goes_on(&api, &run).await? {
            return Err(anyhow!(
                "{run} goes on; `trainyard stop {run} {}` first, or remove it as it is with `--force`",
                place.flags()
            )
            .into());
        }
        kubernetes::remove(&api, &run).await?;
        output::talk(&format!("{run} is removed from namespace {}", api.namespace));
        Ok(())
    })
}

/// Whether a run goes on. A driver stays for a while after the end, so it is asked.
async fn goes_on(api: &Api, run: &str) -> Result<bool, Failure> {
    if !kubernetes::goes_on(api, run).await? {
        return Ok(false);
    }
    if kubernetes::driver_pod(api, run).await?.is_none() {
        return Ok(true);
    }
    let mut answer = vec![];
    let code = call(api, run, &["status", run, "--json"], &mut answer).await;
    let status: serde_json::Value = serde_json::from_slice(&answer).unwrap_or_default();
    let over = ["done", "failed", "stopped"].map(serde_json::Value::from);
    Ok(code.is_err() || !over.contains(&status["state"]))
}

/// Brings a part of a run's folder here, into one named after the run where no other is named.
pub(crate) fn get(place: &Place, run: &str, part: Part, to: Option<&Path>) -> Result<(), Failure> {
    block_on(async {
        let api = place.api().await?;
        let run = resolve(&api, run).await?;
        fetch(&api, &run, part, to.unwrap_or(Path::new(&run))).await
    })
}

/// Brings a part of a run's folder here.
pub(super) async fn fetch(api: &Api, run: &str, part: Part, to: &Path) -> Result<(), Failure> {
    let path = match part.path() {
        "" => format!("{}/{run}", kubernetes::RUNS_FOLDER),
        part => format!("{}/{run}/{part}", kubernetes::RUNS_FOLDER),
    };
    let mut packed: File = tempfile::tempfile().context("cannot make a temporary file")?;
    if call(api, run, &["pack", &path], &mut packed).await? != 0 {
        return Err(anyhow!("{run} has no {} yet", part.path()).into());
    }
    packed.rewind()?;
    pack::receive(&mut std::io::BufReader::new(packed), to)?;
    output::talk(&format!("put {} of {run} into {}", part.words(), to.display()));
    Ok(())
}
