//! Objects are JSON, in which a misspelt field would be seen by nobody. The types of Kubernetes leave out
//! what they do not know, so an object is right where they write what they read.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{
    ConfigMap, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use serde_json::Value;

use crate::settings;

/// What a kind of objects reads and writes.
type Again = fn(&Value) -> Result<Value, serde_json::Error>;

fn again<T: serde::de::DeserializeOwned + serde::Serialize>(
    object: &Value,
) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<T>(object.clone())?)
}

/// Every kind that we make.
const KINDS: [(&str, &str, Again); 11] = [
    ("apps/v1", "Deployment", again::<Deployment>),
    ("batch/v1", "Job", again::<Job>),
    ("networking.k8s.io/v1", "NetworkPolicy", again::<NetworkPolicy>),
    ("rbac.authorization.k8s.io/v1", "Role", again::<Role>),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", again::<RoleBinding>),
    ("v1", "ConfigMap", again::<ConfigMap>),
    ("v1", "PersistentVolumeClaim", again::<PersistentVolumeClaim>),
    ("v1", "Pod", again::<Pod>),
    ("v1", "Secret", again::<Secret>),
    ("v1", "Service", again::<Service>),
    ("v1", "ServiceAccount", again::<ServiceAccount>),
];

/// What the type of an object makes of it.
fn read(object: &Value) -> Value {
    let is = |(version, kind, _): &&(&str, &str, Again)| {
        object["apiVersion"] == *version && object["kind"] == *kind
    };
    let Some((_, kind, again)) = KINDS.iter().find(is) else {
        panic!("there is no {} {}", object["apiVersion"], object["kind"]);
    };
    again(object).unwrap_or_else(|error| panic!("a {kind} that is none: {error}"))
}

#[test]
fn no_field_is_misspelt() {
    let mut kinds = vec![];
    for setting in settings::all() {
        for object in setting.objects() {
            assert_eq!(read(&object), object, "{}", setting.name);
            kinds.extend(object["kind"].as_str().map(str::to_owned));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    let mut all = KINDS.map(|(_, kind, _)| kind);
    all.sort_unstable();
    assert_eq!(kinds, all);
}

#[test]
fn a_field_that_is_misspelt_would_be_found() {
    let fields = ["/spec", "/spec/template/spec", "/spec/template/spec/containers/0"];
    let objects = settings::all()[0].objects();
    let job = objects.iter().find(|object| object["kind"] == "Job").unwrap();
    for field in fields {
        let mut job = job.clone();
        job.pointer_mut(field).unwrap()["misspelt"] = true.into();
        assert_ne!(read(&job), job, "{field}");
    }
}

#[test]
fn names_are_as_kubernetes_wants_them() {
    let right = |name: &str| {
        let letters =
            name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        letters && name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-')
    };
    for setting in settings::all() {
        for object in setting.objects() {
            let metadata = &object["metadata"];
            let named = metadata["name"].as_str().map(str::to_owned);
            // The cluster puts five letters behind it.
            let begun = metadata["generateName"].as_str().map(|begin| format!("{begin}abcde"));
            let name = named.or(begun).unwrap();
            // A pod of an Indexed Job has a number of up to ten digits behind its Job's name.
            let pods = object["spec"]["completionMode"] == "Indexed";
            assert!(right(&name) && name.len() <= if pods { 52 } else { 63 }, "{name}");
            for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
                for label in object.pointer(labels).and_then(Value::as_object).into_iter().flatten()
                {
                    assert!(label.1.as_str().unwrap().len() <= 63, "{name}: {label:?}");
                }
            }
        }
    }
}
