//! Looks at runs on a cluster, with no more than the kubeconfig.

use std::fs::File;
use std::io::Seek;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use exec::kubernetes::{self, Api, ClusterError, Reach};
use serde::Serialize;

use super::pipe::Sink;
use super::{Place, block_on};
use crate::failure::{Failure, OrUsage};
use crate::verbs::get::Part;
use crate::{output, pack};

/// How often something is asked of a run that just changes, and how long between.
const LOOKS: usize = 4;
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// What a program ends with that was ended by others.
const KILLED: i32 = 137;
const TERMINATED: i32 = 143;

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

/// Has something done where the run's folder is. A driver that leaves takes with it what runs in its
/// pod; then whoever is there next is asked, unless part of the answer is here.
async fn call(
    api: &Api,
    run: &str,
    arguments: &[&str],
    out: &mut (dyn std::io::Write + Send),
) -> Result<i32, Failure> {
    let mut out = Counted { out, bytes: 0 };
    for _ in 1..LOOKS {
        let answer = call_once(api, run, arguments, &mut out).await?;
        let torn = match &answer {
            Ok(code) => [KILLED, TERMINATED].contains(code),
            Err(error) => error.code() == 0,
        };
        if !torn || out.bytes > 0 {
            return Ok(answer?);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(call_once(api, run, arguments, &mut out).await??)
}

async fn call_once(
    api: &Api,
    run: &str,
    arguments: &[&str],
    out: &mut (dyn std::io::Write + Send),
) -> Result<Result<i32, ClusterError>, Failure> {
    let reach = Reach::open(api, run).await?;
    let ends = (&mut Sink(out) as _, &mut Sink(std::io::stderr()) as _);
    let answer = reach.call(arguments, None, ends).await;
    reach.close().await;
    Ok(answer)
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut (dyn std::io::Write + Send),
    bytes: usize,
}

impl std::io::Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The run that a name means: the newest of that name, or the one of that name and number.
pub(super) async fn resolve(api: &Api, name: &str) -> Result<String, Failure> {
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
        let asked = call_once(&api, &run, &["stop", &run], &mut std::io::sink()).await;
        let runs = kubernetes::runs(&api).await?;
        let goes_on = runs.iter().any(|it| it.name == run && it.state == "running");
        if goes_on && kubernetes::driver_pod(&api, &run).await?.is_some() {
            asked??;
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

/// Whether a run goes on. A driver stays for a while after the end, so it is asked; one that does not
/// answer may just be leaving, and then the cluster knows in a moment.
async fn goes_on(api: &Api, run: &str) -> Result<bool, Failure> {
    for _ in 0..LOOKS {
        if !kubernetes::goes_on(api, run).await? {
            return Ok(false);
        }
        if kubernetes::driver_pod(api, run).await?.is_some() {
            let mut answer = vec![];
            let called = call_once(api, run, &["status", run, "--json"], &mut answer).await;
            let status: serde_json::Value = serde_json::from_slice(&answer).unwrap_or_default();
            if matches!(called, Ok(Ok(0))) && status["state"].is_string() {
                let over = ["done", "failed", "stopped"];
                return Ok(!over.iter().any(|state| status["state"] == *state));
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(true)
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
