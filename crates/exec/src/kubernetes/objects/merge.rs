//! Merges what the user gives into a pod: mappings field by field, lists entry by entry, and all else in
//! the place of what was there.

use serde_json::{Map, Value};

/// Merges part of a pod into one: into its spec, unless it says otherwise.
pub(super) fn merge(pod: &mut Value, given: &Map<String, Value>) {
    let whole = given.contains_key("spec") || given.contains_key("metadata");
    let target = if whole { pod } else { &mut pod["spec"] };
    merge_fields(target, given);
}

/// Merges fields into a mapping.
pub(super) fn merge_fields(target: &mut Value, given: &Map<String, Value>) {
    for (field, value) in given {
        merge_field(&mut target[field], field, value);
    }
}

fn merge_field(target: &mut Value, field: &str, given: &Value) {
    match (&mut *target, given) {
        (Value::Object(_), Value::Object(given)) => merge_fields(target, given),
        (Value::Array(entries), Value::Array(given)) => {
            given.iter().for_each(|entry| merge_entry(entries, field, entry));
        }
        (target, given) => *target = given.clone(),
    }
}

/// Merges an entry into the one that is known by the same, or puts it behind the others. What is said of
/// a container without a name is said of ours, the first.
fn merge_entry(entries: &mut Vec<Value>, list: &str, given: &Value) {
    // A volume may be mounted in several places; tolerations and the like are known by nothing.
    let known_by = if list == "volumeMounts" { "mountPath" } else { "name" };
    let known = match given.get(known_by) {
        Some(it) => entries.iter_mut().find(|entry| entry.get(known_by) == Some(it)),
        None if list == "containers" => entries.first_mut(),
        None => None,
    };
    match (known, given) {
        (Some(known @ Value::Object(_)), Value::Object(given)) => merge_fields(known, given),
        _ => entries.push(given.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A pod of ours, in as few words as there can be.
    fn pod() -> Value {
        json!({
            "metadata": { "labels": { "trainyard/run": "mnist-1" } },
            "spec": {
                "securityContext": { "runAsNonRoot": true, "runAsUser": 65532 },
                "containers": [{
                    "name": "worker",
                    "args": ["worker"],
                    "env": [{ "name": "POD_IP", "value": "1" }, { "name": "B", "value": "2" }],
                    "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
                }],
                "volumes": [{ "name": "tmp", "emptyDir": {} }],
                "tolerations": [{ "key": "a", "operator": "Exists" }],
            },
        })
    }

    fn merged(given: &Value) -> Value {
        let mut pod = pod();
        merge(&mut pod, given.as_object().unwrap());
        pod
    }

    #[test]
    fn a_volume_can_be_mounted_in_several_places() {
        let mount = |name: &str, path: &str| json!({ "name": name, "mountPath": path });
        let mounts = [mount("mine", "/a"), mount("mine", "/b"), mount("tmp", "/c")];
        let pod = merged(&json!({ "containers": [{ "volumeMounts": mounts }] }));
        let found = &pod["spec"]["containers"][0]["volumeMounts"];
        let [a, b, c] = mounts;
        assert_eq!(*found, json!([mount("tmp", "/tmp"), a, b, c]));
    }

    #[test]
    fn a_place_has_one_volume() {
        let given = json!([{ "name": "mine", "mountPath": "/tmp", "subPath": "x" }]);
        let pod = merged(&json!({ "containers": [{ "volumeMounts": given }] }));
        assert_eq!(pod["spec"]["containers"][0]["volumeMounts"], given);
    }

    #[test]
    fn tolerations_are_joined_even_if_they_are_alike() {
        let given = json!({ "key": "a", "operator": "Exists", "effect": "NoSchedule" });
        let pod = merged(&json!({ "tolerations": [given, given] }));
        let ours = json!({ "key": "a", "operator": "Exists" });
        assert_eq!(pod["spec"]["tolerations"], json!([ours, given, given]));
    }

    #[test]
    fn variables_and_volumes_are_known_by_name() {
        let env = json!([{ "name": "B", "value": "3" }, { "name": "C", "value": "4" }]);
        let volumes =
            json!([{ "name": "tmp", "emptyDir": { "sizeLimit": "1Gi" } }, { "name": "v" }]);
        let pod = merged(&json!({ "containers": [{ "env": env }], "volumes": volumes }));
        let ours = json!({ "name": "POD_IP", "value": "1" });
        assert_eq!(pod["spec"]["containers"][0]["env"], json!([ours, env[0], env[1]]));
        assert_eq!(pod["spec"]["volumes"], volumes);
    }

    #[test]
    fn containers_are_known_by_name_and_one_without_a_name_is_ours() {
        let beside = json!({ "name": "beside", "args": ["x"] });
        let (ours, named) = (json!({ "tty": true }), json!({ "name": "worker", "stdin": true }));
        let pod = merged(&json!({ "containers": [beside, ours, named] }));
        let containers = pod["spec"]["containers"].as_array().unwrap();
        assert_eq!(containers.len(), 2);
        assert_eq!(containers[0]["name"], "worker");
        assert_eq!(containers[0]["tty"], true);
        assert_eq!(containers[0]["stdin"], true);
        assert_eq!(containers[1], beside);
        // Only of those that run all the time: there is none of ours that runs before.
        let before = merged(&json!({ "initContainers": [{ "image": "a" }] }));
        assert_eq!(before["spec"]["initContainers"], json!([{ "image": "a" }]));
        assert_eq!(before["spec"]["containers"], self::pod()["spec"]["containers"]);
    }

    #[test]
    fn it_says_itself_whether_it_is_a_spec() {
        let spec = json!({ "priority": 7, "securityContext": { "runAsUser": 1000 } });
        let merged_spec = merged(&spec);
        assert_eq!(merged_spec, merged(&json!({ "spec": spec })));
        assert_eq!(merged_spec["spec"]["priority"], 7);
        let context = json!({ "runAsNonRoot": true, "runAsUser": 1000 });
        assert_eq!(merged_spec["spec"]["securityContext"], context);
        let labelled = merged(&json!({ "metadata": { "labels": { "team": "vision" } } }));
        let labels = json!({ "trainyard/run": "mnist-1", "team": "vision" });
        assert_eq!(labelled["metadata"]["labels"], labels);
        assert_eq!(labelled["spec"], pod()["spec"]);
    }

    #[test]
    fn words_are_joined_and_another_kind_takes_the_place() {
        let pod = merged(&json!({ "containers": [{ "args": ["--more"], "env": {} }] }));
        assert_eq!(pod["spec"]["containers"][0]["args"], json!(["worker", "--more"]));
        assert_eq!(pod["spec"]["containers"][0]["env"], json!({}));
    }
}
