//! Objects are small: a cluster keeps them all in one store.

use std::path::Path;

use exec::kubernetes::names::{self, Part};
use exec::kubernetes::objects::{Outline, Pool, pool_job, pool_service};
use exec::kubernetes::{Request, Volume};
use serde_json::Value;
use spec::{NewClaim, RunSpec};

use crate::settings;

/// The most bytes of an object.
const LARGEST: usize = 64 << 10;

#[test]
fn objects_of_every_example_are_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let spec = spec::parse(&text, &path.display().to_string(), &[]).unwrap();
        objects(&spec).iter().for_each(|object| check(&path.display().to_string(), object));
        files += 1;
    }
    assert!(files >= 10, "{files} examples");
}

#[test]
fn objects_of_every_setting_are_small() {
    for setting in settings::all() {
        setting.objects().iter().for_each(|object| check(setting.name, object));
    }
}

/// Everything that a run makes, as large as it gets: on a volume of its own, with workers and servers
/// for each step.
fn objects(spec: &RunSpec) -> Vec<Value> {
    let (run, given) = (format!("{}-1", spec.name), spec.on.kubernetes.clone().unwrap_or_default());
    let request = Request {
        name: spec.name.clone(),
        file: spec.to_yaml(),
        secret: "0".repeat(64),
        image: "registry.example/trainyard:0".into(),
        given,
        memory: 1 << 30,
        page: None,
    };
    let mut objects = request.render(&run, "ml", &Volume::New(NewClaim::default()));
    let Request { image, given, .. } = &request;
    let outline = Outline { run: &run, namespace: "ml", image, given, owner: None };
    for step in &spec.steps {
        for part in [Part::Worker, Part::Server] {
            let (name, task) = (names::pool(&run, &step.id, part, None), step.id.clone());
            let pool = Pool { name, task, part, place: None, memory: 1 << 30 };
            objects.extend([pool_job(&outline, &pool, 100), pool_service(&outline, &pool)]);
        }
    }
    objects
}

fn check(of: &str, object: &Value) {
    let (kind, size) = (&object["kind"], object.to_string().len());
    assert!(size <= LARGEST, "the {kind} of {of} has {size} bytes");
}
