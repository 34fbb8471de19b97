//! The Helm chart in `deploy/chart` makes the objects that we make. It is a second hand at the same
//! work, so what it makes is written down beside this file by `testbed/chart`, whose suite holds the
//! recordings against Helm; here they are held against ours.

use exec::kubernetes::objects::{
    Outline, Page, claim, config_map, driver_job, driver_service_object, network_policy, role,
    role_binding, secret, service_account,
};
use serde_json::{Value, json};
use spec::Storage;

const RUN: &str = "mnist-1";
const NAMESPACE: &str = "ml";

const RIGHTS: [&str; 3] = ["Role", "RoleBinding", "ServiceAccount"];
const PAGE: [&str; 4] = ["Deployment", "NetworkPolicy", "Secret", "Service"];

#[test]
fn objects_of_s1s_values() {
    compare(include_str!("s1.json"), &[&RIGHTS]);
}

#[test]
fn objects_of_a_run_file() {
    compare(include_str!("run.json"), &[&["PersistentVolumeClaim"]]);
}

#[test]
fn objects_of_a_page() {
    compare(include_str!("page.json"), &[&RIGHTS, &PAGE, &["PersistentVolumeClaim"]]);
}

#[test]
fn objects_of_a_page_without_a_volume() {
    compare(include_str!("page-bare.json"), &[&RIGHTS, &PAGE]);
}

/// Everything that was recorded is what we make of the run file in it, and nothing is missing.
fn compare(recording: &str, beside: &[&[&str]]) {
    let recorded: Vec<Value> = serde_json::from_str(recording).expect("a recording is JSON");
    let text = recorded.iter().find_map(|object| object["data"]["run.yaml"].as_str());
    let file = spec::parse(text.expect("the run file is in it"), "run.yaml", &[]);
    let file = file.expect("we read it");
    let plan = plan::plan(&file, &plan::Facts::default()).expect("it can be planned");
    // Tokens are recorded as zeros. What the pods are given is in the file, so the weights do not matter.
    let page = plan.serving.map(|serving| Page { serving, token: "0".repeat(32), weights: 0 });
    let given = file.on.kubernetes.unwrap_or_default();
    let image = given.image.as_deref().expect("the chart names an image");
    let outline = Outline { run: RUN, namespace: NAMESPACE, image, given: &given, owner: None };
    for object in &recorded {
        let ours = versionless(ours(&outline, page.as_ref(), object));
        assert_eq!(without_helm(object), ours, "{}", object["kind"]);
    }
    let mut kinds: Vec<&str> = ["ConfigMap", "Job", "NetworkPolicy", "Secret", "Service"].into();
    kinds.extend(beside.iter().copied().flatten());
    kinds.sort_unstable();
    let found: Vec<&str> = recorded.iter().filter_map(|object| object["kind"].as_str()).collect();
    assert_eq!(found, kinds);
}

/// What we make of the kind of a recorded object, with the same text in it.
fn ours(outline: &Outline<'_>, page: Option<&Page>, recorded: &Value) -> Value {
    let claimed = match &outline.given.storage {
        Storage::Pvc(_) => Some(RUN),
        _ => None,
    };
    let shown = page.map_or(vec![], |page| page.objects(outline, claimed));
    let is_it = |one: &Value| {
        one["kind"] == recorded["kind"] && one["metadata"]["name"] == recorded["metadata"]["name"]
    };
    if let Some(found) = shown.into_iter().find(is_it) {
        return found;
    }
    let text = |field: &str, name: &str| recorded[field][name].as_str().unwrap_or_default();
    match recorded["kind"].as_str().unwrap_or_default() {
        "ConfigMap" => {
            let file = text("data", "run.yaml").to_owned();
            config_map(outline, &[("run.yaml".to_owned(), file)].into())
        }
        "Secret" => {
            let join = text("stringData", "join.json");
            let told: Value = serde_json::from_str(join).expect("it is JSON");
            assert_eq!(told, expected_join());
            secret(outline, join)
        }
        "Job" => driver_job(outline, claimed, 0),
        "PersistentVolumeClaim" => match &outline.given.storage {
            Storage::Pvc(wanted) => claim(outline, wanted),
            other => panic!("a claim for {other:?}"),
        },
        "NetworkPolicy" => network_policy(outline),
        "Role" => role(outline, &page.map_or(vec![], |_| Page::policy(claimed))),
        "RoleBinding" => role_binding(outline),
        "Service" => driver_service_object(outline),
        "ServiceAccount" => service_account(outline),
        other => panic!("we make no {other}"),
    }
}

/// What processes of the run are told, but for the secret, which was recorded as zeros.
fn expected_join() -> Value {
    let address = format!("{RUN}-driver:7070");
    json!({ "run": RUN, "address": address, "fingerprint": "", "secret": "0".repeat(64) })
}

/// A recorded object without what Helm adds for itself.
fn without_helm(object: &Value) -> Value {
    let mut object = object.clone();
    for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
        if let Some(labels) = object.pointer_mut(labels) {
            labels["app.kubernetes.io/managed-by"] = "trainyard".into();
        }
    }
    let annotations = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove("helm.sh/resource-policy");
    }
    read_settings(&mut object);
    object
}

/// What a volume says of the run's settings is compared as it is read: Helm writes it in another order,
/// and leaves out what is usual.
fn read_settings(object: &mut Value) {
    if let Some(note) = object.pointer_mut("/metadata/annotations/trainyard~1kubernetes") {
        let settings = spec::Kubernetes::parse(note.as_str().expect("a note is text"));
        *note = json!(settings.expect("we read it"));
    }
}

/// An object of ours without our version, which is not recorded.
fn versionless(mut object: Value) -> Value {
    for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
        if let Some(labels) = object.pointer_mut(labels).and_then(Value::as_object_mut) {
            labels.remove("app.kubernetes.io/version");
        }
    }
    read_settings(&mut object);
    object
}
