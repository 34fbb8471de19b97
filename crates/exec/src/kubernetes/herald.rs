//! Says on the run's Job what happens, where people who know Kubernetes look for it: `kubectl describe`,
//! `kubectl get events`.

use k8s_openapi::api::core::v1::{Event as Notice, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use train::{Event, Kind, describe};

use super::api::Api;
use super::cluster::Site;
use super::denials::Denials;

/// What is lost where events may not be made.
const NO_EVENTS: &str = "what happens is not said on the run's Job";

/// Says on a Job what happens.
#[derive(Clone, Debug)]
pub struct Herald {
    api: Api,
    job: ObjectReference,
    denials: Denials,
}

impl Herald {
    /// For the Job of a run's driver.
    pub fn new(api: &Api, site: &Site) -> Herald {
        let job = ObjectReference {
            api_version: Some("batch/v1".into()),
            kind: Some("Job".into()),
            name: Some(site.run.clone()),
            namespace: Some(site.namespace.clone()),
            uid: Some(site.owner.clone()),
            ..ObjectReference::default()
        };
        Herald { api: api.clone(), job, denials: Denials::default() }
    }

    /// Tells of an event, if it is one for people. Nobody waits for it, and it may get lost.
    pub fn tell(&self, event: &Event) {
        let Some((kind, reason)) = notable(&event.kind) else { return };
        let Some(message) = describe(event) else { return };
        let at = Timestamp::from_millisecond(event.ms as i64).ok().map(Time);
        let notice = Notice {
            metadata: ObjectMeta {
                generate_name: self.job.name.as_ref().map(|name| format!("{name}-")),
                namespace: self.job.namespace.clone(),
                ..ObjectMeta::default()
            },
            involved_object: self.job.clone(),
            type_: Some(kind.into()),
            reason: Some(reason.into()),
            message: Some(message.chars().take(1000).collect()),
            source: Some(EventSource { component: Some("trainyard".into()), host: None }),
            first_timestamp: at.clone(),
            last_timestamp: at,
            count: Some(1),
            ..Notice::default()
        };
        let (api, denials) = (self.api.clone(), self.denials.clone());
        tokio::spawn(async move {
            if let Err(error) = api.events().create(&PostParams::default(), &notice).await {
                denials.take(NO_EVENTS, &error);
            }
        });
    }
}

/// Whether an event is one for people, how it is meant, and in a word what it is.
fn notable(kind: &Kind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        Kind::RunStarted { .. } => ("Normal", "RunStarted"),
        Kind::Formed { generation: 2.., .. } => ("Normal", "GroupFormed"),
        Kind::Delayed { .. } => ("Warning", "ProcessDelayed"),
        Kind::ProcessLost { .. } => ("Warning", "ProcessLost"),
        Kind::ProcessLeft { .. } => ("Normal", "ProcessLeft"),
        Kind::Published(_) => ("Normal", "ModelPublished"),
        Kind::TaskFailed { .. } => ("Warning", "TaskFailed"),
        Kind::RunDone {} => ("Normal", "RunDone"),
        Kind::RunFailed { .. } => ("Warning", "RunFailed"),
        Kind::RunStopped { .. } => ("Normal", "RunStopped"),
        _ => return None,
    })
}
