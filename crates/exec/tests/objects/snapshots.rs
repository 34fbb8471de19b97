//! What objects look like.

use std::path::Path;

use serde_json::Value;

use crate::settings;

const VERSION: &str = "app.kubernetes.io/version";

#[test]
fn objects_are_as_they_were() {
    let mut renewed = vec![];
    for setting in settings::all() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/objects/{}.yaml", setting.name));
        let found: String = setting.objects().into_iter().map(text).collect();
        let Ok(want) = std::fs::read_to_string(&file) else {
            std::fs::write(&file, found).expect("the folder of snapshots can be written");
            renewed.push(file.display().to_string());
            continue;
        };
        compare(setting.name, &want, &found);
    }
    assert!(renewed.is_empty(), "not there, and written now: {}", renewed.join(", "));
}

/// Shows the first lines that differ: a whole snapshot would hide them.
fn compare(name: &str, want: &str, found: &str) {
    let differs = |(_, (want, found)): &(usize, (&str, &str))| want != found;
    let mut lines = want.lines().zip(found.lines()).enumerate();
    if let Some((number, (want, found))) = lines.find(differs) {
        panic!("{name}.yaml, line {}: expected\n{want}\nfound\n{found}", number + 1);
    }
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(want), lines(found), "{name}.yaml has another number of lines");
}

/// An object without our version, which changes with every release.
fn text(mut object: Value) -> String {
    for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
        if let Some(labels) = object.pointer_mut(labels).and_then(Value::as_object_mut) {
            assert_eq!(labels[VERSION], env!("CARGO_PKG_VERSION"));
            labels.retain(|label, _| label != VERSION);
        }
    }
    format!("---\n{}", spec::yaml(&object))
}
