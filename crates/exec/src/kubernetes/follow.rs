//! Watches a run from outside: what its driver prints, whichever pod it is in just now.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use futures::{AsyncBufReadExt, StreamExt};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};

use super::api::{Api, ClusterError};
use super::names::{Part, driver_selector};
use super::trouble::{PodState, pod_state, stranded_on};

/// Between two tries to reach a cluster.
const PAUSE: Duration = Duration::from_secs(1);

/// What is heard of a run.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A line that its driver printed.
    Line(&'a str),
    /// Why its driver does not begin.
    Waits(&'a str),
}

/// How a run's Job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Well.
    Complete,
    /// Not.
    Failed,
    /// It was deleted.
    Gone,
}

/// Tells everything that a run's drivers print, from the beginning, until its Job has ended, or until
/// whoever hears it has heard enough. Each driver tells again what those before it told.
pub async fn follow(
    api: &Api,
    run: &str,
    hear: &mut dyn FnMut(Heard<'_>) -> ControlFlow<()>,
) -> Result<Option<Ended>, ClusterError> {
    let mut read = BTreeSet::new();
    loop {
        let Some(pod) = driver_begun(api, run, &read, hear).await else {
            return patiently(async || ended(api, run).await.map(Some)).await;
        };
        let container = Some(Part::Driver.name().to_owned());
        let how = LogParams { follow: true, container, ..LogParams::default() };
        if let Ok(log) = api.pods().log_stream(&pod, &how).await {
            let mut lines = log.lines();
            while let Some(Ok(line)) = lines.next().await {
                if hear(Heard::Line(&line)).is_break() {
                    return Ok(None);
                }
            }
        }
        let state = api.pods().get_opt(&pod).await.ok().flatten();
        // Cut off by the cluster, not by its end: once more.
        if state.is_some_and(|pod| pod_state(&pod).ending().is_some()) {
            read.insert(pod);
        }
    }
}

/// The pod of a driver that has begun and was not read yet; none once the Job has ended.
async fn driver_begun(
    api: &Api,
    run: &str,
    read: &BTreeSet<String>,
    hear: &mut dyn FnMut(Heard<'_>) -> ControlFlow<()>,
) -> Option<String> {
    let selector = driver_selector(run);
    let pods = watcher(api.pods(), Config::default().labels(&selector)).default_backoff();
    let jobs = Config::default().fields(&format!("metadata.name={run}"));
    let jobs = watcher(api.jobs(), jobs).default_backoff();
    // A watch that fails is taken up again by itself.
    let mut pods = std::pin::pin!(pods.applied_objects().filter_map(async |pod| pod.ok()));
    let mut jobs = std::pin::pin!(jobs.touched_objects().filter_map(async |job| job.ok()));
    let warnings = format!("type=Warning,involvedObject.kind=Job,involvedObject.name={run}");
    let warnings = watcher(api.events(), Config::default().fields(&warnings)).default_backoff();
    let mut warnings = std::pin::pin!(warnings.applied_objects().filter_map(async |it| it.ok()));
    let mut told = String::new();
    let mut wait = |why: String| {
        if why != told {
            let _ = hear(Heard::Waits(&why));
            told = why;
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(warning) = warnings.next() => {
                if warning.reason.as_deref() == Some("FailedCreate") {
                    wait(warning.message.unwrap_or_default());
                }
            }
            Some(pod) = pods.next() => {
                let pod: Pod = pod;
                let name = pod.metadata.name.clone().unwrap_or_default();
                match pod_state(&pod) {
                    _ if read.contains(&name) || stranded_on(&pod).is_some() => {}
                    PodState::Waiting(Some(why)) => wait(why),
                    PodState::Waiting(None) => {}
                    PodState::Running | PodState::Done | PodState::Failed(_) => return Some(name),
                }
            }
            Some(job) = jobs.next() => {
                let job: Job = job;
                let deleted = job.metadata.deletion_timestamp.is_some();
                if deleted || ending(&job).is_some() {
                    // A pod that was seen to end is read before the run is over.
                    return patiently(async || unread(api, &selector, read).await).await.ok()?;
                }
            }
            else => return None,
        }
    }
}

/// Asks again while the cluster does not answer.
async fn patiently<T, F: Future<Output = Result<T, ClusterError>>>(
    ask: impl Fn() -> F,
) -> Result<T, ClusterError> {
    loop {
        match ask().await {
            Err(error) if error.is_passing() => tokio::time::sleep(PAUSE).await,
            other => return other,
        }
    }
}

async fn unread(
    api: &Api,
    selector: &str,
    read: &BTreeSet<String>,
) -> Result<Option<String>, ClusterError> {
    let pods = api.pods().list(&kube::api::ListParams::default().labels(selector)).await;
    let pods = pods.map_err(|error| ClusterError::of("list pods", &error))?;
    let names = pods.items.into_iter().filter_map(|pod| pod.metadata.name);
    Ok(names.filter(|name| !read.contains(name)).min())
}

async fn ended(api: &Api, run: &str) -> Result<Ended, ClusterError> {
    let job = api.jobs().get_opt(run).await;
    let job = job.map_err(|error| ClusterError::of(&format!("show the Job {run}"), &error))?;
    Ok(job.and_then(|job| ending(&job)).unwrap_or(Ended::Gone))
}

/// How a Job ended, if it has.
pub(super) fn ending(job: &Job) -> Option<Ended> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().filter(|it| it.status == "True").find_map(|it| match it.type_.as_str() {
        "Complete" => Some(Ended::Complete),
        "Failed" => Some(Ended::Failed),
        _ => None,
    })
}
