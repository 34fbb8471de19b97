//! Wrong input gets an error that says what, where and how to mend it, and the right exit code.

mod yard;

use std::path::Path;

use yard::{SMALL, Yard};

/// Runs a file that is wrong in some way and checks what is said about it.
fn refused(content: impl AsRef<[u8]>, parts: &[&str]) {
    let yard = Yard::new();
    yard.file("run.yaml", content);
    let error = yard.fails(2, &["run", "run.yaml"]);
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    assert!(!yard.path("runs").exists(), "a refused run left something behind");
}

#[test]
fn a_misspelt_field_names_line_path_and_the_nearest() {
    refused(SMALL.replace("epochs", "epohcs"), &["run.yaml:4", "epohcs", "epochs"]);
}

#[test]
fn a_wrong_type_says_what_was_expected() {
    refused(SMALL.replace("epochs: 2", "epochs: many"), &["train.epochs", "many"]);
}

#[test]
fn unknown_data_and_networks_say_what_there_is() {
    refused(SMALL.replace("mnist-mlp", "mnist-mpl"), &["mnist-mpl", "mnist-mlp"]);
    refused(SMALL.replace("mnist-sample", "no/such/folder"), &["no/such/folder"]);
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
    assert!(yard.fails(2, &["run", "absent.yaml"]).contains("trainyard init"));
}

#[test]
fn memory_that_does_not_fit_names_what_would() {
    let layer = "{Conv2D: {filters: 512, kernel_size: 1}}, ".repeat(60);
    let layers =
        format!("{{layers: [{layer}Flatten, {{Dense: {{units: 10, activation: softmax}}}}]}}");
    let file = SMALL.replace("mnist-mlp", &layers).replace("batch: 50", "batch: 5000");
    refused(file, &["needs", "of memory", "`batch: ", "would fit"]);
}

#[test]
fn more_workers_than_samples_are_refused_before_anything_runs() {
    let file = SMALL.replace("epochs: 2", "workers: 9001");
    refused(file, &["`train`", "9,001 workers", "9,000 samples", "assign: copy"]);
}

#[test]
fn a_layer_that_does_not_fit_is_named() {
    let layers = "{layers: [{Conv2D: {filters: 2, kernel_size: 30}}]}";
    refused(SMALL.replace("mnist-mlp", layers), &["conv2d", "30 does not fit"]);
    let rows = "{layers: [{Dense: {units: 10, activation: softmax}}]}";
    refused(SMALL.replace("mnist-mlp", rows), &["[28, 28, 10]", "Flatten"]);
}

#[test]
fn later_features_are_known_by_name() {
    refused(format!("{SMALL}sweep: {{}}\n"), &["sweep", "not in this version"]);
}

#[test]
fn unknown_runs_tasks_and_verbs() {
    let yard = Yard::new();
    assert!(yard.fails(2, &["status", "nothing"]).contains("nothing"));
    assert!(yard.fails(2, &["report", "nothing"]).contains("nothing"));
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    assert!(yard.fails(2, &["logs", "small", "tarin"]).contains("prepare, train, evaluate"));
    assert!(yard.fails(2, &["status", "smal"]).contains("small"));
    yard.fails(2, &["rnu"]);
}

#[test]
fn a_diverging_run_fails_and_says_what_to_do() {
    let yard = Yard::new();
    let linear =
        "{layers: [Flatten, {Dense: {units: 50}}, {Dense: {units: 10, activation: softmax}}]}";
    yard.file("small.yaml", SMALL.replace("mnist-mlp", linear));
    let sets = ["--set", "train.learning_rate=1000000", "--set", "train.optimizer=sgd"];
    let error = yard.fails(1, &[&["run", "small.yaml"], &sets[..]].concat());
    assert!(error.contains("diverged") && error.contains("learning_rate"), "{error}");
    assert_eq!(yard.json(&["status", "small", "--json"])["state"], "failed");
}

/// A file that numpy wrote for the tests of the data crate.
fn numpy_wrote(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures");
    std::fs::read(folder.join(name)).expect("the fixture is in the repository")
}

/// An idx file of bytes with these dimensions, whatever `bytes` really hold.
fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    file.extend(dimensions.iter().flat_map(|dimension| dimension.to_be_bytes()));
    file.extend(bytes);
    file
}

#[test]
fn torn_empty_oversized_and_lying_data_files() {
    let yard = Yard::new();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "100", "--savedir", "d"]);
    let good = std::fs::read(yard.path("d/0.npz")).unwrap();
    let huge_header = [b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", &[b' '; 64][..]].concat();
    let bad_files = [
        ("torn.npz", good[..good.len() / 2].to_vec()),
        ("empty.npz", vec![]),
        ("text.npz", b"not a zip at all".to_vec()),
        ("huge.npz", huge_header),
        ("pickled.npz", numpy_wrote("pickled.npz")),
    ];
    for (name, bytes) in bad_files {
        yard.file(name, bytes);
        let args =
            ["train", "--data", name, "--model", "mnist-mlp", "--savemodel", "m.safetensors"];
        let error = yard.fails(2, &args);
        assert!(error.contains(name), "{error}");
    }
    for (images, labels) in [
        (idx(&[5, 28, 28], &[0; 28 * 28]), idx(&[5], &[0; 5])),
        (idx(&[1, 28, 28], &[0; 28 * 28]), idx(&[2], &[0; 2])),
        (idx(&[u32::MAX, u32::MAX, u32::MAX], &[]), idx(&[1], &[0])),
    ] {
        std::fs::create_dir_all(yard.path("idx")).unwrap();
        for (name, bytes) in [("images-idx3", images), ("labels-idx1", labels)] {
            yard.file(&format!("idx/train-{name}-ubyte"), &bytes);
            yard.file(&format!("idx/t10k-{name}-ubyte"), &bytes);
        }
        yard.file("run.yaml", SMALL.replace("mnist-sample", "idx"));
        let error = yard.fails(2, &["run", "run.yaml"]);
        assert!(error.contains("idx"), "{error}");
    }
    assert!(!yard.path("m.safetensors").exists());
}

#[test]
fn torn_empty_and_lying_model_files() {
    let yard = Yard::new();
    let args = ["train", "--data", "mnist-sample", "--model", "mnist-mlp", "--savemodel"];
    yard.ok(&[&args[..], &["good.safetensors"]].concat());
    let good = std::fs::read(yard.path("good.safetensors")).unwrap();
    let mut flipped = good.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    let lying = [&u64::MAX.to_le_bytes(), &good[8..]].concat();
    let longer = [&good[..], &[0; 4]].concat();
    let bad_files = [
        ("torn.safetensors", &good[..good.len() / 2]),
        ("empty.safetensors", &[]),
        ("header.safetensors", &lying),
        ("flipped.safetensors", &flipped),
        ("longer.safetensors", &longer),
        ("keras.h5", b"\x89HDF\r\n\x1a\n"),
    ];
    for (name, bytes) in bad_files {
        yard.file(name, bytes);
        let error = yard.fails(2, &["inspect", name]);
        assert!(error.contains(name), "{error}");
    }
}
