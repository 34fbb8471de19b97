//! Models in Keras' files, wherever a model goes: the components as S0 and S2 had them, run files,
//! `convert`.

mod yard;

use serde_json::Value;
use yard::{SMALL, Yard};

fn hash(yard: &Yard, model: &str) -> Value {
    yard.json(&["inspect", model, "--json"])["weights_sha256"].clone()
}

#[test]
fn the_components_of_s2_with_the_files_of_s2() {
    let yard = Yard::new();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "2", "--savedir", "d"]);
    for shard in 0..2 {
        let (data, model) = (format!("d/{shard}.npz"), format!("model/{shard}-model.h5"));
        let args =
            ["train", "--data", &data, "--model", "mnist-mlp", "--epoch", "2", "--batch", "20"];
        yard.ok(&[&args[..], &["--savemodel", &model]].concat());
    }
    yard.ok(&["aggregate", "--dir", "model", "--savefile", "aggregated-model.h5"]);
    let args =
        ["evaluate", "--modelpath", "aggregated-model.h5", "--data", "mnist-sample", "--json"];
    let accuracy = yard.json(&args)["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.8, "{accuracy}");
    let members = ["aggregate", "--dir", "model", "--combine", "vote", "--savefile", "all"];
    yard.ok(&members);
    yard.ok(&["predict", "all", "d/0.npz"]);
}

#[test]
fn a_model_goes_through_every_kind_of_file() {
    let yard = Yard::new();
    let args = ["train", "--data", "mnist-sample", "--model", "mnist-cnn", "--batch", "100"];
    yard.ok(&[&args[..], &["--savemodel", "a.safetensors"]].concat());
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "50", "--savedir", "d"]);
    let mut from = "a.safetensors".to_owned();
    let first = yard.json(&["predict", &from, "d/0.npz", "--json"]);
    for to in ["b.h5", "c.keras", "d.npz", "e.h5", "f.safetensors"] {
        yard.ok(&["convert", &from, to]);
        assert_eq!(yard.json(&["predict", to, "d/0.npz", "--json"]), first, "{to}");
        from = to.into();
    }
    let bytes = |name: &str| std::fs::read(yard.path(name)).unwrap();
    assert!(bytes("a.safetensors") == bytes("f.safetensors"), "a model came back changed");
    assert!(bytes("b.h5") == bytes("e.h5"), "the same model was written differently");
    let table = yard.ok(&["inspect", "c.keras"]);
    assert!(table.contains("max_pooling2d (MaxPooling2D)") && table.contains("110,986"), "{table}");
    yard.ok(&["convert", "d.npz", "g.h5", "--onto", "c.keras"]);
    assert_eq!(hash(&yard, "g.h5"), hash(&yard, "a.safetensors"));
    assert!(yard.fails(2, &["convert", "b.h5", "b.pt"]).contains(".safetensors, .h5"));
    assert!(yard.fails(2, &["convert", "d/0.npz", "h.h5"]).contains("--onto"));
}

#[test]
fn a_run_goes_on_from_a_keras_file_or_takes_its_layers() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    yard.ok(&["convert", "small", "small.keras"]);
    let named = |name: &str, model: &str| {
        yard.ok(&["run", "small.yaml", "--set", &format!("model={model}"), "--name", name]);
        yard.json(&["report", name, "--json"])
    };
    let loss = |report: &Value| report["metrics"]["train"]["loss"].as_f64().unwrap();
    let first = yard.json(&["report", "small", "--json"]);
    let more = named("more", "small.keras");
    assert!(loss(&more) < loss(&first), "{} is not below {}", loss(&more), loss(&first));
    // The layers and the seed are the same, so the weights are.
    let fresh = named("fresh", "{layers_of: small.keras}");
    assert_eq!(fresh["weights_sha256"], first["weights_sha256"]);
}
