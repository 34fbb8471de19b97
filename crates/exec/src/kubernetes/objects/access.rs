//! Who may do what: the driver's service account and its Role, and who may call the run's pods.

use serde_json::{Value, json};

use super::super::names::{Part, RUN_LABEL};
use super::Outline;

/// What somebody does: a group, resources of it, and verbs.
pub type Rule = (&'static str, &'static str, &'static [&'static str]);

/// What the driver does on a cluster, and nothing else; beside what a [`Page`](super::Page) takes.
pub const POLICY: [Rule; 5] = [
    // Workers and servers are Jobs; and its own Job is told when it is not to be tried again.
    ("batch", "jobs", &["create", "delete", "list", "patch"]),
    ("", "services", &["create"]),
    ("", "pods", &["delete", "list", "watch"]),
    ("", "pods/log", &["get"]),
    // It says on its Job what happens, and reads there why pods are not made.
    ("", "events", &["create", "list", "watch"]),
];

/// The account that the driver speaks with the cluster as.
pub fn service_account(outline: &Outline<'_>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": outline.metadata(outline.run),
        "automountServiceAccountToken": false,
    })
}

/// What that account may do: what all drivers do, and more where the run ends with a page.
pub fn role(outline: &Outline<'_>, more: &[Rule]) -> Value {
    let rule = |(group, resource, verbs): &Rule| json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs });
    let rules = POLICY.iter().chain(more).map(rule);
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": outline.metadata(outline.run),
        "rules": rules.collect::<Vec<_>>(),
    })
}

/// That it may.
pub fn role_binding(outline: &Outline<'_>) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": outline.metadata(outline.run),
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": outline.run },
        "subjects": [{
            "kind": "ServiceAccount", "name": outline.run, "namespace": outline.namespace,
        }],
    })
}

/// That only pods of the run may call pods of the run.
pub fn network_policy(outline: &Outline<'_>) -> Value {
    let ours = json!({ "matchLabels": { RUN_LABEL: outline.run } });
    let mut ports: Vec<u16> =
        [Part::Driver, Part::Worker, Part::Server].map(|part| part.port(outline.given)).into();
    ports.dedup();
    let ports: Vec<Value> =
        ports.iter().map(|port| json!({ "protocol": "TCP", "port": port })).collect();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": outline.metadata(outline.run),
        "spec": {
            "podSelector": ours,
            "policyTypes": ["Ingress"],
            "ingress": [{ "from": [{ "podSelector": ours }], "ports": ports }],
        },
    })
}
