//! The pods of one kind that work on a task: an Indexed Job and the Service that names them.
//!
//! A pod that has ended well is never started again. In the place of one that died the driver asks for
//! one more, with a number of its own, for a Job waits longer and longer before it tries the same number
//! again; when it does, that pod is told that it is not needed, and ends well.

use serde_json::{Value, json};

use super::super::names::{Part, labels};
use super::Outline;
use super::pod::Pod;

/// How long a worker may take to save and hand over what it holds.
const GRACE: u32 = 30;
/// How long a worker waits for a driver, in seconds.
const PATIENCE: &str = "600";
/// A pod is tried again however often it died: the driver decides when it is enough.
const TRIES: u32 = 1_000_000;

/// Pods of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The name of their Job.
    pub name: String,
    /// What they work on.
    pub task: String,
    /// Workers or servers.
    pub part: Part,
    /// Which place they are for, where each has nodes of its own.
    pub place: Option<usize>,
    /// What each of them needs, in bytes.
    pub memory: u64,
}

/// The Job of such pods, with so many of them.
pub fn pool_job(outline: &Outline<'_>, pool: &Pool, count: u32) -> Value {
    let port = pool.part.port(outline.given);
    let place = format!("{}-$(JOB_COMPLETION_INDEX)", pool.name);
    let address = format!("$(POD_IP):{port}");
    let listens = match pool.part {
        Part::Server => ["--listen", "$(POD_IP):0", "--door", &address].to_vec(),
        _ => ["--listen", &address].to_vec(),
    };
    let arguments = [
        "worker",
        "--join",
        "/etc/trainyard/keys/join.json",
        "--scratch",
        "/scratch",
        "--no-shared-memory",
        "--place",
        &place,
        "--patience",
        PATIENCE,
    ];
    let keys = json!({
        "name": "keys",
        "secret": {
            "secretName": outline.run,
            "defaultMode": 0o440,
            "items": [{ "key": "join.json", "path": "join.json" }],
        },
    });
    let mount = |name: &str, path: &str| json!({ "name": name, "mountPath": path });
    let pod = Pod {
        part: pool.part,
        task: Some(&pool.task),
        arguments: arguments.iter().chain(&listens).map(ToString::to_string).collect(),
        env: json!([{
            "name": "POD_IP", "valueFrom": { "fieldRef": { "fieldPath": "status.podIP" } },
        }]),
        volumes: vec![
            (keys, mount("keys", "/etc/trainyard/keys")),
            (json!({ "name": "scratch", "emptyDir": {} }), mount("scratch", "/scratch")),
            (json!({ "name": "tmp", "emptyDir": {} }), mount("tmp", "/tmp")),
        ],
        node_selector: pool.part.pods(outline.given).labels(pool.place.unwrap_or(0)),
        memory: pool.memory,
        service_account: None,
        subdomain: Some(&pool.name),
        grace_seconds: GRACE,
        container: Value::Null,
        spec: Value::Null,
    };
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": outline.metadata(&pool.name),
        "spec": {
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            "backoffLimitPerIndex": TRIES,
            "template": pod.template(outline),
        },
    });
    job["metadata"]["labels"] = labels(outline.run, Some(pool.part), Some(&pool.task));
    job
}

/// The Service that gives each of them a name: `mnist-1-train-0.mnist-1-train`.
pub fn pool_service(outline: &Outline<'_>, pool: &Pool) -> Value {
    let port = pool.part.port(outline.given);
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": outline.metadata(&pool.name),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": { "batch.kubernetes.io/job-name": pool.name },
            "ports": [{ "name": "trainyard", "port": port }],
        },
    })
}
