//! Looks into a run's folder from outside: through its driver's pod while there is one, then through one that
//! serves the run's model and reads its volume, and otherwise through a pod that is made for the purpose and
//! goes away by itself.

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{AttachParams, DeleteParams, ListParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::api::{Api, ClusterError};
use super::names::{Part, driver_selector, page_selector};
use super::objects::{Outline, reader_pod};
use super::trouble::{PodState, pod_state, stranded_on};

/// The note on a volume of which image its run was.
pub(crate) const IMAGE_NOTE: &str = "trainyard/image";
/// The note on a volume of what its run file gave its pods.
pub(crate) const SETTINGS_NOTE: &str = "trainyard/kubernetes";

/// A pod that has a run's folder.
#[derive(Clone, Debug)]
pub struct Reach {
    api: Api,
    /// The pod.
    pub pod: String,
    part: Part,
}

/// The pod of a run's driver, if it runs.
pub async fn driver_pod(api: &Api, run: &str) -> Result<Option<String>, ClusterError> {
    let selector = driver_selector(run);
    let pods = api.pods().list(&ListParams::default().labels(&selector)).await;
    let pods = pods.map_err(|error| ClusterError::of("list pods", &error))?;
    Ok(pods.items.iter().find(|pod| drives(pod)).and_then(|pod| pod.metadata.name.clone()))
}

/// A pod that serves a run's model and has the run's volume. Another node may not have it meanwhile.
async fn page_pod(api: &Api, run: &str) -> Result<Option<String>, ClusterError> {
    let pods = api.pods().list(&ListParams::default().labels(&page_selector(run))).await;
    let pods = pods.map_err(|error| ClusterError::of("list pods", &error))?;
    let has_folder = |pod: &&Pod| {
        let volumes = pod.spec.as_ref().and_then(|spec| spec.volumes.as_ref());
        volumes.is_some_and(|all| all.iter().any(|it| it.persistent_volume_claim.is_some()))
    };
    let leaves = |pod: &&Pod| pod.metadata.deletion_timestamp.is_some();
    let mut found = pods.items.iter().filter(|pod| drives(pod) && has_folder(pod) && !leaves(pod));
    Ok(found.next().and_then(|pod| pod.metadata.name.clone()))
}

/// Whether a driver's pod is one to ask.
pub(super) fn drives(pod: &Pod) -> bool {
    pod_state(pod) == PodState::Running && stranded_on(pod).is_none()
}

impl Reach {
    /// Finds, or makes, a pod that has the folder of a run.
    pub async fn open(api: &Api, run: &str) -> Result<Reach, ClusterError> {
        if let Some(pod) = driver_pod(api, run).await? {
            return Ok(Reach { api: api.clone(), pod, part: Part::Driver });
        }
        if let Some(pod) = page_pod(api, run).await? {
            return Ok(Reach { api: api.clone(), pod, part: Part::Serve });
        }
        let LeftOver { claim, image, given } = left_over(api, run).await?;
        let (namespace, owner) = (api.namespace.as_str(), None);
        let outline = Outline { run, namespace, image: &image, given: &given, owner };
        let made = api.create(&reader_pod(&outline, &claim)).await?;
        let pod = made.metadata.name.unwrap_or_default();
        let reach = Reach { api: api.clone(), pod, part: Part::Reader };
        match until_running(api, &reach.pod).await {
            Ok(()) => Ok(reach),
            Err(error) => {
                reach.close().await;
                Err(error)
            }
        }
    }

    /// The driver's pod, as soon as it runs.
    pub async fn of_driver(api: &Api, run: &str) -> Result<Reach, ClusterError> {
        let selector = driver_selector(run);
        let pods = watcher(api.pods(), Config::default().labels(&selector)).default_backoff();
        let mut pods = std::pin::pin!(pods.applied_objects());
        while let Some(pod) = pods.next().await {
            if let Ok(pod) = pod
                && drives(&pod)
            {
                let pod = pod.metadata.name.unwrap_or_default();
                return Ok(Reach { api: api.clone(), pod, part: Part::Driver });
            }
        }
        Err(ClusterError::Wrong(format!("the driver of {run} does not begin")))
    }

    /// Runs the program in the pod. How it ended.
    pub async fn call(
        &self,
        arguments: &[&str],
        input: Option<&mut (dyn AsyncRead + Unpin + Send)>,
        (out, err): (&mut (dyn AsyncWrite + Unpin + Send), &mut (dyn AsyncWrite + Unpin + Send)),
    ) -> Result<i32, ClusterError> {
        let how = AttachParams::default().stdin(input.is_some()).stdout(true).stderr(true);
        let how = how.container(self.part.name());
        let how = how.max_stdin_buf_size(1 << 16).max_stdout_buf_size(1 << 16);
        let command = ["/usr/bin/trainyard"].into_iter().chain(arguments.iter().copied());
        let command: Vec<&str> = command.collect();
        let what = format!("run `trainyard {}` in the pod {}", arguments.join(" "), self.pod);
        let wrong = |error: kube::Error| ClusterError::of(&what, &error);
        let mut process = self.api.pods().exec(&self.pod, command, &how).await.map_err(wrong)?;
        let torn = |error: std::io::Error| ClusterError::Wrong(format!("{what}: {error}"));
        let (stdin, stdout, stderr) = (process.stdin(), process.stdout(), process.stderr());
        let status = process.take_status();
        let feed = async {
            if let (Some(input), Some(mut stdin)) = (input, stdin) {
                tokio::io::copy(input, &mut stdin).await?;
                stdin.shutdown().await?;
            }
            Ok(())
        };
        let (fed, read, told) = tokio::join!(feed, copy(stdout, out), copy(stderr, err));
        read.and(told).map_err(torn)?;
        let status = match status {
            Some(status) => status.await,
            None => None,
        };
        let code = exit_code(status.as_ref());
        // A program that has ended does not read the rest.
        if code == Some(0) {
            fed.map_err(torn)?;
        }
        code.ok_or_else(|| ClusterError::Wrong(format!("{what}: the connection was cut")))
    }

    /// Removes the pod, if it was made.
    pub async fn close(self) {
        if self.part == Part::Reader {
            let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
            let _ = self.api.pods().delete(&self.pod, &now).await;
        }
    }
}

async fn copy(
    from: Option<impl AsyncRead + Unpin>,
    to: &mut (dyn AsyncWrite + Unpin + Send),
) -> std::io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut bytes = vec![0; 1 << 16];
    loop {
        match from.read(&mut bytes).await? {
            0 => return to.flush().await,
            read => to.write_all(&bytes[..read]).await?,
        }
    }
}

fn exit_code(status: Option<&Status>) -> Option<i32> {
    let status = status?;
    if status.status.as_deref() == Some("Success") {
        return Some(0);
    }
    let causes = status.details.as_ref().and_then(|details| details.causes.as_ref());
    let code = causes.into_iter().flatten().find(|it| it.reason.as_deref() == Some("ExitCode"));
    // Without one it is not the program that failed.
    code?.message.as_ref()?.parse().ok()
}

/// Waits until a pod runs.
async fn until_running(api: &Api, pod: &str) -> Result<(), ClusterError> {
    let state = until(api, pod, |state| *state != PodState::Waiting(None)).await?;
    match state.ending() {
        Some(how) => Err(ClusterError::Wrong(format!("the pod {pod} {how}"))),
        None => Ok(()),
    }
}

/// Waits until a pod has ended: how.
pub(super) async fn until_ended(api: &Api, pod: &str) -> Result<PodState, ClusterError> {
    until(api, pod, |state| state.ending().is_some()).await
}

/// Waits until a pod is in some state, unless it cannot begin.
async fn until(
    api: &Api,
    pod: &str,
    wanted: impl Fn(&PodState) -> bool,
) -> Result<PodState, ClusterError> {
    let config = Config::default().fields(&format!("metadata.name={pod}"));
    let mut pods = std::pin::pin!(watcher(api.pods(), config).default_backoff().touched_objects());
    while let Some(found) = pods.next().await {
        match found.as_ref().map(pod_state) {
            Ok(PodState::Waiting(Some(why))) => {
                return Err(ClusterError::Wrong(format!("the pod {pod} cannot begin: {why}")));
            }
            Ok(state) if wanted(&state) => return Ok(state),
            Ok(_) | Err(_) => {}
        }
    }
    Err(ClusterError::Wrong(format!("the pod {pod} is gone")))
}

/// The volume of a run that has no driver now, and what a pod takes to look at it.
struct LeftOver {
    claim: String,
    image: String,
    given: spec::Kubernetes,
}

async fn left_over(api: &Api, run: &str) -> Result<LeftOver, ClusterError> {
    let wrong = |error: kube::Error| ClusterError::of("look for what a run has left", &error);
    if let Some(job) = api.jobs().get_opt(run).await.map_err(wrong)? {
        let pod = job.spec.and_then(|spec| spec.template.spec);
        let volumes = pod.as_ref().and_then(|pod| pod.volumes.clone()).unwrap_or_default();
        let claim = volumes.into_iter().find_map(|it| it.persistent_volume_claim);
        let image = pod.and_then(|pod| pod.containers.into_iter().next()?.image);
        let Some((claim, image)) = claim.zip(image) else {
            return Err(ClusterError::Wrong(format!(
                "{run} had no volume, and its driver's pod has ended; nothing is left of its folder"
            )));
        };
        let file = api.any("v1", "ConfigMap").get_opt(run).await.map_err(wrong)?;
        let file = file.and_then(|map| map.data["data"]["run.yaml"].as_str().map(str::to_owned));
        let file = file.and_then(|file| spec::parse(&file, "run.yaml", &[]).ok());
        let given = file.and_then(|file| file.on.kubernetes).unwrap_or_default();
        return Ok(LeftOver { claim: claim.claim_name, image, given });
    }
    let claim = api.any("v1", "PersistentVolumeClaim").get_opt(run).await.map_err(wrong)?;
    let mut notes = claim.and_then(|it| it.metadata.annotations).unwrap_or_default();
    let given = notes.get(SETTINGS_NOTE).and_then(|note| spec::Kubernetes::parse(note).ok());
    let unknown = || {
        let namespace = &api.namespace;
        ClusterError::Wrong(format!(
            "there is no run {run} in namespace {namespace}; `trainyard ls --on kubernetes` lists them"
        ))
    };
    let image = notes.remove(IMAGE_NOTE).ok_or_else(unknown)?;
    Ok(LeftOver { claim: run.to_owned(), image, given: given.unwrap_or_default() })
}
