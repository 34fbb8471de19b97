//! Ensembles: members first, the manifest last, and nothing in either that leads astray.

use std::fs;
use std::path::{Path, PathBuf};

use model::{ENSEMBLE_FILE, Ensemble, Error, FILE_NAME, Model, Published};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::small_model;

/// A folder with the members of seeds 0, 1, 2, sealed.
fn sealed() -> (TempDir, Vec<Model>) {
    let folder = tempdir().expect("a temporary folder can be made");
    let models: Vec<Model> = (0..3).map(small_model).collect();
    for (rank, model) in models.iter().enumerate() {
        Ensemble::save_member(folder.path(), rank, model).expect("a member can be saved");
    }
    Ensemble::seal(folder.path(), 3).expect("all members are there");
    (folder, models)
}

fn hashes(models: &[Model]) -> Vec<String> {
    models.iter().map(Model::weights_sha256).collect()
}

/// What is wrong with the ensemble in a folder.
fn problem(folder: &Path) -> String {
    Ensemble::load(folder).expect_err("it is wrong").to_string()
}

/// Changes the manifest of a folder.
fn rewrite(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join(ENSEMBLE_FILE);
    let text = fs::read(&path).expect("it is sealed");
    let mut manifest = serde_json::from_slice(&text).expect("it is JSON");
    change(&mut manifest);
    fs::write(path, manifest.to_string()).expect("it can be written");
}

/// A network like the small one, with one unit more.
fn wider(seed: u64) -> Model {
    let mut other = small_model(seed);
    let json = serde_json::to_string(&other.graph).expect("layers are JSON");
    let json = json.replace("\"units\":3", "\"units\":4");
    other.graph = serde_json::from_str(&json).expect("a right network");
    other.weights = other.graph.initialize(seed);
    other
}

#[test]
fn an_ensemble_comes_back_as_it_was() {
    let (folder, models) = sealed();
    for path in [folder.path().to_owned(), folder.path().join(ENSEMBLE_FILE)] {
        let loaded = Ensemble::load(&path).unwrap();
        let weights = |models: &[Model]| -> Vec<Vec<f32>> {
            models.iter().map(|model| model.weights.clone()).collect()
        };
        assert_eq!(weights(loaded.members()), weights(&models));
        assert_eq!(Published::open(&path).unwrap(), Published::Many(loaded));
        assert!(Published::is_at(&path));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn the_hash_is_over_the_hashes_of_the_members() {
    let (folder, models) = sealed();
    let loaded = Ensemble::load(folder.path()).unwrap();
    let text = fs::read_to_string(folder.path().join(ENSEMBLE_FILE)).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let member =
        |(rank, hash)| json!({"file": format!("{rank}.safetensors"), "weights_sha256": hash});
    let members: Vec<Value> = hashes(&models).into_iter().enumerate().map(member).collect();
    let hash = loaded.weights_sha256();
    let expected =
        json!({"version": 1, "combine": "vote", "members": members, "weights_sha256": hash});
    assert_eq!(manifest, expected);
    assert_eq!(hash, sha256_hex(&hashes(&models).concat()));
}

#[test]
fn saving_and_sealing_again_changes_nothing() {
    let (folder, models) = sealed();
    let times = || -> Vec<_> {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap())).collect()
    };
    let before = times();
    for (rank, model) in models.iter().enumerate() {
        let hash = Ensemble::save_member(folder.path(), rank, model).unwrap();
        assert_eq!(hash, model.weights_sha256());
    }
    let hash = Ensemble::seal(folder.path(), 3).unwrap();
    assert_eq!(hash, Ensemble::load(folder.path()).unwrap().weights_sha256());
    assert_eq!(times(), before);
}

#[test]
fn what_is_sealed_takes_no_other_weights() {
    let (folder, models) = sealed();
    for rank in [0, 3] {
        let error = Ensemble::save_member(folder.path(), rank, &small_model(9)).unwrap_err();
        assert!(error.to_string().contains("choose another folder"), "{error}");
    }
    let error = Ensemble::seal(folder.path(), 2).unwrap_err().to_string();
    assert!(error.contains("ensemble.json: ") && error.contains("other weights"), "{error}");
    // A member that was lost may come back.
    fs::remove_file(folder.path().join("1.safetensors")).unwrap();
    Ensemble::save_member(folder.path(), 1, &models[1]).unwrap();
    assert_eq!(hashes(Ensemble::load(folder.path()).unwrap().members()), hashes(&models));
}

#[test]
fn before_the_seal_the_last_weights_count() {
    let folder = tempdir().unwrap();
    Ensemble::save_member(folder.path(), 0, &small_model(1)).unwrap();
    Ensemble::save_member(folder.path(), 0, &small_model(2)).unwrap();
    // The same weights with another meaning of the input are another model.
    let mut other = small_model(2);
    other.card.input.scale = 1.0;
    Ensemble::save_member(folder.path(), 0, &other).unwrap();
    assert!(problem(folder.path()).contains("ensemble.json: there is no such file"));
    Ensemble::seal(folder.path(), 1).unwrap();
    let loaded = Ensemble::load(folder.path()).unwrap();
    assert_eq!(hashes(loaded.members()), hashes(&[other]));
    assert_eq!(loaded.members()[0].card.input.scale, 1.0);
}

#[test]
fn sealing_needs_every_member_and_all_alike() {
    let folder = tempdir().unwrap();
    let seal = |world| Ensemble::seal(folder.path(), world).unwrap_err();
    assert!(matches!(seal(0), Error::Members { world: 0, .. }));
    assert!(matches!(seal(1_000_000), Error::Members { .. }));
    Ensemble::save_member(folder.path(), 0, &small_model(0)).unwrap();
    let error = seal(2).to_string();
    assert!(error.contains("1.safetensors: there is no such file; an ensemble of 2"), "{error}");

    let mut renamed = small_model(1);
    renamed.card.labels = vec!["no".into(), "yes".into()];
    let mut scaled = small_model(1);
    scaled.card.input.scale = 1.0;
    for (model, word) in [(wider(1), "its layer 3"), (renamed, "its labels"), (scaled, "its input")]
    {
        Ensemble::save_member(folder.path(), 1, &model).unwrap();
        let error = seal(2);
        assert!(matches!(error, Error::Different { .. }));
        let error = error.to_string();
        assert!(error.contains("1.safetensors cannot vote with "), "{error}");
        assert!(error.contains(word), "{error}");
    }
    assert!(!folder.path().join(ENSEMBLE_FILE).exists());
}

#[test]
fn publishing_all_at_once_writes_nothing_unless_all_fit() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("new");
    let (first, second, other) = (small_model(0), small_model(1), wider(1));
    let error = Ensemble::publish(&path, &[("a", &first), ("b", &other)]).unwrap_err();
    assert!(error.to_string().starts_with("b cannot vote with a: its layer 3"), "{error}");
    assert!(matches!(Ensemble::publish(&path, &[]), Err(Error::Members { world: 0, .. })));
    assert!(!path.exists());
    let hash = Ensemble::publish(&path, &[("a", &first), ("b", &second)]).unwrap();
    assert_eq!(Ensemble::load(&path).unwrap().weights_sha256(), hash);
    let taken = folder.path().join("taken");
    other.save(&taken.join("1.safetensors")).unwrap();
    let error = Ensemble::publish(&taken, &[("a", &first), ("b", &second)]).unwrap_err();
    assert!(error.to_string().contains("1.safetensors: another model is there"), "{error}");
    assert_eq!(fs::read_dir(&taken).unwrap().count(), 1);
    for others in [&[("a", &second)][..], &[("a", &first)], &[("a", &first), ("b", &first)]] {
        let error = Ensemble::publish(&path, others).unwrap_err().to_string();
        assert!(error.contains("choose another folder"), "{error}");
        assert_eq!(Ensemble::load(&path).unwrap().weights_sha256(), hash);
    }
}

#[test]
fn members_that_are_missing_other_or_no_files_are_named() {
    let (folder, _) = sealed();
    let member = folder.path().join("1.safetensors");
    small_model(7).save(&member).unwrap();
    let error = problem(folder.path());
    assert!(error.contains("1.safetensors: it is damaged: its weights have the hash"), "{error}");
    fs::write(&member, b"torn").unwrap();
    assert!(problem(folder.path()).contains("1.safetensors: it is not a Trainyard model"));
    fs::remove_file(&member).unwrap();
    let error = problem(folder.path());
    assert!(error.contains("1.safetensors: there is no such file; the ensemble"), "{error}");
    fs::create_dir(&member).unwrap();
    assert!(problem(folder.path()).contains("1.safetensors: it is not a Trainyard model"));
}

#[test]
fn a_manifest_may_not_make_one_of_what_differs() {
    let (folder, _) = sealed();
    let other = wider(1);
    other.save(&folder.path().join("1.safetensors")).unwrap();
    let named = hashes(&[small_model(0), other, small_model(2)]);
    rewrite(folder.path(), |manifest| {
        for (rank, hash) in named.iter().enumerate() {
            manifest["members"][rank]["weights_sha256"] = json!(hash);
        }
    });
    assert!(problem(folder.path()).contains("its own hash"));
    let all = sha256_hex(&named.concat());
    rewrite(folder.path(), |manifest| manifest["weights_sha256"] = json!(all));
    assert!(problem(folder.path()).contains("cannot vote with"));
}

#[test]
fn a_manifest_names_only_files_beside_it() {
    let (outer, models) = sealed();
    let inner = outer.path().join("inner");
    for (rank, model) in models.iter().enumerate() {
        Ensemble::save_member(&inner, rank, model).unwrap();
    }
    Ensemble::seal(&inner, 3).unwrap();
    let absolute = outer.path().join("0.safetensors").display().to_string();
    for name in [
        "../0.safetensors",
        "./0.safetensors",
        "a/0.safetensors",
        "..\\0.safetensors",
        "c:0.safetensors",
        ".safetensors",
        "..",
        "",
        "ensemble.json",
        "0.safetensors\0",
        &absolute,
        &format!("{}.safetensors", "0".repeat(300)),
    ] {
        rewrite(&inner, |manifest| manifest["members"][0]["file"] = json!(name));
        let error = problem(&inner);
        assert!(error.contains("is not the plain name of a model file"), "{name}: {error}");
        assert!(error.contains("inner/ensemble.json: ") && error.len() < 600, "{error}");
    }
    rewrite(&inner, |manifest| manifest["members"][0]["file"] = json!("1.safetensors"));
    assert!(problem(&inner).contains("names the member 1.safetensors twice"));
}

#[test]
fn manifests_of_other_kinds_versions_and_sizes_are_refused() {
    let (folder, _) = sealed();
    let path: PathBuf = folder.path().join(ENSEMBLE_FILE);
    let right = fs::read(&path).unwrap();
    let refused = |change: &dyn Fn(&mut Value), word: &str| {
        fs::write(&path, &right).expect("it can be written");
        rewrite(folder.path(), change);
        let error = problem(folder.path());
        assert!(error.contains(word), "{error}");
    };
    refused(&|manifest| manifest["version"] = json!(2), "it has version 2");
    refused(&|manifest| manifest["combine"] = json!("shout"), "unknown variant `shout`");
    refused(&|manifest| manifest["members"] = json!([]), "it names 0 members");
    refused(&|manifest| manifest["weights_sha256"] = json!("00"), "its own hash");
    let many = vec![json!({"file": "0.safetensors", "weights_sha256": ""}); 1025];
    refused(&|manifest| manifest["members"] = json!(many), "it names 1025 members");
    refused(&|manifest| *manifest = json!([]), "it is damaged");
    fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap();
    assert!(problem(folder.path()).contains("longer than"));
    fs::write(&path, &right[..right.len() / 2]).unwrap();
    assert!(problem(folder.path()).contains("it is damaged"));
    // Nothing that a newer version may have published is written over.
    fs::write(&path, b"{\"version\": 2}").unwrap();
    assert!(Ensemble::save_member(folder.path(), 0, &small_model(9)).is_err());
    assert!(Ensemble::seal(folder.path(), 3).is_err());
}

#[test]
fn a_folder_with_a_model_is_that_model() {
    let folder = tempdir().unwrap();
    let error = Published::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("neither model.safetensors nor ensemble.json"), "{error}");
    assert!(!Published::is_at(folder.path()));
    let path = folder.path().join(FILE_NAME);
    let model = small_model(4);
    model.save(&path).unwrap();
    for path in [folder.path(), &path] {
        let published = Published::open(path).unwrap();
        assert!(matches!(published, Published::One(_)));
        assert_eq!(published.weights_sha256(), model.weights_sha256());
        assert_eq!(hashes(published.members()), hashes(std::slice::from_ref(&model)));
        assert_eq!(published.parameters(), 23);
    }
    for rank in 0..2 {
        Ensemble::save_member(folder.path(), rank, &small_model(5)).unwrap();
    }
    Ensemble::seal(folder.path(), 2).unwrap();
    let published = Published::open(folder.path()).unwrap();
    assert_eq!((published.members().len(), published.parameters()), (2, 46));
    assert_eq!(published.first().weights, small_model(5).weights);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_changed_byte_never_changes_the_ensemble(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (folder, models) = sealed();
        let path = folder.path().join(ENSEMBLE_FILE);
        let mut text = fs::read(&path).unwrap();
        let at = at.index(text.len());
        text[at] = byte;
        fs::write(&path, text).unwrap();
        if let Ok(read) = Ensemble::load(folder.path()) {
            prop_assert_eq!(hashes(read.members()), hashes(&models));
        }
    }
}

fn sha256_hex(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
