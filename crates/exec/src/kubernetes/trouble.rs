//! What a pod's status says, in words that people act upon.

use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateTerminated, ContainerStateWaiting, Pod,
};

/// Where a pod stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// It has not begun, and will by itself; or it cannot, for a reason.
    Waiting(Option<String>),
    /// It runs.
    Running,
    /// It has ended well.
    Done,
    /// It has ended otherwise, and how, as part of a sentence.
    Failed(String),
}

impl PodState {
    /// How it ended, as part of a sentence, if it has.
    pub fn ending(&self) -> Option<&str> {
        match self {
            PodState::Done => Some("ended with code 0"),
            PodState::Failed(how) => Some(how),
            PodState::Waiting(_) | PodState::Running => None,
        }
    }
}

/// What schedulers say of a node that a pod's volume cannot be reached from.
const BOUND: [&str; 2] = ["volume node affinity conflict", "PersistentVolume's node affinity"];

/// The node that a pod was on and is not heard of any more, if that is so: the cluster has given the pod
/// up, and nobody knows whether it runs.
pub(crate) fn stranded_on(pod: &Pod) -> Option<String> {
    let given_up = pod.metadata.deletion_timestamp.is_some()
        && disruption(pod) == Some("DeletionByTaintManager")
        && pod_state(pod) == PodState::Running;
    given_up.then(|| node(pod))
}

/// What a pod printed last, if it failed and the cluster remembers.
pub(crate) fn last_words(pod: &Pod) -> Option<String> {
    let message = container_state(pod)?.terminated.as_ref()?.message.as_ref()?;
    let talk = |line: &&str| !line.is_empty() && !line.starts_with('{');
    message.lines().map(str::trim).rfind(talk).map(str::to_owned)
}

/// Reads a pod's status.
pub fn pod_state(pod: &Pod) -> PodState {
    let Some(status) = &pod.status else { return PodState::Waiting(None) };
    let leaves = pod.metadata.deletion_timestamp.is_some();
    let state = container_state(pod);
    let terminated = state.and_then(|state| state.terminated.as_ref());
    match status.phase.as_deref() {
        Some("Succeeded") => PodState::Done,
        Some("Failed") => match terminated {
            Some(ended) => ending(ended, pod),
            None => PodState::Failed(removal(pod).unwrap_or_else(|| "ended".into())),
        },
        Some("Running") => terminated.map_or(PodState::Running, |ended| ending(ended, pod)),
        _ if leaves => {
            let how = removal(pod).unwrap_or_else(|| "was deleted before it began".into());
            PodState::Failed(how)
        }
        _ => {
            let waiting = state.and_then(|state| state.waiting.as_ref());
            PodState::Waiting(waiting.and_then(|it| stuck(it, pod)).or_else(|| unschedulable(pod)))
        }
    }
}

/// Where our container stands: the first of the pod, whoever put others beside it.
fn container_state(pod: &Pod) -> Option<&ContainerState> {
    let ours = &pod.spec.as_ref()?.containers.first()?.name;
    let mut statuses = pod.status.as_ref()?.container_statuses.iter().flatten();
    statuses.find(|status| status.name == *ours)?.state.as_ref()
}

/// How a container ended.
fn ending(ended: &ContainerStateTerminated, pod: &Pod) -> PodState {
    let limit = || {
        let limits = pod.spec.as_ref()?.containers.first()?.resources.as_ref()?.limits.as_ref()?;
        Some(format!(" of {}", limits.get("memory")?.0))
    };
    let removed = removal(pod);
    PodState::Failed(match (ended.reason.as_deref(), ended.exit_code) {
        (Some("OOMKilled"), _) => {
            let limit = limit().unwrap_or_default();
            format!("was killed for memory: it needed more than its limit{limit}")
        }
        (_, 0) => return PodState::Done,
        (_, 137 | 143) if removed.is_some() => removed.unwrap_or_default(),
        (_, 137) => "was killed (signal 9)".into(),
        (_, code) => format!("ended with code {code}"),
    })
}

/// Why the cluster took a pod away.
fn removal(pod: &Pod) -> Option<String> {
    let node = node(pod);
    Some(match disruption(pod)? {
        "EvictionByEvictionAPI" => format!("was evicted from node {node}"),
        "PreemptionByScheduler" => {
            format!("had to make room on node {node} for a pod that matters more")
        }
        "DeletionByTaintManager" => format!("was taken from node {node}, which is not ready"),
        "DeletionByPodGC" => format!("was on node {node}, which is gone"),
        "TerminationByKubelet" => format!("was ended by node {node}, which lacks room"),
        other => format!("was taken from node {node} ({other})"),
    })
}

fn disruption(pod: &Pod) -> Option<&str> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|it| it.type_ == "DisruptionTarget")?.reason.as_deref()
}

/// Why a container cannot begin.
fn stuck(waiting: &ContainerStateWaiting, pod: &Pod) -> Option<String> {
    let container = pod.spec.as_ref()?.containers.first()?;
    let image = container.image.clone().unwrap_or_default();
    let message = waiting.message.clone().unwrap_or_default();
    match waiting.reason.as_deref()? {
        "ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull" | "InvalidImageName" => {
            Some(format!("node {} cannot get the image {image}: {message}", node(pod)))
        }
        "ContainerCreating" | "PodInitializing" => None,
        reason => Some(format!("{reason}: {message}")),
    }
}

fn node(pod: &Pod) -> String {
    pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default()
}

/// Why there is no node for a pod.
fn unschedulable(pod: &Pod) -> Option<String> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let scheduled = conditions.iter().find(|it| it.type_ == "PodScheduled")?;
    let wrong = scheduled.status == "False" && scheduled.reason.as_deref() == Some("Unschedulable");
    let message = scheduled.message.clone().unwrap_or_default();
    let bound = BOUND.iter().any(|words| message.contains(words));
    let advice = if bound { "its volume lies on a node that it cannot be on now; " } else { "" };
    wrong.then(|| format!("{advice}no node fits: {message}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn state(status: Value) -> PodState {
        pod_state(&pod(json!({}), status))
    }

    fn pod(metadata: Value, status: Value) -> Pod {
        let pod = json!({
            "metadata": metadata,
            "spec": {
                "nodeName": "node2",
                "containers": [{
                    "name": "worker", "image": "trainyard:1",
                    "resources": { "limits": { "memory": "125Mi" } },
                }],
            },
            "status": status,
        });
        serde_json::from_value(pod).expect("it is a pod")
    }

    #[test]
    fn a_pod_is_stranded_when_the_cluster_gave_it_up_with_its_node() {
        let status = |reason: &str| {
            let conditions =
                json!([{ "type": "DisruptionTarget", "status": "True", "reason": reason }]);
            json!({ "phase": "Running", "conditions": conditions })
        };
        let leaving = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" });
        let lost = "DeletionByTaintManager";
        assert_eq!(stranded_on(&pod(leaving.clone(), status(lost))), Some("node2".into()));
        assert_eq!(stranded_on(&pod(json!({}), status(lost))), None);
        assert_eq!(stranded_on(&pod(leaving, status("EvictionByEvictionAPI"))), None);
    }

    #[test]
    fn the_last_words_of_a_pod_are_not_its_events() {
        let words = |message: &str| {
            let containers = json!([{
                "name": "worker", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "state": { "terminated": { "exitCode": 1, "message": message } },
            }]);
            last_words(&pod(json!({}), json!({ "containerStatuses": containers })))
        };
        assert_eq!(words("waiting\nerror: no\n{\"v\":1}\n"), Some("error: no".into()));
        assert_eq!(words("{\"v\":1}\n"), None);
    }

    fn ended(phase: &str, terminated: Value) -> PodState {
        let containers = json!([{
            "name": "worker", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": terminated },
        }]);
        state(json!({ "phase": phase, "containerStatuses": containers }))
    }

    fn failed(terminated: Value) -> String {
        match ended("Failed", terminated) {
            PodState::Failed(how) => how,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pod_that_ended_well_is_done() {
        for phase in ["Succeeded", "Running"] {
            assert_eq!(ended(phase, json!({ "exitCode": 0 })), PodState::Done);
        }
        // Of those that are long over, the cluster may not say more.
        assert_eq!(state(json!({ "phase": "Succeeded" })), PodState::Done);
        assert_ne!(ended("Running", json!({ "exitCode": 1 })), PodState::Done);
    }

    #[test]
    fn what_runs_beside_it_does_not_matter() {
        let beside = |name: &str, state: Value| {
            json!({
                "name": name, "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "state": state,
            })
        };
        let over = json!({ "terminated": { "exitCode": 0 } });
        let containers = [beside("a", json!({ "running": {} })), beside("worker", over)];
        let status = json!({ "phase": "Running", "containerStatuses": containers });
        assert_eq!(state(status), PodState::Done);
    }

    #[test]
    fn how_a_pod_ended_is_said() {
        assert_eq!(
            failed(json!({ "reason": "OOMKilled", "exitCode": 137 })),
            "was killed for memory: it needed more than its limit of 125Mi"
        );
        assert_eq!(failed(json!({ "exitCode": 137 })), "was killed (signal 9)");
        assert_eq!(failed(json!({ "exitCode": 1 })), "ended with code 1");
        let gone = json!([{
            "type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC",
        }]);
        assert_eq!(
            state(json!({ "phase": "Failed", "conditions": gone })),
            PodState::Failed("was on node node2, which is gone".into())
        );
    }

    #[test]
    fn why_a_pod_does_not_begin_is_said() {
        assert_eq!(state(json!({ "phase": "Pending" })), PodState::Waiting(None));
        let message = "0/3 nodes are available: 3 Insufficient cpu.";
        let conditions = json!([{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        }]);
        assert_eq!(
            state(json!({ "phase": "Pending", "conditions": conditions })),
            PodState::Waiting(Some(format!("no node fits: {message}")))
        );
        let message = "0/3 nodes are available: 2 node(s) had volume node affinity conflict.";
        let conditions = json!([{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        }]);
        let why = "its volume lies on a node that it cannot be on now; no node fits";
        assert_eq!(
            state(json!({ "phase": "Pending", "conditions": conditions })),
            PodState::Waiting(Some(format!("{why}: {message}")))
        );
        let containers = json!([{
            "name": "worker", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": { "reason": "ImagePullBackOff", "message": "not found" } },
        }]);
        assert_eq!(
            state(json!({ "phase": "Pending", "containerStatuses": containers })),
            PodState::Waiting(Some(
                "node node2 cannot get the image trainyard:1: not found".into()
            ))
        );
    }
}
