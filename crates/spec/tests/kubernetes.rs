//! `on.kubernetes`: what a run is given on a cluster.

mod reading;

use reading::{RIGHT, messages, set};
use serde_json::json;
use spec::{Kubernetes, NewClaim, RunSpec, Storage};

fn on(text: &str) -> Kubernetes {
    let spec = set(&format!("{RIGHT}on:\n  kubernetes: {text}\n"), &[]);
    again(&spec).on.kubernetes.expect("the file has it")
}

/// What is written out is read as the same.
fn again(spec: &RunSpec) -> RunSpec {
    let read = set(&spec.to_yaml(), &[]);
    assert_eq!(&read, spec);
    read
}

#[test]
fn pinned_workers_and_a_volume() {
    let given = on("{ storage: { pvc: { size: 30Gi, class: managed-nfs-storage } }, workers: { \
                    node_selector: [ {disktype: worker-1}, {kubernetes.io/hostname: b} ] } }");
    let class = Some("managed-nfs-storage".into());
    assert_eq!(given.storage, Storage::Pvc(NewClaim { size: "30Gi".into(), class, keep: true }));
    assert_eq!(given.workers.labels(0).unwrap()["disktype"], "worker-1");
    assert_eq!(given.workers.labels(1).unwrap()["kubernetes.io/hostname"], "b");
    assert_eq!(given.workers.labels(2), given.workers.labels(0));
    assert_eq!(given.servers.labels(0), None);
}

#[test]
fn storage_in_a_word_or_by_name() {
    assert_eq!(on("{}"), Kubernetes::default());
    assert_eq!(on("{storage: none}").storage, Storage::None);
    assert_eq!(on("{storage: pvc}").storage, Storage::Pvc(NewClaim::default()));
    assert_eq!(on("{storage: {claim: mine}}").storage, Storage::Claim("mine".into()));
}

#[test]
fn amounts_are_as_kubernetes_writes_them() {
    let given = on("{workers: {limits: {cpu: 200m, memory: 125Mi, nvidia.com/gpu: 1}}}");
    assert_eq!(given.workers.limits["nvidia.com/gpu"], "1");
    let wrong =
        |text: &str| messages(&format!("on: {{kubernetes: {{workers: {{limits: {text}}}}}}}"));
    assert_eq!(
        wrong("{memory: 125MB}"),
        ["on.kubernetes.workers.limits.memory: `125MB` is not an amount as Kubernetes writes it, \
          such as `200m`, `125Mi` or `2`"]
    );
    assert_eq!(messages("on: {kubernetes: {storage: {pvc: {size: big}}}}").len(), 1);
}

#[test]
fn a_part_of_a_pod_is_taken_as_it_is() {
    let given =
        on("{pod: {hostNetwork: false, priority: 7, tolerations: [{key: gpu, value: '1'}]}}");
    let pod = json!({
        "hostNetwork": false, "priority": 7, "tolerations": [{"key": "gpu", "value": "1"}]
    });
    assert_eq!(serde_json::Value::Object(given.pod.0), pod);
    assert_eq!(
        messages("on: {kubernetes: {pod: 5}}"),
        ["on.kubernetes.pod: expected a mapping, found `5`"]
    );
}

#[test]
fn a_wrong_field_is_named() {
    assert_eq!(
        messages("on: {kubernetes: {worker: {}}}"),
        ["on.kubernetes.worker: unknown field; did you mean `workers`?"]
    );
    assert_eq!(messages("on: {kubernetes: {driver: {node_selector: [{a: b}]}}}").len(), 1);
}

#[test]
fn a_page_is_reached_as_kubernetes_calls_it() {
    let given = |text: &str| spec::Kubernetes::parse(text);
    let usual = given("{}").unwrap();
    assert_eq!((usual.service, usual.serve), (spec::Service::ClusterIP, spec::Pods::default()));
    let open = given("{service: NodePort, serve: {limits: {memory: 1Gi}, port: 9090}}").unwrap();
    assert_eq!((open.service.as_str(), open.serve.port), ("NodePort", Some(9090)));
    let said = |text: &str| given(text).unwrap_err().to_string();
    let word = said("{service: Nodeport}");
    assert!(word.contains("unknown value `Nodeport`; did you mean `NodePort`?"), "{word}");
    let list = said("{serve: {node_selector: [{pool: a}]}}");
    assert!(list.contains("pods that serve are all alike, but a list is given"), "{list}");
    let amount = said("{serve: {limits: {memory: much}}}");
    assert!(amount.contains("on.kubernetes.serve.limits.memory"), "{amount}");
}
