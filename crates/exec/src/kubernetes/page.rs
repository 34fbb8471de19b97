//! A run's page: the driver lets its pods come when the run is done, and from outside it is reached through the
//! API server, with no more than the kubeconfig.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, Patch, PatchParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::time::sleep;

use super::api::{Api, ClusterError};
use super::cluster::Site;
use super::names::page_selector;
use super::objects::model_map;
use super::trouble::{PodState, pod_state, stranded_on};

/// How often the cluster is asked again that did not answer, and how long between.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);
/// Bytes that a ConfigMap holds, at most, less a little for what it is called.
pub const MOST_WITHOUT_VOLUME: usize = (1 << 20) - (1 << 12);

/// Has the page of a run that is done shown. `model` are its files where they are on no volume.
pub async fn show_page(
    api: &Api,
    (site, page): (&Site, &str),
    model: Option<&BTreeMap<String, Vec<u8>>>,
) -> Result<(), ClusterError> {
    if let Some(files) = model {
        let bytes: usize = files.iter().map(|(name, bytes)| name.len() + bytes.len()).sum();
        if bytes > MOST_WITHOUT_VOLUME {
            return Err(ClusterError::Wrong(format!(
                "the model has {}, and without a volume a page can have one of 1 MiB; set \
                 `on.kubernetes.storage: pvc`",
                train::bytes(bytes as u64)
            )));
        }
        let map = model_map(&site.outline(), page, files);
        patiently(async || match api.create(&map).await {
            // Of a driver before this one: published things never change.
            Err(error) if error.code() == 409 => Ok(()),
            other => other.map(drop),
        })
        .await?;
    }
    let change = json!({ "spec": { "replicas": 1 } });
    let deployments = api.any("apps/v1", "Deployment");
    patiently(async || {
        let changed =
            deployments.patch(page, &PatchParams::default(), &Patch::Merge(&change)).await;
        let what = format!("change the Deployment {page}");
        changed.map(drop).map_err(|error| ClusterError::of(&what, &error))
    })
    .await
}

/// Asks again while the cluster does not answer.
async fn patiently<F: Future<Output = Result<(), ClusterError>>>(
    ask: impl Fn() -> F,
) -> Result<(), ClusterError> {
    for _ in 1..TRIES {
        match ask().await {
            Err(error) if error.is_passing() => sleep(PAUSE).await,
            other => return other,
        }
    }
    ask().await
}

/// The page of a run, as somebody outside finds it.
#[derive(Clone, Debug)]
pub struct PageReach {
    api: Api,
    run: String,
    /// The port that its pods listen at.
    port: u16,
    /// What whoever asks must know.
    pub token: String,
}

impl PageReach {
    /// Finds the page of a run.
    pub async fn find(api: &Api, run: &str) -> Result<PageReach, ClusterError> {
        let own = ListParams::default().labels(&page_selector(run));
        let found = api.any("apps/v1", "Deployment").list(&own).await;
        let found = found.map_err(|error| ClusterError::of("list Deployments", &error))?;
        let Some(deployment) = found.items.first() else {
            return Err(ClusterError::Wrong(format!(
                "{run} has no page, for its file has no `serve`; `trainyard get {run} --on kubernetes` brings \
                 the model here, and `trainyard serve` serves it"
            )));
        };
        if deployment.data["spec"]["replicas"].as_u64().unwrap_or(0) == 0 {
            return Err(ClusterError::Wrong(format!(
                "{run} shows no page now: it does when the run is done; `trainyard status {run} --on \
                 kubernetes` tells how far it is"
            )));
        }
        let container = &deployment.data["spec"]["template"]["spec"]["containers"][0];
        let port = container["ports"][0]["containerPort"].as_u64();
        let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or(spec::Serve::PORT);
        let name = deployment.metadata.name.clone().unwrap_or_default();
        let token = token(api, &name).await?;
        Ok(PageReach { api: api.clone(), run: run.to_owned(), port, token })
    }

    /// Waits until a pod takes requests. `tell` hears what it waits for.
    pub async fn until_ready(&self, tell: &mut dyn FnMut(&str)) -> Result<(), ClusterError> {
        let selector = page_selector(&self.run);
        let pods = watcher(self.api.pods(), Config::default().labels(&selector)).default_backoff();
        let mut pods = std::pin::pin!(pods.applied_objects());
        let mut told = String::new();
        while let Some(pod) = pods.next().await {
            let Ok(pod) = pod else { continue };
            if is_ready(&pod) {
                return Ok(());
            }
            if let PodState::Waiting(Some(why)) = pod_state(&pod)
                && why != told
            {
                tell(&why);
                told = why;
            }
        }
        Err(ClusterError::Wrong(format!("the page of {} is gone", self.run)))
    }

    /// A connection to a pod that takes requests.
    pub async fn connect(&self) -> Result<DuplexStream, ClusterError> {
        let own = ListParams::default().labels(&page_selector(&self.run));
        let pods = self.api.pods().list(&own).await;
        let pods = pods.map_err(|error| ClusterError::of("list pods", &error))?;
        let ready = pods.items.iter().find(|pod| is_ready(pod));
        let pod = ready.and_then(|pod| pod.metadata.name.clone()).ok_or_else(|| {
            ClusterError::Wrong(format!("no pod of the page of {} takes requests now", self.run))
        })?;
        let what = format!("forward a connection to the pod {pod}");
        let ports = self.api.pods().portforward(&pod, &[self.port]).await;
        let mut ports = ports.map_err(|error| ClusterError::of(&what, &error))?;
        let stream = ports.take_stream(self.port);
        stream.ok_or_else(|| ClusterError::Wrong(format!("the cluster does not {what}")))
    }
}

/// Whether a pod takes requests.
fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.any(|it| it.type_ == "Ready" && it.status == "True");
    ready && pod.metadata.deletion_timestamp.is_none() && stranded_on(pod).is_none()
}

async fn token(api: &Api, name: &str) -> Result<String, ClusterError> {
    let what = format!("show the Secret {name}");
    let found = api.any("v1", "Secret").get(name).await;
    let mut found = found.map_err(|error| ClusterError::of(&what, &error))?;
    let token: Value = found.data["data"]["token"].take();
    let bytes = serde_json::from_value::<k8s_openapi::ByteString>(token).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes.0).ok());
    text.ok_or_else(|| ClusterError::Wrong(format!("the Secret {name} has no token")))
}
