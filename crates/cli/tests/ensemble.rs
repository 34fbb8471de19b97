//! Models that vote, as S0's last server had them: made of files, and of a run.

mod yard;

use serde_json::Value;
use yard::{SMALL, Yard};

/// A yard with three models in `m/`, trained apart on a third of the data each, and from weights of
/// their own.
fn trained() -> Yard {
    let yard = Yard::new();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "3", "--savedir", "d"]);
    for shard in ["0", "1", "2"] {
        let (data, model) = (format!("d/{shard}.npz"), format!("m/{shard}.safetensors"));
        let args = ["train", "--data", &data, "--model", "mnist-mlp", "--batch", "20"];
        yard.ok(&[&args[..], &["--seed", shard, "--savemodel", &model]].concat());
    }
    yard
}

fn vote(yard: &Yard, folder: &str) -> String {
    yard.ok(&["aggregate", "--dir", "m", "--combine", "vote", "--savefile", folder])
}

fn measure(yard: &Yard, model: &str) -> Value {
    yard.json(&["evaluate", "--modelpath", model, "--data", "mnist-sample", "--json"])
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).expect("rows of numbers")
}

#[test]
fn models_vote_where_their_mean_is_worth_nothing() {
    let yard = trained();
    let made = vote(&yard, "v");
    yard.ok(&["aggregate", "--dir", "m", "--savefile", "mean.safetensors"]);
    let accuracy = |model: &str| measure(&yard, model)["accuracy"].as_f64().unwrap();
    let members = ["m/0.safetensors", "m/1.safetensors", "m/2.safetensors"].map(accuracy);
    let (together, mean) = (accuracy("v"), accuracy("mean.safetensors"));
    let best = members.into_iter().fold(0.0, f64::max);
    assert!(together > best, "together {together}, alone {members:?}");
    assert!(mean < best, "models that began apart have a mean of {mean}");
    assert_eq!(measure(&yard, "v")["loss"], measure(&yard, "v/ensemble.json")["loss"]);
    let text = yard.ok(&["evaluate", "--modelpath", "v", "--data", "mnist-sample"]);
    assert!(text.contains(&format!("accuracy {together:.4} on 2000 samples")), "{text}");

    // The same call again finds its own result; the result of other models would be another.
    assert_eq!(vote(&yard, "v"), made);
    std::fs::remove_file(yard.path("m/2.safetensors")).unwrap();
    let args = ["aggregate", "--dir", "m", "--combine", "vote", "--savefile", "v"];
    assert!(yard.fails(2, &args).contains("choose another folder"));
}

#[test]
fn predict_tells_the_votes_and_inspect_the_members() {
    let yard = trained();
    let made = vote(&yard, "v");
    let answer = yard.json(&["predict", "v", "d/0.npz", "d/1.npz", "--json"]);
    let members = ["0", "1", "2"].map(|rank| {
        let model = format!("m/{rank}.safetensors");
        let answer = yard.json(&["predict", &model, "d/0.npz", "d/1.npz", "--json"]);
        assert_eq!(answer.as_object().unwrap().len(), 1, "one model has no votes");
        rows(&answer["predictions"])
    });
    let (predictions, votes) = (rows(&answer["predictions"]), rows(&answer["votes"]));
    let winners: Vec<usize> = serde_json::from_value(answer["classes"].clone()).unwrap();
    assert_eq!((predictions.len(), votes.len(), winners.len()), (6667, 6667, 6667));
    let largest =
        |row: &[f64]| (0..10).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    for sample in 0..predictions.len() {
        let mut expected = vec![0.0; 10];
        for member in &members {
            expected[largest(&member[sample])] += 1.0;
        }
        assert_eq!(votes[sample], expected, "sample {sample}");
        assert!(expected.iter().all(|&count| count <= expected[winners[sample]]));
        for class in 0..10 {
            let mean = members.iter().map(|member| member[sample][class]).sum::<f64>() / 3.0;
            assert!((predictions[sample][class] - mean).abs() < 1e-6, "sample {sample}");
        }
    }
    let text = yard.ok(&["predict", "v", "d/0.npz"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("0: {} (0.", winners[0])), "{}", lines[0]);
    assert!(lines.iter().all(|line| line.ends_with(" of 3 votes)")), "{text}");

    let inspected = yard.json(&["inspect", "v", "--json"]);
    assert_eq!(inspected["parameters"], 3 * 79_510);
    let hash = inspected["weights_sha256"].as_str().unwrap();
    assert_eq!(made, format!("v  {hash}\n"));
    let text = yard.ok(&["inspect", "v"]);
    assert!(text.contains("3 of these vote") && text.contains(hash), "{text}");
    for (rank, member) in inspected["members"].as_array().unwrap().iter().enumerate() {
        let alone = yard.json(&["inspect", &format!("m/{rank}.safetensors"), "--json"]);
        assert_eq!(member["weights_sha256"], alone["weights_sha256"]);
        assert_eq!(member["card"], alone["card"]);
        assert!(text.contains(member["weights_sha256"].as_str().unwrap()), "{text}");
    }
}

/// What a driver leaves that died after its run had published an ensemble and before it was measured.
fn published_and_not_measured(yard: &Yard) {
    let path = yard.path("runs/small-1/events.jsonl");
    let text = std::fs::read_to_string(&path).expect("the run is done");
    let is_end = |line: &&str| line.contains("\"task\":\"train\"") && line.contains("task_done");
    let end = text.lines().position(|line| is_end(&line)).expect("it was trained");
    let events: String = text.lines().take(end + 1).map(|line| format!("{line}\n")).collect();
    std::fs::write(path, events.replace("train/model.safetensors", "train/ensemble.json"))
        .expect("events can be written");
    for file in ["report.json", "models/train/model.safetensors"] {
        std::fs::remove_file(yard.path("runs/small-1").join(file)).expect("the run is done");
    }
}

#[test]
fn a_run_may_publish_an_ensemble() {
    let yard = trained();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    published_and_not_measured(&yard);
    let failed = yard.fails(1, &["run", "small.yaml"]);
    assert!(failed.contains("neither model.safetensors nor ensemble.json"), "{failed}");
    vote(&yard, "runs/small-1/models/train");
    yard.ok(&["run", "small.yaml"]);
    let report = yard.json(&["report", "small", "--json"]);
    let measured = measure(&yard, "runs/small-1/models/train");
    assert_eq!(report["state"], "done");
    assert_eq!(report["metrics"]["test"]["accuracy"], measured["accuracy"]);
    assert_eq!(report["metrics"]["test"]["loss"], measured["loss"]);
    assert_eq!(measure(&yard, "small")["accuracy"], measured["accuracy"]);
    assert!(yard.ok(&["inspect", "small"]).contains("3 of these vote"));
    assert!(yard.ok(&["predict", "small", "d/0.npz"]).contains(" of 3 votes"));
}

#[test]
fn ensembles_that_are_torn_mixed_or_lead_elsewhere_are_refused() {
    let yard = trained();
    vote(&yard, "v");
    let manifest = std::fs::read_to_string(yard.path("v/ensemble.json")).unwrap();
    let member = std::fs::read(yard.path("v/1.safetensors")).unwrap();
    let refused = |parts: &[&str]| {
        for verb in ["inspect", "predict"] {
            let inputs = if verb == "predict" { &["d/0.npz"][..] } else { &[] };
            let error = yard.fails(2, &[&[verb, "v"], inputs].concat());
            for part in parts {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
        }
        yard.file("v/ensemble.json", &manifest);
        yard.file("v/1.safetensors", &member);
    };
    std::fs::remove_file(yard.path("v/1.safetensors")).unwrap();
    refused(&["v/1.safetensors", "there is no such file", "put it back"]);
    std::fs::copy(yard.path("m/2.safetensors"), yard.path("v/1.safetensors")).unwrap();
    refused(&["v/1.safetensors", "hash", "ensemble.json"]);
    yard.file("v/ensemble.json", manifest.replace("\"1.safetensors", "\"../m/1.safetensors"));
    refused(&["v/ensemble.json", "`../m/1.safetensors`", "plain name"]);
    yard.file("v/ensemble.json", &manifest[..manifest.len() / 2]);
    refused(&["v/ensemble.json", "damaged"]);
    std::fs::remove_file(yard.path("v/ensemble.json")).unwrap();
    refused(&["`v`", "no ensemble", "aggregate --combine vote"]);
    assert!(yard.ok(&["inspect", "v"]).contains("3 of these vote"), "all is well again");
}

#[test]
fn aggregate_makes_no_ensemble_of_what_does_not_fit() {
    let yard = trained();
    let aggregate = |savefile| {
        yard.fails(2, &["aggregate", "--dir", "m", "--combine", "vote", "--savefile", savefile])
    };
    assert!(aggregate("v.safetensors").contains("is a folder"));
    assert!(aggregate("d/0.npz").contains("is a folder"));
    assert!(aggregate("./m/").contains("where its models are"));
    std::fs::create_dir(yard.path("taken")).unwrap();
    std::fs::copy(yard.path("m/2.safetensors"), yard.path("taken/0.safetensors")).unwrap();
    assert!(aggregate("taken").contains("taken/0.safetensors: another model is there"));

    let small = "{name: mnist-mlp, hidden_units: 20}";
    let args = ["train", "--data", "d/0.npz", "--model", small, "--savemodel", "m/9.safetensors"];
    yard.ok(&args);
    let error = aggregate("v");
    assert!(error.contains("m/9.safetensors cannot vote with m/0.safetensors"), "{error}");
    assert!(!yard.path("v").exists(), "a refused ensemble left something behind");
    let error =
        yard.fails(2, &["aggregate", "--dir", "m", "--combine", "shout", "--savefile", "v"]);
    assert!(error.contains("mean") && error.contains("vote"), "{error}");
}
