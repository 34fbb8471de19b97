//! Runs on Kubernetes, from outside: what `--on kubernetes` means.

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use exec::kubernetes::{Api, Ended, Heard, Request, Volume, connect, follow, submit, volume};
use plan::{Plan, Role};
use serde::Deserialize;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use spec::RunSpec;
use train::{Event, Report};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::view::View;
use crate::{facts, output, report_text};

/// Where runs take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// On this machine
    #[default]
    Local,
    /// On a cluster
    Kubernetes,
}

/// Which place is meant, on a command line.
#[derive(Args)]
pub(crate) struct Place {
    /// Where the run takes place
    #[arg(long, value_name = "PLACE", default_value = "local")]
    pub(crate) on: On,
    /// The namespace on the cluster [default: that of the context]
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// The context of the kubeconfig that names the cluster [default: the current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl Place {
    /// Whether a cluster is meant.
    pub(crate) fn is_cluster(&self) -> bool {
        self.on == On::Kubernetes
    }

    /// The cluster that is meant.
    pub(crate) async fn api(&self) -> Result<Api, Failure> {
        connect(self.context.as_deref(), self.namespace.as_deref()).await.or_usage()
    }

    /// The flags that mean the same place, for advice.
    fn flags(&self) -> String {
        let option = |name: &str, value: &Option<String>| {
            value.as_ref().map_or(String::new(), |value| format!(" --{name} {value}"))
        };
        let (namespace, context) =
            (option("namespace", &self.namespace), option("context", &self.context));
        format!("--on kubernetes{namespace}{context}")
    }
}

/// What is asked of a cluster, and what the driver there needs.
pub(crate) fn request(
    spec: &mut RunSpec,
    image: Option<&str>,
    env: &Env,
) -> Result<Request, Failure> {
    let given = spec.on.kubernetes.get_or_insert_default();
    let named = image.map(str::to_owned).or_else(|| given.image.clone());
    let image = named.context(
        "no image is named; give one with `--image`, or `on.kubernetes.image` in the run file \
         (`deploy/README.md` says how to make it)",
    );
    let image = image.or_usage()?;
    given.image = Some(image.clone());
    let given = given.clone();
    // What is wrong with the file is said here rather than in a pod.
    let (plan, _) = facts::plan(spec, env)?;
    Ok(Request {
        name: spec.name.clone(),
        file: spec.to_yaml(),
        secret: collective::Secret::random().to_hex(),
        image,
        given,
        memory: beside(&plan),
    })
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
    json: bool,
    env: &Env,
) -> Result<(), Failure> {
    let request = request(&mut spec, image, env)?;
    block_on(async {
        let api = place.api().await?;
        let volume = volume(&api, &request.name, &request.given.storage).await?;
        let run = submit(&api, &request, &volume).await?;
        output::talk(&begun(&run, &api.namespace, &volume));
        watch(&api, &run, place, json, env).await
    })
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
    let (mut report, mut next) = (None, 0);
    let ended = follow(api, run, &mut |heard| match heard {
        Heard::Waits(why) => output::talk(&format!("the driver waits: {why}")),
        Heard::Line(line) => match serde_json::from_str(line) {
            Ok(Printed::Report { report: found }) => report = Some(found),
            Ok(Printed::Event(event)) if event.seq >= next => {
                next = event.seq + 1;
                view.show(&event);
            }
            // Told before, by an earlier driver.
            Ok(Printed::Event(_)) => {}
            Err(_) => output::talk(line),
        },
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
        (Ended::Gone, None) => Err(anyhow!("{run} was deleted").into()),
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

/// Does something that waits for a cluster.
pub(crate) fn block_on<T>(what: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(what)
}
