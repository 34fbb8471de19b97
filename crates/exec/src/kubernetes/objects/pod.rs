//! A pod of a run: what it runs, and that it may do no more. All of them meet the `restricted` Pod
//! Security Standard.

use serde_json::{Map, Value, json};

use super::super::names::{Part, labels};
use super::Outline;
use super::merge::{merge, merge_fields};

/// The user that the image names. It owns nothing.
const USER: u32 = 65532;
/// How soon a pod leaves a node that is not heard of any more. The usual five minutes are long for those
/// who wait for it.
const UNREACHABLE_SECONDS: u32 = 10;

/// What makes one pod different from another.
pub(crate) struct Pod<'a> {
    pub(crate) part: Part,
    pub(crate) task: Option<&'a str>,
    pub(crate) arguments: Vec<String>,
    pub(crate) env: Value,
    /// Volumes and where they are mounted.
    pub(crate) volumes: Vec<(Value, Value)>,
    /// Labels that its node must have.
    pub(crate) node_selector: Option<&'a spec::Labels>,
    /// What it is given where the file does not say.
    pub(crate) memory: u64,
    /// Whether it speaks with the cluster.
    pub(crate) service_account: Option<&'a str>,
    /// The name that its Service gives it.
    pub(crate) subdomain: Option<&'a str>,
    /// How long it may take to leave.
    pub(crate) grace_seconds: u32,
    /// What its container has beside all that, and what its spec has: mappings, or nothing.
    pub(crate) container: Value,
    pub(crate) spec: Value,
}

impl Pod<'_> {
    /// The template of such pods.
    pub(crate) fn template(&self, outline: &Outline<'_>) -> Value {
        let (given, labels) = (outline.given, labels(outline.run, Some(self.part), self.task));
        let (volumes, mounts): (Vec<_>, Vec<_>) = self.volumes.iter().cloned().unzip();
        let port = self.part.port(given);
        let mut container = json!({
            "name": self.part.name(),
            "image": outline.image,
            "imagePullPolicy": "IfNotPresent",
            "args": self.arguments,
            "env": self.env,
            "ports": [{ "name": "trainyard", "containerPort": port }],
            "volumeMounts": mounts,
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
        });
        let resources = self.resources(given);
        if resources.as_object().is_some_and(|resources| !resources.is_empty()) {
            container["resources"] = resources;
        }
        merge_fields(&mut container, self.container.as_object().unwrap_or(&Map::new()));
        let apart = spread(&labels);
        let mut pod = json!({
            "metadata": { "labels": labels },
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": self.service_account.is_some(),
                "enableServiceLinks": false,
                "terminationGracePeriodSeconds": self.grace_seconds,
                "securityContext": {
                    "runAsNonRoot": true,
                    "runAsUser": USER,
                    "runAsGroup": USER,
                    "fsGroup": USER,
                    "fsGroupChangePolicy": "OnRootMismatch",
                    "seccompProfile": { "type": "RuntimeDefault" },
                },
                "containers": [container],
                "volumes": volumes,
                "tolerations": [toleration("unreachable"), toleration("not-ready")],
            },
        });
        let spec = &mut pod["spec"];
        if let Some(account) = self.service_account {
            spec["serviceAccountName"] = account.into();
        }
        if let Some(subdomain) = self.subdomain {
            spec["subdomain"] = subdomain.into();
        }
        if let Some(labels) = self.node_selector {
            spec["nodeSelector"] = json!(labels);
        }
        if matches!(self.part, Part::Worker | Part::Server) {
            spec["topologySpreadConstraints"] = apart;
        }
        merge_fields(spec, self.spec.as_object().unwrap_or(&Map::new()));
        merge(&mut pod, &given.pod.0);
        pod
    }

    fn resources(&self, given: &spec::Kubernetes) -> Value {
        let spec::Pods { requests, limits, .. } = self.part.pods(given);
        let mut resources = Map::new();
        let mut requests = requests.clone();
        // Where there is a limit, Kubernetes takes it for the request too.
        if self.memory > 0 && !requests.contains_key("memory") && !limits.contains_key("memory") {
            requests.insert("memory".into(), format!("{}Mi", self.memory.div_ceil(1 << 20)));
        }
        for (name, amounts) in [("requests", &requests), ("limits", limits)] {
            if !amounts.is_empty() {
                resources.insert(name.into(), json!(amounts));
            }
        }
        Value::Object(resources)
    }
}

/// That a pod may stay for a moment on a node that is not heard of.
fn toleration(state: &str) -> Value {
    json!({
        "key": format!("node.kubernetes.io/{state}"),
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": UNREACHABLE_SECONDS,
    })
}

/// One to a node where that can be, and otherwise wherever there is room.
fn spread(labels: &Value) -> Value {
    let of = |label: &str| (label.to_owned(), labels[label].clone());
    let same = ["app.kubernetes.io/component", super::super::names::RUN_LABEL].map(of);
    json!([{
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": { "matchLabels": Map::from_iter(same) },
    }])
}
