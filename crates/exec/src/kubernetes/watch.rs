//! Watches the run's pods, and what the cluster has to complain about them. A watch that is lost is
//! taken up again, and what has changed meanwhile is told.

use std::collections::BTreeMap;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Event as Notice, Pod};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use tokio::sync::mpsc::UnboundedSender;

use super::api::Api;
use super::denials::Denials;
use super::names::RUN_LABEL;
use super::seats::{Place, Sight};
use super::trouble::{PodState, pod_state};

/// What is seen on the cluster.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// Something of a pod.
    Pod(Sight),
    /// A warning about an object.
    Warning { object: String, why: String },
}

/// The pods of a run's workers and servers.
pub(crate) fn selector(run: &str) -> String {
    format!("{RUN_LABEL}={run},app.kubernetes.io/component in (worker, server)")
}

/// What is lost where pods may not be watched, and where events may not.
const NO_PODS: &str = "how pods fare cannot be seen, and what they print is not kept";
const NO_WARNINGS: &str = "what keeps pods from being made cannot be seen";

/// Tells of the run's pods until nobody listens.
pub(crate) async fn pods((api, run): (Api, String), denials: Denials, tell: UnboundedSender<News>) {
    let mut seen: BTreeMap<String, Sight> = BTreeMap::new();
    let mut fresh: BTreeMap<String, Sight> = BTreeMap::new();
    let config = Config::default().labels(&selector(&run));
    let mut events = std::pin::pin!(steady(watcher(api.pods(), config), NO_PODS, denials));
    while let Some(event) = events.next().await {
        let mut told = vec![];
        match event {
            Event::Init => fresh.clear(),
            Event::InitApply(pod) => {
                if let Some(sight) = sight(&pod) {
                    fresh.insert(sight.uid.clone(), sight.clone());
                    told.push(sight);
                }
            }
            Event::InitDone => {
                let gone = seen.iter().filter(|(uid, _)| !fresh.contains_key(*uid));
                told.extend(gone.map(|(_, sight)| deleted(sight.clone())));
                seen = std::mem::take(&mut fresh);
            }
            Event::Apply(pod) => {
                if let Some(sight) = sight(&pod) {
                    seen.insert(sight.uid.clone(), sight.clone());
                    told.push(sight);
                }
            }
            Event::Delete(pod) => {
                if let Some(sight) = sight(&pod) {
                    seen.remove(&sight.uid);
                    told.push(deleted(sight));
                }
            }
        }
        for sight in told {
            if tell.send(News::Pod(sight)).is_err() {
                return;
            }
        }
    }
}

/// Tells what the cluster warns about, of whatever object, until nobody listens.
pub(crate) async fn warnings(
    (api, run): (Api, String),
    denials: Denials,
    tell: UnboundedSender<News>,
) {
    let config = Config::default().fields("type=Warning");
    let mut events = std::pin::pin!(steady(watcher(api.events(), config), NO_WARNINGS, denials));
    while let Some(event) = events.next().await {
        // What was said before we listened may be long over.
        let Event::Apply(notice) = event else { continue };
        let object = notice.involved_object.name.clone().unwrap_or_default();
        if let Some(why) = complaint(&notice).filter(|_| object.starts_with(&run))
            && tell.send(News::Warning { object, why }).is_err()
        {
            return;
        }
    }
}

/// A watch without its errors: it tries again by itself, after a while. That it may not be is said.
fn steady<K: Send + 'static>(
    events: impl Stream<Item = Result<Event<K>, kube::runtime::watcher::Error>> + Send,
    lost: &'static str,
    denials: Denials,
) -> impl Stream<Item = Event<K>> + Send {
    let told = move |event: &Result<_, _>| {
        event.as_ref().err().into_iter().for_each(|error| denials.take_watch(lost, error));
    };
    events.default_backoff().inspect(told).filter_map(async |event| event.ok())
}

/// What a warning means for a pod that is to come.
fn complaint(notice: &Notice) -> Option<String> {
    let message = notice.message.clone().unwrap_or_default();
    match notice.reason.as_deref()? {
        "FailedCreate" => Some(format!("the cluster does not make its pod: {message}")),
        "FailedMount" | "FailedAttachVolume" => Some(format!("a volume is missing: {message}")),
        "FailedCreatePodSandBox" => Some(format!("its node has no network for it: {message}")),
        _ => None,
    }
}

/// What is seen of a pod, if it is one of a Job of ours.
pub(crate) fn sight(pod: &Pod) -> Option<Sight> {
    let labels = pod.metadata.labels.as_ref()?;
    let job = labels.get("batch.kubernetes.io/job-name")?.clone();
    let index = "batch.kubernetes.io/job-completion-index";
    let annotation = || pod.metadata.annotations.as_ref()?.get(index);
    let index = labels.get(index).or_else(annotation)?.parse().ok()?;
    Some(Sight {
        place: Place { job, index },
        pod: pod.metadata.name.clone()?,
        uid: pod.metadata.uid.clone()?,
        node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
        container: pod.spec.as_ref()?.containers.first()?.name.clone(),
        state: pod_state(pod),
    })
}

fn deleted(sight: Sight) -> Sight {
    match sight.state.ending() {
        Some(_) => sight,
        None => Sight { state: PodState::Failed("was deleted".into()), ..sight },
    }
}
