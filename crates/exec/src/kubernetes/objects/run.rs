//! What a run begins with: its file, its keys, its driver.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::names::{DRIVER_PORT, Part, driver_service, labels};
use super::Outline;
use super::pod::Pod;

/// Where the driver's pod has the run file, the keys, and the runs.
const FILE_FOLDER: &str = "/etc/trainyard/run";
const KEYS_FOLDER: &str = "/etc/trainyard/keys";
/// Where runs are in a driver's pod.
pub const RUNS_FOLDER: &str = "/runs";
/// Where files of the user's are there that runs read, each in a folder named by its hash.
pub const INPUTS_FOLDER: &str = "/runs/inputs";
/// How long the driver may take to leave: it has nothing to save.
const DRIVER_GRACE: u32 = 10;
/// How often the driver is tried again. Whatever ends a run for good sets it to nothing.
pub(crate) const TRIES: u32 = 1_000_000;

/// The run file, as it is carried.
pub fn config_map(outline: &Outline<'_>, files: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": outline.metadata(outline.run),
        "data": files,
    })
}

/// What the run's processes know each other by. Every driver of the run has a certificate of its own,
/// so none is named: the secret alone tells.
pub fn secret(outline: &Outline<'_>, join: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": outline.metadata(outline.run),
        "type": "Opaque",
        "stringData": { "join.json": join },
    })
}

/// The Service by which processes reach the driver, wherever its pod is just now.
pub fn driver_service_object(outline: &Outline<'_>) -> Value {
    let selector = labels(outline.run, Some(Part::Driver), None);
    let of = |label: &str| (label.to_owned(), selector[label].clone());
    let selector = ["app.kubernetes.io/component", super::super::names::RUN_LABEL].map(of);
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": outline.metadata(&driver_service(outline.run)),
        "spec": {
            "selector": serde_json::Map::from_iter(selector),
            // A driver that listens is one to call, whatever else it does.
            "publishNotReadyAddresses": true,
            "ports": [{
                "name": "trainyard",
                "port": DRIVER_PORT,
                "targetPort": Part::Driver.port(outline.given),
            }],
        },
    })
}

/// The driver. Deleting this Job deletes everything that the run made.
pub fn driver_job(outline: &Outline<'_>, claim: Option<&str>, memory: u64) -> Value {
    let port = Part::Driver.port(outline.given);
    let listen = format!("$(POD_IP):{port}");
    let mut arguments = vec![
        "drive",
        outline.run,
        "--file",
        "/etc/trainyard/run/run.yaml",
        "--join",
        "/etc/trainyard/keys/join.json",
        "--listen",
        &listen,
    ];
    if claim.is_none() {
        // What was made is in the pod alone.
        arguments.extend(["--linger", "3600"]);
    }
    let template = driver_pod(outline, claim, &arguments, memory).template(outline);
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": outline.metadata(outline.run),
        "spec": { "backoffLimit": TRIES, "template": template },
    });
    job["metadata"]["labels"] = labels(outline.run, Some(Part::Driver), None);
    job
}

/// A pod that holds the run's folder open for somebody to look into, for some minutes.
pub fn reader_pod(outline: &Outline<'_>, claim: &str) -> Value {
    let mut pod = driver_pod(outline, Some(claim), &["rest"], 0);
    pod.part = Part::Reader;
    pod.service_account = None;
    let keys = |(volume, _): &(Value, Value)| volume["name"] != "keys" && volume["name"] != "file";
    pod.volumes.retain(keys);
    alone(outline, "reader", &pod)
}

/// A pod that tells whether pods of the run could start, and know names.
pub fn probe_pod(outline: &Outline<'_>) -> Value {
    let mut pod = driver_pod(outline, None, &["probe", "kubernetes.default"], 0);
    pod.part = Part::Reader;
    pod.service_account = None;
    pod.volumes.clear();
    alone(outline, "probe", &pod)
}

/// A pod without a Job. There may be several of the kind, so the cluster names each.
fn alone(outline: &Outline<'_>, word: &str, pod: &Pod<'_>) -> Value {
    let mut template = pod.template(outline);
    let mut metadata = template["metadata"].take();
    metadata["generateName"] = format!("{}-{word}-", outline.run).into();
    metadata["namespace"] = outline.namespace.into();
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"] })
}

fn driver_pod<'a>(
    outline: &'a Outline<'_>,
    claim: Option<&str>,
    arguments: &[&str],
    memory: u64,
) -> Pod<'a> {
    let field = |name: &str, path: &str| json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } });
    let runs = match claim {
        Some(claim) => json!({ "name": "runs", "persistentVolumeClaim": { "claimName": claim } }),
        None => json!({ "name": "runs", "emptyDir": {} }),
    };
    let mount = |name: &str, path: &str| json!({ "name": name, "mountPath": path });
    let (file, keys) = (
        json!({ "name": "file", "configMap": { "name": outline.run } }),
        json!({ "name": "keys", "secret": { "secretName": outline.run, "defaultMode": 0o440 } }),
    );
    Pod {
        part: Part::Driver,
        task: None,
        arguments: arguments.iter().map(ToString::to_string).collect(),
        env: json!([
            field("POD_IP", "status.podIP"),
            field("TRAINYARD_NAMESPACE", "metadata.namespace"),
            field("TRAINYARD_JOB_UID", "metadata.labels['batch.kubernetes.io/controller-uid']"),
            { "name": "TRAINYARD_RUNS", "value": RUNS_FOLDER },
            { "name": "TRAINYARD_CACHE", "value": format!("{RUNS_FOLDER}/.cache") },
        ]),
        volumes: vec![
            (runs, mount("runs", RUNS_FOLDER)),
            (file, mount("file", FILE_FOLDER)),
            (keys, mount("keys", KEYS_FOLDER)),
            (json!({ "name": "tmp", "emptyDir": {} }), mount("tmp", "/tmp")),
        ],
        node_selector: outline.given.driver.labels(0),
        memory,
        service_account: Some(outline.account()),
        subdomain: None,
        grace_seconds: DRIVER_GRACE,
        container: Value::Null,
        spec: Value::Null,
    }
}
