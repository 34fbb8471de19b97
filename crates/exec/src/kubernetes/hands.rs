//! Does on the cluster what is wished, and tries again where it cannot be done just now.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams, Preconditions, PropagationPolicy};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::api::{Api, ClusterError};
use super::cluster::Site;
use super::denials::Denials;
use super::objects::{Pool, pool_job, pool_service};
use super::seats::Wish;
use super::watch::News;

/// How long to wait before something is tried again: at first, and at most.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// What is left behind where pods and Jobs may not be deleted.
const NO_END: &str = "a pod that does not answer is not deleted";
const NO_CLEARING: &str = "a Job whose pods did not all end well is left behind";

/// What the cluster is asked with, and who is told where it refuses.
pub(crate) struct Hands {
    pub(crate) api: Api,
    pub(crate) site: Site,
    pub(crate) tell: UnboundedSender<News>,
    pub(crate) denials: Denials,
}

impl Hands {
    /// Fulfils wishes until there are no more, and all are.
    pub(crate) async fn work(self, mut wishes: UnboundedReceiver<Wish>) {
        let hands = Arc::new(self);
        let mut under_way = JoinSet::new();
        // How many pods each Job is to have. What is tried again asks for what is wanted by then.
        let mut sizes: BTreeMap<String, watch::Sender<u32>> = BTreeMap::new();
        while let Some(wish) = wishes.recv().await {
            let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
            let mut next = Some(wish);
            // Those that are made together are made at once.
            while let Some(wish) = next {
                match wish {
                    Wish::Grow(pool, count) => {
                        let size = sizes.entry(pool.name.clone()).or_default();
                        size.send_modify(|size| *size = count.max(*size));
                        pools.insert(pool.name.clone(), pool);
                    }
                    Wish::Delete { pod, uid } => {
                        let hands = hands.clone();
                        under_way.spawn(async move { hands.delete_pod(&pod, &uid).await });
                    }
                    Wish::DeleteJob(job) => {
                        let hands = hands.clone();
                        under_way.spawn(async move { hands.delete_job(&job).await });
                    }
                }
                next = wishes.try_recv().ok();
            }
            for (name, pool) in pools {
                let (hands, size) = (hands.clone(), sizes.entry(name).or_default().subscribe());
                under_way.spawn(async move { hands.grow(&pool, &size).await });
            }
            while under_way.try_join_next().is_some() {}
        }
        while under_way.join_next().await.is_some() {}
    }

    async fn grow(&self, pool: &Pool, size: &watch::Receiver<u32>) {
        let outline = self.site.outline();
        let service = pool_service(&outline, pool);
        let mut done = 0;
        // Another may be asking for more at the same time, and be heard first.
        while done < *size.borrow() {
            let count = *size.borrow();
            self.until_done(&pool.name, async || {
                unless_there(self.api.create(&service).await)?;
                if !unless_there(self.api.create(&pool_job(&outline, pool, count)).await)? {
                    let size = json!({ "spec": { "completions": count, "parallelism": count } });
                    patch_job(&self.api, &pool.name, &size).await?;
                }
                Ok(())
            })
            .await;
            done = count;
        }
    }

    async fn delete_pod(&self, pod: &str, uid: &str) {
        // At once: its node may be gone, and then nobody would tell that the pod is.
        let which = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        let how = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(which),
            ..DeleteParams::default()
        };
        self.until_done(pod, async || match self.api.pods().delete(pod, &how).await {
            // Nobody is given a right while we wait.
            Err(error) if self.denials.take(NO_END, &error) => Ok(()),
            other => unless_gone(other.map(drop).map_err(|e| ClusterError::of("delete a pod", &e))),
        })
        .await;
    }

    async fn delete_job(&self, job: &str) {
        self.until_done(job, async || match self.api.jobs().delete(job, &with_pods()).await {
            Err(error) if self.denials.take(NO_CLEARING, &error) => Ok(()),
            other => deleted(job, other.map(drop)),
        })
        .await;
    }

    /// Does something until it is done. What the cluster refuses is told, and tried again all the same:
    /// a quota may be raised.
    async fn until_done<F: Future<Output = Result<(), ClusterError>>>(
        &self,
        object: &str,
        what: impl Fn() -> F,
    ) {
        let mut pause = FIRST;
        while let Err(error) = what().await {
            if !error.is_passing() {
                let (object, why) = (object.to_owned(), error.to_string());
                let _ = self.tell.send(News::Warning { object, why });
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// Changes a Job.
pub(crate) async fn patch_job(
    api: &Api,
    job: &str,
    change: &serde_json::Value,
) -> Result<(), ClusterError> {
    let changed = api.jobs().patch(job, &PatchParams::default(), &Patch::Merge(change)).await;
    changed.map(drop).map_err(|error| ClusterError::of(&format!("change the Job {job}"), &error))
}

/// Deletes a Job and its pods.
pub(crate) async fn delete_job(api: &Api, job: &str) -> Result<(), ClusterError> {
    deleted(job, api.jobs().delete(job, &with_pods()).await.map(drop))
}

fn with_pods() -> DeleteParams {
    let propagation_policy = Some(PropagationPolicy::Background);
    DeleteParams { propagation_policy, ..DeleteParams::default() }
}

fn deleted(job: &str, answer: Result<(), kube::Error>) -> Result<(), ClusterError> {
    unless_gone(answer.map_err(|e| ClusterError::of(&format!("delete the Job {job}"), &e)))
}

/// Whether something was made that may have been there already.
fn unless_there<T>(made: Result<T, ClusterError>) -> Result<bool, ClusterError> {
    match made {
        Ok(_) => Ok(true),
        Err(error) if error.code() == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is gone already, or is another by now, need not be deleted.
fn unless_gone(deleted: Result<(), ClusterError>) -> Result<(), ClusterError> {
    match deleted {
        Err(error) if matches!(error.code(), 404 | 409) => Ok(()),
        other => other,
    }
}
