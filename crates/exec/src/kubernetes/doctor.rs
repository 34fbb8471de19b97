//! Looks, before anything is begun, at whether a run could take place: rights, volumes, quotas, and in a
//! pod of its own the image and names.

use std::collections::BTreeMap;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::ResourceQuota;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::{DeleteParams, ListParams, LogParams, PostParams};

use super::api::{Api, ClusterError};
use super::names::Part;
use super::objects::{Outline, POLICY, Page, Rule, probe_pod};
use super::reach::until_ended;
use super::submit::{Request, Volume, volume};
use super::trouble::PodState;

/// What the user who begins a run does: groups, resources, verbs.
const USER: [Rule; 8] = [
    ("batch", "jobs", &["create", "delete", "get", "list", "patch", "watch"]),
    ("", "configmaps", &["create", "get"]),
    ("", "secrets", &["create"]),
    ("", "services", &["create"]),
    ("", "pods", &["create", "delete", "get", "list", "watch"]),
    ("", "pods/log", &["get"]),
    ("", "pods/exec", &["create"]),
    ("", "events", &["list", "watch"]),
];
const POLICIES: Rule = ("networking.k8s.io", "networkpolicies", &["create"]);
const VOLUMES: Rule = ("", "persistentvolumeclaims", &["create", "delete", "get", "list"]);
/// What a page takes: it is made, found, and reached.
const PAGES: [Rule; 3] = [
    ("apps", "deployments", &["create", "list"]),
    ("", "secrets", &["get"]),
    ("", "pods/portforward", &["create"]),
];
/// What making a service account takes. Nobody may give away rights that are not theirs, so those of the
/// driver are needed too.
const ACCOUNTS: [Rule; 3] = [
    ("", "serviceaccounts", &["create"]),
    ("rbac.authorization.k8s.io", "roles", &["create"]),
    ("rbac.authorization.k8s.io", "rolebindings", &["create"]),
];

/// What was looked at, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub about: &'static str,
    /// What is to be done, if it is not right.
    pub wrong: Option<String>,
    /// What was found, where it is right.
    pub found: String,
}

impl Finding {
    fn right(about: &'static str, found: impl Into<String>) -> Finding {
        Finding { about, wrong: None, found: found.into() }
    }

    fn wrong(about: &'static str, advice: impl Into<String>) -> Finding {
        Finding { about, wrong: Some(advice.into()), found: String::new() }
    }
}

/// Looks at everything that a run needs; `pods` of them at once.
pub async fn examine(
    api: &Api,
    request: &Request,
    pods: usize,
) -> Result<Vec<Finding>, ClusterError> {
    let mut findings = rights(api, request).await?;
    findings.push(storage(api, request).await);
    findings.push(quota(api, pods).await);
    findings.extend(probe(api, request).await);
    Ok(findings)
}

async fn rights(api: &Api, request: &Request) -> Result<Vec<Finding>, ClusterError> {
    let (account, serves) = (request.given.service_account.as_deref(), request.page.is_some());
    let mut asked: Vec<_> = USER.into_iter().chain([POLICIES, VOLUMES]).collect();
    asked.extend(PAGES.into_iter().filter(|_| serves));
    let mut findings = vec![];
    findings.push(match missing(api, &asked).await?.as_slice() {
        [] => Finding::right("rights", format!("all that a user needs in {}", api.namespace)),
        lacking => Finding::wrong("rights", ask_for(api, lacking)),
    });
    if let Some(account) = account {
        findings
            .push(Finding::right("service account", format!("{account} is named, none is made")));
        return Ok(findings);
    }
    asked.clear();
    asked.extend(ACCOUNTS.into_iter().chain(POLICY));
    asked.extend(Page::policy(None).into_iter().filter(|_| serves));
    findings.push(match missing(api, &asked).await?.as_slice() {
        [] => Finding::right("service account", "can be made for each run"),
        lacking => Finding::wrong(
            "service account",
            format!(
                "{}; or for a service account with the Role that `trainyard render` prints, and name \
                 it: `on.kubernetes.service_account`",
                ask_for(api, lacking)
            ),
        ),
    });
    Ok(findings)
}

fn ask_for(api: &Api, lacking: &[String]) -> String {
    format!("ask the admin for these rights in namespace {}: {}", api.namespace, lacking.join(", "))
}

/// Which of these the user may not do.
async fn missing(api: &Api, asked: &[Rule]) -> Result<Vec<String>, ClusterError> {
    let reviews: kube::Api<SelfSubjectAccessReview> = kube::Api::all(api.client().clone());
    let mut lacking = vec![];
    for (group, resource, verbs) in asked {
        let (name, part) =
            resource.split_once('/').map_or((*resource, None), |(a, b)| (a, Some(b)));
        for verb in *verbs {
            let attributes = ResourceAttributes {
                group: Some((*group).into()),
                namespace: Some(api.namespace.clone()),
                resource: Some(name.into()),
                subresource: part.map(str::to_owned),
                verb: Some((*verb).into()),
                ..ResourceAttributes::default()
            };
            let review = SelfSubjectAccessReview {
                spec: SelfSubjectAccessReviewSpec {
                    resource_attributes: Some(attributes),
                    ..SelfSubjectAccessReviewSpec::default()
                },
                ..SelfSubjectAccessReview::default()
            };
            let answer = reviews.create(&PostParams::default(), &review).await;
            let answer = answer.map_err(|error| ClusterError::of("say what you may do", &error))?;
            if !answer.status.is_some_and(|status| status.allowed) {
                lacking.push(format!("{verb} {resource}"));
            }
        }
    }
    Ok(lacking)
}

async fn storage(api: &Api, request: &Request) -> Finding {
    match volume(api, &request.name, &request.given.storage).await {
        Ok(Volume::New(claim)) => {
            let class =
                claim.class.map_or("the default class".into(), |class| format!("class {class}"));
            Finding::right("storage", format!("a new volume of {} of {class}", claim.size))
        }
        Ok(Volume::None) => Finding::right(
            "storage",
            "none: the cluster has no default class of volumes, or none is wanted; the folder is in the \
             driver's pod, and `run` brings the model down",
        ),
        Ok(Volume::Named(name)) => {
            match api.any("v1", "PersistentVolumeClaim").get_opt(&name).await {
                Ok(Some(_)) => {
                    Finding::right("storage", format!("the volume claim {name} is there"))
                }
                _ => Finding::wrong(
                    "storage",
                    format!("make the volume claim {name}, or name another"),
                ),
            }
        }
        Err(error) => Finding::wrong("storage", error.to_string()),
    }
}

async fn quota(api: &Api, pods: usize) -> Finding {
    let quotas: kube::Api<ResourceQuota> =
        kube::Api::namespaced(api.client().clone(), &api.namespace);
    let Ok(quotas) = quotas.list(&ListParams::default()).await else {
        return Finding::right("quota", "you may not look at it");
    };
    for quota in quotas.items {
        let name = quota.metadata.name.unwrap_or_default();
        let amount = |amounts: Option<BTreeMap<String, Quantity>>| {
            amounts?.get("pods")?.0.parse::<usize>().ok()
        };
        let (hard, used) =
            quota.status.map_or((None, None), |it| (amount(it.hard), amount(it.used)));
        let free = hard.map(|hard| hard.saturating_sub(used.unwrap_or(0)));
        if let Some(free) = free.filter(|free| *free < pods) {
            return Finding::wrong(
                "quota",
                format!(
                    "{name} leaves {free} pods, and the run has {pods}; it would begin with fewer. Ask \
                     for more, or take fewer workers"
                ),
            );
        }
    }
    Finding::right("quota", format!("leaves room for {pods} pods"))
}

/// Has a pod started as those of the run are: whether it is allowed, gets its image, and knows names.
async fn probe(api: &Api, request: &Request) -> Vec<Finding> {
    let outline = Outline {
        run: &request.name,
        namespace: &api.namespace,
        image: &request.image,
        given: &request.given,
        owner: None,
    };
    let pod = match api.create(&probe_pod(&outline)).await {
        Ok(made) => made.metadata.name.unwrap_or_default(),
        Err(error) => return vec![Finding::wrong("pods", error.to_string())],
    };
    let ended = until_ended(api, &pod).await;
    let container = Some(Part::Reader.name().to_owned());
    let how = LogParams { container, ..LogParams::default() };
    let said = api.pods().logs(&pod, &how).await.unwrap_or_default();
    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    let _ = api.pods().delete(&pod, &now).await;
    match ended {
        Err(error) => vec![Finding::wrong("image", error.to_string())],
        Ok(state) => vec![
            Finding::right("image", format!("{} starts", request.image)),
            match state {
                PodState::Failed(how) => {
                    Finding::wrong("names", format!("a pod {how}: {}", said.trim()))
                }
                _ => Finding::right("names", said.trim().to_owned()),
            },
        ],
    }
}
