//! The runs of a namespace: which there are, why one does not go on, and how one is removed.

use k8s_openapi::api::batch::v1::Job;
use kube::api::{DeleteParams, ListParams};

use super::api::{Api, ClusterError};
use super::follow::{Ended, ending};
use super::hands::delete_job;
use super::names::{NAME_LABEL, RUN_LABEL, driver_selector};
use super::objects::TRIES;
use super::reach::drives;
use super::trouble::{PodState, last_words, pod_state, stranded_on};

/// A run on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRun {
    /// `mnist-1`.
    pub name: String,
    /// `waiting`, `running`, `done`, `failed`, or `removed` where only its volume is left.
    pub state: &'static str,
}

/// The runs of a namespace, by name.
pub async fn runs(api: &Api) -> Result<Vec<ListedRun>, ClusterError> {
    let drivers = ListParams::default().labels("app.kubernetes.io/component=driver");
    let jobs = api.jobs().list(&drivers).await;
    let jobs = jobs.map_err(|error| ClusterError::of("list Jobs", &error))?;
    let listed = |job: Job| {
        let is_ours = job.metadata.labels.as_ref()?.contains_key(RUN_LABEL);
        let active = job.status.as_ref().and_then(|status| status.active).unwrap_or(0) > 0;
        let state = match (ending(&job), active) {
            (Some(Ended::Complete), _) => "done",
            (Some(_), _) => "failed",
            (None, true) => "running",
            (None, false) => "waiting",
        };
        Some(ListedRun { name: job.metadata.name.filter(|_| is_ours)?, state })
    };
    let mut runs: Vec<ListedRun> = jobs.items.into_iter().filter_map(listed).collect();
    let kept = api.any("v1", "PersistentVolumeClaim");
    let kept = kept.list_metadata(&ListParams::default().labels(NAME_LABEL)).await;
    let kept = kept.map_err(|error| ClusterError::of("list volumes", &error))?;
    for name in kept.items.into_iter().filter_map(|claim| claim.metadata.name) {
        if !runs.iter().any(|run| run.name == name) {
            runs.push(ListedRun { name, state: "removed" });
        }
    }
    runs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(runs)
}

/// What the cluster itself says against a run's driver, a sentence each.
pub async fn why(api: &Api, run: &str) -> Result<Vec<String>, ClusterError> {
    let mut reasons = vec![];
    let wrong = |error: kube::Error| ClusterError::of("tell about the run", &error);
    let Some(job) = api.jobs().get_opt(run).await.map_err(wrong)? else {
        return Ok(vec![format!("{run} was removed; only its volume is left")]);
    };
    if ending(&job).is_some() {
        return Ok(reasons);
    }
    let selector = driver_selector(run);
    let pods = api.pods().list(&ListParams::default().labels(&selector)).await.map_err(wrong)?;
    for pod in &pods.items {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        if let Some(node) = stranded_on(pod) {
            let lost = format!("node {node}, which is not heard of any more");
            reasons.push(format!("the driver's pod {name} was on {lost}"));
        }
        match pod_state(pod) {
            PodState::Waiting(Some(why)) => {
                reasons.push(format!("the driver's pod {name} waits: {why}"));
            }
            PodState::Failed(how) => {
                let words = last_words(pod).map_or(String::new(), |words| format!(": {words}"));
                reasons.push(format!("the driver's pod {name} {how}{words}"));
            }
            PodState::Waiting(None) | PodState::Running | PodState::Done => {}
        }
    }
    if pods.items.iter().any(drives) {
        return Ok(reasons);
    }
    let warnings = api.events().list(&ListParams::default().fields("type=Warning")).await;
    for event in warnings.map_err(wrong)?.items {
        let object = event.involved_object.name.unwrap_or_default();
        let concerns =
            object == run || pods.items.iter().any(|p| p.metadata.name == Some(object.clone()));
        let said = event.message.filter(|_| concerns);
        reasons.extend(said.map(|said| format!("the cluster says of {object}: {said}")));
    }
    reasons.dedup();
    Ok(reasons)
}

/// Whether a run may still go on, as far as the cluster knows: its Job has not ended and is not about to.
/// Where a driver runs, that one knows better.
pub async fn goes_on(api: &Api, run: &str) -> Result<bool, ClusterError> {
    let wrong = |error: kube::Error| ClusterError::of(&format!("show the Job {run}"), &error);
    let Some(job) = api.jobs().get_opt(run).await.map_err(wrong)? else { return Ok(false) };
    let tries = job.spec.as_ref().and_then(|spec| spec.backoff_limit);
    let given_up = tries != i32::try_from(TRIES).ok();
    if ending(&job).is_some() || job.metadata.deletion_timestamp.is_some() || given_up {
        return Ok(false);
    }
    let drivers = ListParams::default().labels(&driver_selector(run));
    let pods = api.pods().list(&drivers).await;
    let pods = pods.map_err(|error| ClusterError::of("list pods", &error))?;
    Ok(!pods.items.iter().any(|pod| pod_state(pod) == PodState::Done))
}

/// Removes a run: its Job with everything that belongs to it, and the volume that was made for it.
pub async fn remove(api: &Api, run: &str) -> Result<(), ClusterError> {
    delete_job(api, run).await?;
    let claims = api.any("v1", "PersistentVolumeClaim");
    let wrong = |error: kube::Error| ClusterError::of(&format!("delete the volume {run}"), &error);
    let claim = claims.get_opt(run).await.map_err(wrong)?;
    let is_ours = |claim: &kube::api::DynamicObject| {
        claim.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(RUN_LABEL))
    };
    if claim.as_ref().is_some_and(is_ours) {
        claims.delete(run, &DeleteParams::default()).await.map_err(wrong)?;
    }
    Ok(())
}
