//! Begins a run on a cluster and watches it.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, anyhow};
use exec::kubernetes::{
    Api, Before, Ended, Finding, Heard, Request, Volume, before, follow, resume, submit, volume,
};
use plan::{Plan, Role};
use serde::Deserialize;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use spec::RunSpec;
use train::{Event, Report};

use super::{Place, block_on, inputs, page};
use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::verbs::get::Part;
use crate::view::View;
use crate::{facts, output, report_text};

/// What is asked of a cluster, and what the driver there needs.
fn request(
    spec: &mut RunSpec,
    image: Option<&str>,
    env: &Env,
) -> Result<(Request, Vec<inputs::Input>), Failure> {
    let given = spec.on.kubernetes.get_or_insert_default();
    let named = image.map(str::to_owned).or_else(|| given.image.clone());
    let image = named.context(
        "no image is named; give one with `--image`, or `on.kubernetes.image` in the run file \
         (`deploy/README.md` says how to make it)",
    );
    let image = image.or_usage()?;
    given.image = Some(image.clone());
    let given = given.clone();
    page::leave_out_what_is_of_this_machine(spec);
    // What is wrong with the file is said here rather than in a pod.
    let (plan, facts) = facts::plan(spec, env)?;
    let inputs = inputs::find(spec)?;
    let request = Request {
        name: spec.name.clone(),
        file: spec.to_yaml(),
        secret: collective::Secret::random().to_hex(),
        image,
        given,
        memory: beside(&plan),
        page: page::of(spec, &plan, &facts),
    };
    Ok((request, inputs))
}

/// The memory of what the driver's pod does itself.
fn beside(plan: &Plan) -> u64 {
    let tasks = plan.tasks.iter().filter(|task| !matches!(task.role, Role::Worker { .. }));
    tasks.map(plan::Task::memory).max().unwrap_or(0)
}

/// Runs a file on a cluster and watches it.
pub(crate) fn run(
    place: &Place,
    (mut spec, image): (RunSpec, Option<&str>),
    (json, fresh): (bool, bool),
    env: &Env,
) -> Result<(), Failure> {
    let (request, inputs) = request(&mut spec, image, env)?;
    block_on(async {
        let api = place.api().await?;
        let volume = volume(&api, &request.name, &request.given.storage).await?;
        page::check(&request, &volume)?;
        let found = if fresh { Before::Nothing } else { before(&api, &request).await? };
        let run = match found {
            Before::GoesOn(run) => {
                output::talk(&format!("{run} goes on already; watching it"));
                run
            }
            Before::CanGoOn(run) => {
                resume(&api, &request, (&run, &volume)).await?;
                output::talk(&format!("{run} goes on where it was left"));
                run
            }
            Before::Nothing => {
                let run = submit(&api, &request, &volume).await?;
                output::talk(&begun(&run, &api.namespace, &volume));
                run
            }
        };
        inputs::send(&api, &run, &inputs).await?;
        watch(&api, &run, place, json, env).await?;
        if request.page.is_some() {
            output::talk(&format!("`trainyard open {run} {}` opens its page", place.flags()));
        }
        match volume {
            // What was made is in the driver's pod alone.
            Volume::None => super::look::fetch(&api, &run, Part::Model, Path::new(&run)).await,
            _ => Ok(()),
        }
    })
}

/// Looks at whether a file could be run on a cluster.
pub(crate) fn examine(
    place: &Place,
    (mut spec, image): (RunSpec, Option<&str>),
    env: &Env,
) -> Result<Vec<Finding>, Failure> {
    let (plan, _) = facts::plan(&spec, env)?;
    let of = |task: &plan::Task| task.processes + task.servers.map_or(0, |it| it.processes);
    let workers = plan.tasks.iter().filter(|task| matches!(task.role, Role::Worker { .. }));
    let pods = 1 + workers.map(of).max().unwrap_or(0).max(usize::from(plan.serving.is_some()));
    let (request, _) = request(&mut spec, image, env)?;
    block_on(async {
        let api = place.api().await?;
        Ok(exec::kubernetes::examine(&api, &request, pods).await?)
    })
}

/// Prints the objects of a run, to be applied by somebody else.
pub(crate) fn render(
    (mut spec, image): (RunSpec, Option<&str>),
    namespace: &str,
    env: &Env,
) -> Result<(), Failure> {
    let (request, inputs) = request(&mut spec, image, env)?;
    if !inputs.is_empty() {
        return Err(anyhow!(
            "the run reads files of this machine, and only `run --on kubernetes` sends them; put them \
             where pods can read them, and name that place"
        ))
        .or_usage();
    }
    // Whether the cluster has volumes is not known here.
    let volume = Volume::asked(&request.given.storage).unwrap_or(Volume::None);
    page::check(&request, &volume)?;
    let run = format!("{}-1", request.name);
    for object in request.render(&run, namespace, &volume) {
        output::print(&format!("---\n{}", spec::yaml(&object)));
    }
    Ok(())
}

fn begun(run: &str, namespace: &str, volume: &Volume) -> String {
    let folder = match volume {
        Volume::None => "in the driver's pod, for an hour after the end".into(),
        Volume::Named(name) => format!("on the volume {name}"),
        Volume::New(claim) => format!("on a new volume of {}", claim.size),
    };
    format!("{run} begins in namespace {namespace}; its folder is {folder}")
}

/// What a driver prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Printed {
    Report { report: Box<Report> },
    Event(Box<Event>),
}

async fn watch(api: &Api, run: &str, place: &Place, json: bool, env: &Env) -> Result<(), Failure> {
    detach_on_interrupt(format!(
        "{run} goes on; `trainyard status {run} {0}` shows it, `trainyard stop {run} {0}` stops it",
        place.flags()
    ))?;
    let mut view = View::new(json, env);
    let (mut report, mut next, mut newest) = (None, 0, 0);
    let ended = follow(api, run, &mut |heard| {
        match heard {
            Heard::Waits(why) => output::talk(&format!("the driver waits: {why}")),
            Heard::Line(line) => match serde_json::from_str(line) {
                Ok(Printed::Report { report: found }) => {
                    report = Some(found);
                    return ControlFlow::Break(());
                }
                // One that has lost the last events of its predecessor counts from fewer.
                Ok(Printed::Event(event)) if event.seq >= next || event.ms > newest => {
                    (next, newest) = (event.seq + 1, event.ms);
                    view.show(&event);
                }
                // Told before, by an earlier driver.
                Ok(Printed::Event(_)) => {}
                Err(_) => output::talk(line),
            },
        }
        ControlFlow::Continue(())
    })
    .await;
    view.close();
    match (ended?, report) {
        (_, Some(report)) => {
            if !json {
                output::print(&report_text::closing(&report, run));
            }
            Ok(())
        }
        (Some(Ended::Gone), None) => Err(anyhow!("{run} was deleted").into()),
        (_, None) => {
            let see = format!("`trainyard why {run} {}` tells more", place.flags());
            Err(anyhow!("{run} has ended without a result; {see}").into())
        }
    }
}

/// Ctrl-C leaves the run alone: it is the cluster's now.
fn detach_on_interrupt(words: String) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            output::talk(&words);
            std::process::exit(130);
        }
    });
    Ok(())
}
