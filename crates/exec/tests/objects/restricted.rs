//! Every pod meets the strictest standard that Kubernetes has for pods, `restricted`, so that runs may
//! take place in every namespace.
//!
//! <https://kubernetes.io/docs/concepts/security/pod-security-standards/>

use serde_json::{Value, json};

use crate::settings;

/// The kinds of volumes that a pod may have.
const VOLUMES: [&str; 8] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

#[test]
fn every_pod_may_do_little() {
    let mut pods = 0;
    for setting in settings::all() {
        for object in setting.objects() {
            let spec = match object["kind"].as_str().unwrap() {
                "Job" | "Deployment" => &object["spec"]["template"]["spec"],
                "Pod" => &object["spec"],
                _ => continue,
            };
            pods += 1;
            let problems = problems(spec);
            let name = &object["metadata"]["name"];
            assert!(problems.is_empty(), "{}, {name}: {}", setting.name, problems.join(", "));
        }
    }
    // A driver, three pools and a reader each, and pages.
    let pages = settings::all().iter().filter(|setting| setting.page().is_some()).count();
    assert_eq!(pods, 5 * settings::all().len() + pages);
}

#[test]
fn a_pod_that_may_do_more_would_be_found() {
    let objects = settings::all()[0].objects();
    let pod = objects.iter().find(|object| object["kind"] == "Pod").unwrap();
    let changes = [
        ("/securityContext/runAsNonRoot", json!(false)),
        ("/securityContext/runAsUser", json!(0)),
        ("/securityContext/seccompProfile", json!({ "type": "Unconfined" })),
        ("/containers/0/securityContext/allowPrivilegeEscalation", Value::Null),
        ("/containers/0/securityContext/capabilities/drop", json!(["NET_RAW"])),
        ("/containers/0/securityContext/readOnlyRootFilesystem", json!(false)),
        ("/containers/0/ports/0", json!({ "containerPort": 1, "hostPort": 1 })),
        ("/volumes/0", json!({ "name": "h", "hostPath": { "path": "/" } })),
    ];
    for (field, value) in changes {
        let mut spec = pod["spec"].clone();
        *spec.pointer_mut(field).unwrap() = value;
        assert_eq!(problems(&spec).len(), 1, "{field}: {:?}", problems(&spec));
    }
    for field in ["hostNetwork", "hostPID", "hostIPC", "initContainers", "ephemeralContainers"] {
        let mut spec = pod["spec"].clone();
        spec[field] = true.into();
        assert_eq!(problems(&spec), [field]);
    }
}

/// What a pod has that the standard forbids, and that ours do without.
fn problems(spec: &Value) -> Vec<&'static str> {
    let mut problems = vec![];
    let mut forbid = |what, is: bool| problems.extend(is.then_some(what));
    for field in ["hostNetwork", "hostPID", "hostIPC", "initContainers", "ephemeralContainers"] {
        forbid(field, !spec[field].is_null());
    }
    let context = &spec["securityContext"];
    forbid("runAsNonRoot", context["runAsNonRoot"] != true);
    forbid("runAsUser", context["runAsUser"].as_u64().is_none_or(|user| user == 0));
    forbid("seccompProfile", context["seccompProfile"] != json!({ "type": "RuntimeDefault" }));
    forbid("sysctls", !context["sysctls"].is_null());
    let kinds = entries(&spec["volumes"]).flat_map(|volume| volume.as_object().unwrap().keys());
    let allowed = |kind: &String| kind == "name" || VOLUMES.contains(&kind.as_str());
    forbid("volumes", !kinds.into_iter().all(allowed));
    for (number, container) in entries(&spec["containers"]).enumerate() {
        let context = &container["securityContext"];
        let capabilities = &context["capabilities"];
        forbid("allowPrivilegeEscalation", context["allowPrivilegeEscalation"] != false);
        forbid("capabilities", *capabilities != json!({ "drop": ["ALL"] }));
        // No part of the standard, but ours can do without.
        forbid("readOnlyRootFilesystem", number == 0 && context["readOnlyRootFilesystem"] != true);
        forbid("hostPort", entries(&container["ports"]).any(|port| !port["hostPort"].is_null()));
        for field in ["privileged", "procMount", "runAsUser", "runAsNonRoot", "seccompProfile"] {
            forbid(field, !context[field].is_null());
        }
    }
    problems
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
