//! What a run's page is on a cluster: a Deployment that has no pods until the run is done, a Service, the token
//! that whoever asks must know, and who may call.
//!
//! All of it is made when the run begins, so that it belongs to the run's Job, and so that the driver needs no
//! right but to let the pods come. The model is on the run's volume, which those pods read when the driver is
//! gone; where there is no volume, the driver puts it into a ConfigMap.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use plan::Serving;
use serde_json::{Value, json};

use super::super::names::{Part, RUN_LABEL, labels, page};
use super::pod::Pod;
use super::{Outline, RUNS_FOLDER, Rule};

/// Where a pod has the token, and the model where that is on no volume.
const KEYS_FOLDER: &str = "/etc/trainyard/keys";
const MODEL_FOLDER: &str = "/model";
/// What a pod takes beside the weights, of which there are those of the file and those that compute.
const PROGRAM: u64 = 64 << 20;
/// How long what was asked may take to be answered, and how long others may take to hear that a pod leaves.
const GRACE: u32 = 45;
const LEAVING: &str = "3";
/// How often a pod that loads is looked at, and how often that may be in vain: a gallery takes minutes.
const STARTING: (u32, u32) = (1, 600);

/// A page that is made.
#[derive(Clone, Debug)]
pub struct Page {
    /// What the run file asks for.
    pub serving: Serving,
    /// What whoever asks must know.
    pub token: String,
    /// What the model's weights are, in bytes.
    pub weights: u64,
}

impl Page {
    /// What its objects are called.
    pub fn name(&self, run: &str) -> String {
        page(run, &self.serving.id)
    }

    /// What the driver does for it beside the rest.
    pub fn policy(claim: Option<&str>) -> Vec<Rule> {
        let mut rules: Vec<Rule> = vec![("apps", "deployments", &["patch"])];
        if claim.is_none() {
            rules.push(("", "configmaps", &["create"]));
        }
        rules
    }

    /// All its objects.
    pub fn objects(&self, outline: &Outline<'_>, claim: Option<&str>) -> Vec<Value> {
        vec![
            self.secret(outline),
            self.service(outline),
            self.network_policy(outline),
            self.deployment(outline, claim),
        ]
    }

    fn secret(&self, outline: &Outline<'_>) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": outline.metadata(&self.name(outline.run)),
            "type": "Opaque",
            "stringData": { "token": self.token },
        })
    }

    fn service(&self, outline: &Outline<'_>) -> Value {
        let port = self.serving.serve.port.unwrap_or(spec::Serve::PORT);
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": outline.metadata(&self.name(outline.run)),
            "spec": {
                "type": outline.given.service.as_str(),
                "selector": selector(outline.run),
                "ports": [{
                    "name": "http",
                    "port": port,
                    "targetPort": Part::Serve.port(outline.given),
                }],
            },
        })
    }

    /// That everybody may call it: who asks is asked for the token.
    fn network_policy(&self, outline: &Outline<'_>) -> Value {
        let port = Part::Serve.port(outline.given);
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": outline.metadata(&self.name(outline.run)),
            "spec": {
                "podSelector": { "matchLabels": selector(outline.run) },
                "policyTypes": ["Ingress"],
                "ingress": [{ "ports": [{ "protocol": "TCP", "port": port }] }],
            },
        })
    }

    fn deployment(&self, outline: &Outline<'_>, claim: Option<&str>) -> Value {
        let mut deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": outline.metadata(&self.name(outline.run)),
            "spec": {
                // The driver lets the pods come when the run is done.
                "replicas": 0,
                "revisionHistoryLimit": 2,
                "selector": { "matchLabels": selector(outline.run) },
                // The next pod is ready before the last one leaves.
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 },
                },
                "template": self.pod(outline, claim).template(outline),
            },
        });
        deployment["metadata"]["labels"] = labels(outline.run, Some(Part::Serve), None);
        deployment
    }

    fn pod<'a>(&self, outline: &'a Outline<'_>, claim: Option<&str>) -> Pod<'a> {
        let name = self.name(outline.run);
        let mount =
            |name: &str, path: &str| json!({ "name": name, "mountPath": path, "readOnly": true });
        let model = match claim {
            Some(claim) => (
                json!({ "name": "runs", "persistentVolumeClaim": { "claimName": claim } }),
                mount("runs", RUNS_FOLDER),
            ),
            None => (
                json!({ "name": "model", "configMap": { "name": name } }),
                mount("model", MODEL_FOLDER),
            ),
        };
        let keys =
            json!({ "name": "keys", "secret": { "secretName": name, "defaultMode": 0o440 } });
        let tmp = json!({ "name": "tmp", "mountPath": "/tmp" });
        Pod {
            part: Part::Serve,
            task: None,
            arguments: self.arguments(outline, claim.is_some()),
            env: json!([
                { "name": "TRAINYARD_RUNS", "value": RUNS_FOLDER },
                { "name": "TRAINYARD_CACHE", "value": "/tmp/cache" },
            ]),
            volumes: vec![
                model,
                (keys, mount("keys", KEYS_FOLDER)),
                (json!({ "name": "tmp", "emptyDir": {} }), tmp),
            ],
            node_selector: outline.given.serve.labels(0),
            memory: PROGRAM + 3 * self.weights,
            service_account: None,
            subdomain: None,
            grace_seconds: GRACE,
            container: watched(),
            spec: json!({ "restartPolicy": "Always", "affinity": near(outline.run) }),
        }
    }

    /// What is served, and how.
    fn arguments(&self, outline: &Outline<'_>, on_volume: bool) -> Vec<String> {
        let (serve, run) = (&self.serving.serve, outline.run);
        let model = match on_volume {
            true => format!("{RUNS_FOLDER}/{run}/models/{}", self.serving.model),
            false => MODEL_FOLDER.to_owned(),
        };
        let named = [
            ("--host", "0.0.0.0".to_owned()),
            ("--port", Part::Serve.port(outline.given).to_string()),
            ("--token-file", format!("{KEYS_FOLDER}/token")),
            ("--combine", serve.combine.as_str().to_owned()),
            ("--batch", serve.batch.to_string()),
            ("--wait", serve.wait.get().as_millis().to_string()),
            ("--queue", serve.queue.to_string()),
        ];
        let gallery = serve.gallery.clone().map(|folder| ("--gallery", folder));
        let named = named.into_iter().chain(gallery);
        let named = named.flat_map(|(name, value)| [name.to_owned(), value]);
        ["serve".to_owned(), model].into_iter().chain(named).collect()
    }
}

/// The model of a page that has no volume: its files, and the report that says how good it is.
pub fn model_map(outline: &Outline<'_>, name: &str, files: &BTreeMap<String, Vec<u8>>) -> Value {
    let encoded = files.iter().map(|(name, bytes)| (name.clone(), ByteString(bytes.clone())));
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": outline.metadata(name),
        // What was published never changes.
        "immutable": true,
        "binaryData": encoded.collect::<BTreeMap<String, ByteString>>(),
    })
}

/// What tells a run's pods that serve from all others.
fn selector(run: &str) -> Value {
    json!({ RUN_LABEL: run, "app.kubernetes.io/component": Part::Serve.name() })
}

/// When it takes requests, when it is to be started again, and that it leaves when nobody sends it more.
fn watched() -> Value {
    let ask = |path: &str| json!({ "path": path, "port": "trainyard" });
    let (every, most) = STARTING;
    json!({
        "startupProbe": {
            "httpGet": ask("/healthz"), "periodSeconds": every, "failureThreshold": most,
        },
        "readinessProbe": { "httpGet": ask("/readyz"), "periodSeconds": 2, "timeoutSeconds": 2 },
        "livenessProbe": {
            "httpGet": ask("/healthz"), "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 6,
        },
        "lifecycle": {
            "preStop": { "exec": { "command": ["/usr/bin/trainyard", "rest", "--seconds", LEAVING] } },
        },
    })
}

/// On the driver's node, or that of others like it, where that can be: a volume may be had by one node at a time.
fn near(run: &str) -> Value {
    let parts = [Part::Driver, Part::Serve].map(Part::name);
    json!({ "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
        "weight": 100,
        "podAffinityTerm": {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {
                "matchLabels": { RUN_LABEL: run },
                "matchExpressions": [
                    { "key": "app.kubernetes.io/component", "operator": "In", "values": parts },
                ],
            },
        },
    }] } })
}
