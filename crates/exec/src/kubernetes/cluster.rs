//! Processes in pods: how a driver in a cluster starts and ends those that train. What prepares and
//! evaluates runs beside the driver, in its own pod.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kube::api::ListParams;
use plan::{Role, Task};
use store::RunDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::api::{Api, ClusterError};
use super::denials::Denials;
use super::follow::ending;
use super::hands::{self, Hands};
use super::names::Part;
use super::objects::Outline;
use super::seats::{Place, Seats, Sight, Staff, Wish};
use super::trouble::PodState;
use super::watch::{self, News};
use super::{log, names};
use crate::launch::{Launcher, Started};
use crate::{ExecError, Local};

/// How long pods may take to end that were told to.
const LEAVING: Duration = Duration::from_secs(20);
/// How long what is still to be done at the end may take.
const SETTLING: Duration = Duration::from_secs(30);
/// How long Jobs of an earlier driver may take to be gone.
const CLEARING: Duration = Duration::from_secs(60);

/// A run on a cluster, as its driver knows it.
#[derive(Clone, Debug)]
pub struct Site {
    /// `mnist-1`.
    pub run: String,
    /// Where it is.
    pub namespace: String,
    /// The image of every pod.
    pub image: String,
    /// What the run file asks for.
    pub given: spec::Kubernetes,
    /// The id of the driver's Job.
    pub owner: String,
}

impl Site {
    pub(crate) fn outline(&self) -> Outline<'_> {
        let Site { run, namespace, image, given, owner } = self;
        Outline { run, namespace, image, given, owner: Some(owner) }
    }
}

/// Starts processes as pods.
pub struct Cluster {
    api: Api,
    local: Local,
    run: RunDir,
    seats: Seats,
    /// The driver's node.
    node: Option<String>,
    /// Pods that were there when this driver began.
    found: Vec<Sight>,
    /// Tasks that have ended, and whose pods may still be about to.
    closed: BTreeSet<String>,
    /// Pods whose logs are written down.
    followed: BTreeSet<String>,
    logs: JoinSet<()>,
    denials: Denials,
    wishes: UnboundedSender<Wish>,
    news: UnboundedReceiver<News>,
    hands: JoinHandle<()>,
}

impl Cluster {
    /// Takes charge of a run's pods, those of an earlier driver included.
    pub async fn open(
        api: Api,
        site: Site,
        local: Local,
        run: RunDir,
    ) -> Result<Cluster, ClusterError> {
        let jobs = existing(&api, &site).await?;
        let pods =
            api.pods().list(&ListParams::default().labels(&watch::selector(&site.run))).await;
        let pods = pods.map_err(|error| ClusterError::of("list pods", &error))?;
        let found = pods.items.iter().filter_map(watch::sight).collect();
        let node = own_node(&api, &site.run).await?;
        let (tell, news) = unbounded_channel();
        let (wishes, wished) = unbounded_channel();
        let (denials, of) = (Denials::default(), || (api.clone(), site.run.clone()));
        tokio::spawn(watch::pods(of(), denials.clone(), tell.clone()));
        tokio::spawn(watch::warnings(of(), denials.clone(), tell.clone()));
        let seats = Seats::new(&site.run, &site.given, jobs);
        let hands = Hands { api: api.clone(), site, tell, denials: denials.clone() };
        let hands = tokio::spawn(hands.work(wished));
        Ok(Cluster {
            api,
            local,
            run,
            seats,
            node,
            found,
            closed: BTreeSet::new(),
            followed: BTreeSet::new(),
            logs: JoinSet::new(),
            denials,
            wishes,
            news,
            hands,
        })
    }

    /// Whether pods of an earlier driver are there.
    pub fn found_pods(&self) -> bool {
        self.found.iter().any(|sight| sight.state.ending().is_none())
    }

    /// Sees to it that nothing of the run is left that would go on: pods that are about to end are waited
    /// for, and their logs; and Jobs whose pods did not all end well are deleted.
    pub async fn settle(mut self) {
        let _ = timeout(LEAVING, async {
            while !self.seats.unfinished(&self.closed).is_empty() {
                let Some(news) = self.news.recv().await else { return };
                self.take(news);
            }
        })
        .await;
        let _ = timeout(LEAVING, async { while self.logs.join_next().await.is_some() {} }).await;
        for job in self.seats.unfinished(&self.closed) {
            self.wish(Wish::DeleteJob(job));
        }
        let Cluster { wishes, hands, .. } = self;
        drop(wishes);
        let _ = timeout(SETTLING, hands).await;
    }

    fn wish(&self, wish: Wish) {
        // Whoever fulfils wishes does so until there are no more.
        let _ = self.wishes.send(wish);
    }

    fn absorb(&mut self) {
        while let Ok(news) = self.news.try_recv() {
            self.take(news);
        }
    }

    fn take(&mut self, news: News) {
        let sight = match news {
            News::Warning { object, why } => return self.seats.warn(&object, &why),
            News::Pod(sight) => sight,
        };
        let (pod, container) = (sight.pod.clone(), sight.container.clone());
        let begun = !matches!(sight.state, PodState::Waiting(_));
        let Some((process, task)) = self.seats.see(sight) else { return };
        if begun && self.followed.insert(pod.clone()) {
            let path = self.run.log(&task, process as usize);
            let of = (pod, container);
            self.logs.spawn(log::follow(self.api.clone(), of, path, self.denials.clone()));
        }
    }
}

impl Launcher for Cluster {
    fn start(&mut self, task: &Task, process: u32, serves: bool) -> Result<Started, ExecError> {
        if !matches!(task.role, Role::Worker { .. }) {
            return self.local.start(task, process, serves);
        }
        let part = if serves { Part::Server } else { Part::Worker };
        let (place, wish) = self.seats.start(task, process, part);
        self.wish(wish);
        Ok(Started { pid: 0, ticks: None, place: Some(place.name()) })
    }

    fn adopt(&mut self, task: &Task, process: u32, started: &Started) -> bool {
        let Some(place) = started.place.as_deref().and_then(Place::parse) else {
            return self.local.adopt(task, process, started);
        };
        let here = |sight: &&Sight| sight.place == place && sight.state.ending().is_none();
        let lives = self.found.iter().any(|sight| here(&sight));
        if lives {
            self.seats.sit(task, process, place);
        }
        lives
    }

    fn kill(&mut self, process: u32) {
        match self.seats.kill(process) {
            Some(Some(wish)) => self.wish(wish),
            Some(None) => {}
            None => self.local.kill(process),
        }
    }

    fn ended(&mut self) -> Vec<(u32, String)> {
        self.absorb();
        let mut ended = self.local.ended();
        ended.append(&mut self.seats.ended);
        ended
    }

    fn at(&self, place: &str) -> Option<u32> {
        self.seats.at(place)
    }

    fn delayed(&mut self) -> Vec<(u32, String)> {
        std::mem::take(&mut self.seats.delayed)
    }

    fn is_near(&self, process: u32) -> bool {
        self.node.is_some() && self.seats.node(process) == self.node.as_deref()
    }

    fn close(&mut self, task: &str) {
        self.closed.insert(task.to_owned());
    }
}

/// The node of the driver's newest pod.
async fn own_node(api: &Api, run: &str) -> Result<Option<String>, ClusterError> {
    let own = ListParams::default().labels(&names::driver_selector(run));
    let pods = api.pods().list(&own).await.map_err(|e| ClusterError::of("list pods", &e))?.items;
    let newest = pods.into_iter().max_by_key(|pod| pod.metadata.creation_timestamp.clone());
    Ok(newest.and_then(|pod| pod.spec?.node_name))
}

/// The Jobs of workers that are there already, and how many pods each has had. Those that have ended, or
/// are not of this driver's Job, go first.
async fn existing(api: &Api, site: &Site) -> Result<BTreeMap<String, Staff>, ClusterError> {
    let wrong = |error: kube::Error| ClusterError::of("list Jobs", &error);
    let ours = ListParams::default().labels(&watch::selector(&site.run));
    let stale = |job: &Job| {
        let owners = job.metadata.owner_references.iter().flatten();
        let is_ours = owners.into_iter().any(|owner| owner.uid == site.owner);
        !is_ours || job.metadata.deletion_timestamp.is_some() || ending(job).is_some()
    };
    for job in api.jobs().list(&ours).await.map_err(wrong)?.items.iter().filter(|job| stale(job)) {
        hands::delete_job(api, job.metadata.name.as_deref().unwrap_or_default()).await?;
    }
    let cleared = timeout(CLEARING, async {
        loop {
            let jobs = api.jobs().list(&ours).await.map_err(wrong)?.items;
            if !jobs.iter().any(stale) {
                return Ok(jobs);
            }
            sleep(Duration::from_millis(300)).await;
        }
    });
    let jobs = cleared.await.map_err(|_| {
        let run = &site.run;
        ClusterError::Wrong(format!("Jobs of an earlier driver of {run} cannot be deleted"))
    })??;
    let staff = |job: &Job| {
        let task = job.metadata.labels.as_ref()?.get(names::TASK_LABEL)?.clone();
        let next = u32::try_from(job.spec.as_ref()?.completions?).ok()?;
        Some((job.metadata.name.clone()?, Staff { task, next, ..Staff::default() }))
    };
    Ok(jobs.iter().filter_map(staff).collect())
}

/// What ends a run for good: its driver is not tried again. The pod that says so stays until it ends by
/// itself, hence the count of those that failed before it.
pub async fn give_up(api: &Api, run: &str) -> Result<(), ClusterError> {
    let own = ListParams::default().fields(&format!("metadata.name={run}"));
    let jobs =
        api.jobs().list(&own).await.map_err(|error| ClusterError::of("list Jobs", &error))?;
    let status = jobs.items.into_iter().next().and_then(|job| job.status);
    let failed = status.and_then(|status| status.failed).unwrap_or(0);
    hands::patch_job(api, run, &serde_json::json!({ "spec": { "backoffLimit": failed } })).await
}

/// Where processes in pods find their driver.
pub fn address(run: &str) -> String {
    format!("{}:{}", names::driver_service(run), names::DRIVER_PORT)
}
