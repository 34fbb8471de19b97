//! Wrong input gets an error that says what, where and how to mend it, and the right exit code.

mod yard;

use yard::{SMALL, Yard};

/// Runs a file that is wrong in some way and checks what is said about it.
fn refused(content: impl AsRef<[u8]>, parts: &[&str]) {
    let yard = Yard::new();
    yard.file("run.yaml", content);
    let error = yard.fails(2, &["run", "run.yaml"]);
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    assert!(
        !yard.path("runs").exists(),
        "a refused run left something behind"
    );
}

#[test]
fn a_misspelt_field_names_line_path_and_the_nearest() {
    refused(
        SMALL.replace("epochs", "epohcs"),
        &["run.yaml:4", "epohcs", "epochs"],
    );
}

#[test]
fn a_wrong_type_says_what_was_expected() {
    refused(
        SMALL.replace("epochs: 2", "epochs: many"),
        &["train.epochs", "many"],
    );
}

#[test]
fn unknown_data_and_networks_say_what_there_is() {
    refused(
        SMALL.replace("mnist-mlp", "mnist-mpl"),
        &["mnist-mpl", "mnist-mlp"],
    );
    refused(
        SMALL.replace("mnist-sample", "no/such/folder"),
        &["no/such/folder"],
    );
}

#[test]
fn what_is_not_a_run_file_is_named() {
    refused(b"\x00\xff\xfe\x01binary", &["not text"]);
    refused(vec![b'#'; 10 << 20], &["bytes"]);
    refused("", &["run.yaml"]);
    refused("- a\n- b\n", &["run.yaml"]);
    let yard = Yard::new();
    std::fs::create_dir(yard.path("folder")).unwrap();
    assert!(yard.fails(2, &["run", "folder"]).contains("is a folder"));
    assert!(
        yard.fails(2, &["run", "absent.yaml"])
            .contains("trainyard init")
    );
}

#[test]
fn memory_that_does_not_fit_names_what_would() {
    let layer = "{Conv2D: {filters: 512, kernel_size: 1}}, ".repeat(60);
    let layers =
        format!("{{layers: [{layer}Flatten, {{Dense: {{units: 10, activation: softmax}}}}]}}");
    let file = SMALL
        .replace("mnist-mlp", &layers)
        .replace("batch: 50", "batch: 5000");
    refused(file, &["needs", "of memory", "`batch: ", "would fit"]);
}

#[test]
fn a_layer_that_does_not_fit_is_named() {
    let layers = "{layers: [{Dense: {units: 10}}]}";
    refused(SMALL.replace("mnist-mlp", layers), &["dense", "Flatten"]);
}

#[test]
fn later_features_are_known_by_name() {
    refused(
        format!("{SMALL}serve: {{}}\n"),
        &["serve", "not in this version"],
    );
    refused(SMALL.replace("epochs: 2", "workers: 3"), &["workers"]);
}

#[test]
fn unknown_runs_tasks_and_verbs() {
    let yard = Yard::new();
    assert!(yard.fails(2, &["status", "nothing"]).contains("nothing"));
    assert!(yard.fails(2, &["report", "nothing"]).contains("nothing"));
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    assert!(
        yard.fails(2, &["logs", "small", "tarin"])
            .contains("prepare, train, evaluate")
    );
    assert!(yard.fails(2, &["status", "smal"]).contains("small"));
    yard.fails(2, &["rnu"]);
}

#[test]
fn a_diverging_run_fails_and_says_what_to_do() {
    let yard = Yard::new();
    let linear =
        "{layers: [Flatten, {Dense: {units: 50}}, {Dense: {units: 10, activation: softmax}}]}";
    yard.file("small.yaml", SMALL.replace("mnist-mlp", linear));
    let sets = [
        "--set",
        "train.learning_rate=1000000",
        "--set",
        "train.optimizer=sgd",
    ];
    let error = yard.fails(1, &[&["run", "small.yaml"], &sets[..]].concat());
    assert!(
        error.contains("diverged") && error.contains("learning_rate"),
        "{error}"
    );
    assert_eq!(yard.json(&["status", "small", "--json"])["state"], "failed");
}

#[test]
fn torn_and_lying_data_files() {
    let yard = Yard::new();
    yard.ok(&[
        "split",
        "--data",
        "mnist-sample",
        "--n_container",
        "100",
        "--savedir",
        "d",
    ]);
    let good = std::fs::read(yard.path("d/0.npz")).unwrap();
    yard.file("torn.npz", &good[..good.len() / 2]);
    yard.file("empty.npz", b"");
    yard.file("text.npz", b"not a zip at all");
    yard.file("torn.safetensors", &good[..100]);
    for bad in ["torn.npz", "empty.npz", "text.npz", "absent.npz"] {
        let error = yard.fails(
            1,
            &[
                "train",
                "--data",
                bad,
                "--model",
                "mnist-mlp",
                "--savemodel",
                "m.safetensors",
            ],
        );
        assert!(error.contains(bad), "{error}");
    }
    let error = yard.fails(1, &["inspect", "torn.safetensors"]);
    assert!(error.contains("torn.safetensors"), "{error}");
    assert!(!yard.path("m.safetensors").exists());
}
