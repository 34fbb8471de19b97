//! Begins a run on a cluster: makes its objects, in an order in which one that stops half-way leaves
//! nothing that runs, and all that is left goes with the driver's Job.

use std::collections::BTreeMap;
use std::time::Duration;

use kube::api::{ListParams, PostParams};
use serde_json::{Value, json};
use spec::{NewClaim, Storage};

use super::api::{Api, ClusterError};
use super::follow::{Ended, ending};
use super::hands::patch_job;
use super::names::{NAME_LABEL, RUN_LABEL, number_of};
use super::objects::{self, Outline, Page};

/// The largest object that is made. A cluster's own limit is above a mebibyte, but its store is shared.
const LARGEST: usize = 64 << 10;

/// How many seconds each kind of what is left of an earlier driver may take to be gone.
const CLEARING: u32 = 60;

/// A run to be begun.
#[derive(Clone, Debug)]
pub struct Request {
    /// What it is called, without its number.
    pub name: String,
    /// The run file, resolved.
    pub file: String,
    /// What its processes prove to each other, in hexadecimal.
    pub secret: String,
    /// The image of every pod.
    pub image: String,
    /// What the run file asks for.
    pub given: spec::Kubernetes,
    /// What the driver needs for preparing and evaluating, in bytes.
    pub memory: u64,
    /// The page that the run ends with, if it does.
    pub page: Option<Page>,
}

/// The volume that a run's folder is on.
#[derive(Clone, Debug, PartialEq)]
pub enum Volume {
    /// None: it is in the driver's pod.
    None,
    /// One that is there.
    Named(String),
    /// One that is made, and named after the run.
    New(NewClaim),
}

impl Volume {
    /// What a file asks for; with `auto` it is for the cluster to say.
    pub fn asked(storage: &Storage) -> Option<Volume> {
        match storage {
            Storage::None => Some(Volume::None),
            Storage::Claim(claim) => Some(Volume::Named(claim.clone())),
            Storage::Pvc(wanted) => Some(Volume::New(wanted.clone())),
            Storage::Auto => None,
        }
    }

    /// The name of its claim, for a run.
    pub fn claim<'a>(&'a self, run: &'a str) -> Option<&'a str> {
        match self {
            Volume::None => None,
            Volume::Named(name) => Some(name),
            Volume::New(_) => Some(run),
        }
    }
}

impl Request {
    /// All objects of the run, the driver's Job last.
    pub fn objects(&self, outline: &Outline<'_>, volume: &Volume) -> Vec<Value> {
        let run = outline.run;
        let join = json!({
            "run": run,
            "address": super::address(run),
            "fingerprint": "",
            "secret": self.secret,
        });
        let claim = volume.claim(run);
        let mut all = vec![];
        if outline.given.service_account.is_none() {
            let more = self.page.as_ref().map_or(vec![], |_| Page::policy(claim));
            all.extend([
                objects::service_account(outline),
                objects::role(outline, &more),
                objects::role_binding(outline),
            ]);
        }
        let files = BTreeMap::from([("run.yaml".to_owned(), self.file.clone())]);
        all.extend([
            objects::config_map(outline, &files),
            objects::secret(outline, &join.to_string()),
            objects::driver_service_object(outline),
            objects::network_policy(outline),
        ]);
        all.extend(self.page.iter().flat_map(|page| page.objects(outline, claim)));
        if let Volume::New(wanted) = volume {
            all.push(objects::claim(outline, wanted));
        }
        all.push(objects::driver_job(outline, claim, self.memory));
        all
    }

    fn outline<'a>(
        &'a self,
        run: &'a str,
        namespace: &'a str,
        owner: Option<&'a str>,
    ) -> Outline<'a> {
        Outline { run, namespace, image: &self.image, given: &self.given, owner }
    }

    /// The objects of a run that is not begun: to be printed, and applied by somebody else.
    pub fn render(&self, run: &str, namespace: &str, volume: &Volume) -> Vec<Value> {
        self.objects(&self.outline(run, namespace, None), volume)
    }
}

/// What there is of the newest run of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing, or a run that is done, or one of another file.
    Nothing,
    /// A run of the same file that goes on.
    GoesOn(String),
    /// A run of the same file that was stopped or failed, and whose folder is on a volume.
    CanGoOn(String),
}

/// Looks for a run that the same file began.
pub async fn before(api: &Api, request: &Request) -> Result<Before, ClusterError> {
    let Some(number) = newest(api, &request.name).await? else { return Ok(Before::Nothing) };
    let run = format!("{}-{number}", request.name);
    let wrong = |error: kube::Error| ClusterError::of(&format!("show {run}"), &error);
    let file = api.any("v1", "ConfigMap").get_opt(&run).await.map_err(wrong)?;
    let file = file.and_then(|map| map.data["data"]["run.yaml"].as_str().map(str::to_owned));
    let job = api.jobs().get_opt(&run).await.map_err(wrong)?;
    let Some(job) = job.filter(|_| file.as_ref() == Some(&request.file)) else {
        return Ok(Before::Nothing);
    };
    let pod = job.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    let mut volumes = pod.into_iter().flat_map(|pod| pod.volumes.iter().flatten());
    let keeps = volumes.any(|volume| volume.persistent_volume_claim.is_some());
    Ok(match ending(&job) {
        None => Before::GoesOn(run),
        Some(Ended::Failed) if keeps => Before::CanGoOn(run),
        Some(_) => Before::Nothing,
    })
}

/// Begins a run that was stopped, or failed, once more: its folder tells how far it had come.
pub async fn resume(
    api: &Api,
    request: &Request,
    (run, volume): (&str, &Volume),
) -> Result<(), ClusterError> {
    super::hands::delete_job(api, run).await?;
    let page = request.page.as_ref().map(|_| ("apps/v1", "Deployment"));
    let kinds = [("batch/v1", "Job"), ("v1", "Secret"), ("v1", "ConfigMap"), ("v1", "Service")];
    let own = ListParams::default().labels(&format!("{RUN_LABEL}={run}"));
    for (version, kind) in kinds.into_iter().chain(page) {
        // The cluster removes what belonged to the Job in its own time.
        for _ in 0..CLEARING {
            let left = api.any(version, kind).list_metadata(&own).await;
            if left.is_ok_and(|left| left.items.is_empty()) {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
    begin(api, request, run, volume).await
}

/// Begins a run under the next free number. What it is called.
pub async fn submit(api: &Api, request: &Request, volume: &Volume) -> Result<String, ClusterError> {
    let mut number = newest(api, &request.name).await?.map_or(1, |newest| newest + 1);
    loop {
        let run = format!("{}-{number}", request.name);
        match begin(api, request, &run, volume).await {
            // Somebody else was faster.
            Err(error) if error.code() == 409 => number += 1,
            Err(error) => return Err(error),
            Ok(()) => return Ok(run),
        }
    }
}

async fn begin(
    api: &Api,
    request: &Request,
    run: &str,
    volume: &Volume,
) -> Result<(), ClusterError> {
    let outline = request.outline(run, &api.namespace, None);
    let mut objects = request.objects(&outline, volume);
    check_sizes(&objects)?;
    let mut job = objects.pop().unwrap_or_default();
    job["spec"]["suspend"] = true.into();
    let made = api.create(&job).await?;
    let uid = made.metadata.uid.unwrap_or_default();
    let begun = async {
        let outline = request.outline(run, &api.namespace, Some(&uid));
        let mut owned = request.objects(&outline, volume);
        owned.pop();
        for object in &owned {
            make(api, object).await?;
        }
        patch_job(api, run, &json!({ "spec": { "suspend": false } })).await
    };
    let begun = begun.await;
    if begun.is_err() {
        // All that was made goes with it.
        let _ = super::hands::delete_job(api, run).await;
    }
    begun
}

/// Makes an object. A volume of ours that is there is that of the same run.
async fn make(api: &Api, object: &Value) -> Result<(), ClusterError> {
    match api.create(object).await {
        Err(error) if error.code() == 409 && object["kind"] == "PersistentVolumeClaim" => Ok(()),
        Err(error) if error.code() == 409 => {
            let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
            Err(ClusterError::Wrong(format!(
                "there is a {} {} already, which is not of this run; delete it, or give the run \
                 another name",
                kind.as_str().unwrap_or_default(),
                name.as_str().unwrap_or_default()
            )))
        }
        Err(error) if error.code() == 403 && object["kind"] == "Role" => {
            Err(ClusterError::Wrong(format!(
                "{error}. Ask for a service account that may do what the Role of `trainyard render` \
                 says, and name it: `on.kubernetes.service_account`"
            )))
        }
        other => other.map(drop),
    }
}

fn check_sizes(objects: &[Value]) -> Result<(), ClusterError> {
    let large = objects.iter().find(|object| object.to_string().len() > LARGEST);
    large.map_or(Ok(()), |object| {
        let kind = object["kind"].as_str().unwrap_or_default();
        Err(ClusterError::Wrong(format!(
            "the {kind} would have more than {} KiB; is the run file that long?",
            LARGEST >> 10
        )))
    })
}

/// The highest number that a run of this name has, among what is left of runs too.
pub async fn newest(api: &Api, name: &str) -> Result<Option<u32>, ClusterError> {
    let of_name = ListParams::default().labels(&format!("{NAME_LABEL}={name}"));
    let mut newest = None;
    for (version, kind) in [("batch/v1", "Job"), ("v1", "PersistentVolumeClaim")] {
        let listed = api.any(version, kind).list_metadata(&of_name).await;
        let listed = listed.map_err(|error| ClusterError::of(&format!("list {kind}s"), &error))?;
        let names = listed.items.iter().filter_map(|object| object.metadata.name.as_deref());
        newest = newest.max(names.filter_map(|run| number_of(run, name)).max());
    }
    Ok(newest)
}

/// The volume that a run is to have, where the file leaves it open: a new one if the cluster has a class
/// of volumes that it takes by itself.
pub async fn volume(api: &Api, name: &str, storage: &Storage) -> Result<Volume, ClusterError> {
    if let Some(volume) = Volume::asked(storage) {
        return Ok(volume);
    }
    let wanted = NewClaim::default();
    // Classes belong to the whole cluster, and few may look at them. What would become of a claim, any
    // user may ask who may make one.
    let (image, given) = ("", &spec::Kubernetes::default());
    let outline = Outline { run: name, namespace: &api.namespace, image, given, owner: None };
    let mut claim = objects::claim(&outline, &wanted);
    claim["metadata"] = json!({ "generateName": "trainyard-" });
    let claim = serde_json::from_value(claim)
        .map_err(|error| ClusterError::Wrong(format!("a claim: {error}")))?;
    let ask = PostParams { dry_run: true, ..PostParams::default() };
    let would = api.any("v1", "PersistentVolumeClaim").create(&ask, &claim).await;
    let would = would.map_err(|error| ClusterError::of("make a volume", &error))?;
    Ok(match would.data["spec"]["storageClassName"].as_str() {
        Some(_) => Volume::New(wanted),
        None => Volume::None,
    })
}
