//! S0's and S2's components, with their own flag names: split, copy, train, aggregate, evaluate,
//! predict, inspect.

mod yard;

use yard::Yard;

#[test]
fn split_train_aggregate_evaluate_as_s2_did() {
    let yard = Yard::new();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "3", "--savedir", "d"]);
    for shard in 0..3 {
        let (data, model) = (format!("d/{shard}.npz"), format!("m/{shard}.safetensors"));
        let args =
            ["train", "--data", &data, "--model", "mnist-mlp", "--epoch", "3", "--batch", "20"];
        yard.ok(&[&args[..], &["--savemodel", &model]].concat());
    }
    yard.ok(&["aggregate", "--dir", "m", "--savefile", "final.safetensors"]);
    let measure = |model: &str| {
        let result =
            yard.json(&["evaluate", "--modelpath", model, "--data", "mnist-sample", "--json"]);
        assert_eq!(result["samples"], 2000);
        result["accuracy"].as_f64().unwrap()
    };
    // All three began from the same weights, so that their mean is a good model.
    let (one, mean) = (measure("m/0.safetensors"), measure("final.safetensors"));
    assert!(mean > 0.85, "the mean of three has an accuracy of {mean}, one alone {one}");
}

#[test]
fn copy_writes_every_sample_to_every_file() {
    let yard = Yard::new();
    let text = yard.ok(&["copy", "--data", "mnist-sample", "--n_container", "2", "--savedir", "d"]);
    assert_eq!(text, "d/0.npz\nd/1.npz\n");
    let (first, second) =
        (std::fs::read(yard.path("d/0.npz")), std::fs::read(yard.path("d/1.npz")));
    assert!(first.unwrap() == second.unwrap(), "the copies differ");
}

/// Ids of words go through arrays, and models through Keras' files.
#[test]
fn copy_train_aggregate_predict_as_s0_did() {
    let yard = Yard::new();
    for number in 0..8 {
        let class = ["bad", "good"][number % 2];
        yard.file(&format!("texts/{class}/{number}.txt"), format!("a {class} film"));
    }
    yard.ok(&["copy", "--data", "texts", "--n_container", "2", "--savedir", "d"]);
    for member in 0..2 {
        let (data, model) = (format!("d/{member}.npz"), format!("m/{member}-model.h5"));
        let args = ["train", "--data", &data, "--model", "imdb-bigru", "--epoch", "1"];
        yard.ok(&[&args[..], &["--batch", "4", "--savemodel", &model]].concat());
    }
    yard.ok(&["aggregate", "--dir", "m", "--savefile", "aggregated-model.h5"]);
    let answers = yard.json(&["predict", "aggregated-model.h5", "d/0.npz", "--json"]);
    let answers = answers["predictions"].as_array().unwrap();
    assert_eq!(answers.len(), 8);
    for answer in answers {
        let p = answer[0].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&p), "{answer}");
    }
    // Numbers that are no ids of its words are refused, not read as something else.
    let args = ["train", "--data", "mnist-sample", "--model", "imdb-bigru", "--savemodel", "x.h5"];
    let error = yard.fails(1, &args);
    assert!(error.contains("it takes a row of ids"), "{error}");
}

#[test]
fn predict_answers_in_input_order_and_inspect_tells_what_a_model_is() {
    let yard = Yard::new();
    yard.ok(&["split", "--data", "mnist-sample", "--n_container", "100", "--savedir", "d"]);
    let args =
        ["train", "--data", "d/0.npz", "--model", "mnist-mlp", "--savemodel", "m.safetensors"];
    yard.ok(&args);
    let all = yard.json(&["predict", "m.safetensors", "d/0.npz", "d/1.npz", "--json"]);
    let rows = all["predictions"].as_array().unwrap();
    assert_eq!(rows.len(), 200);
    for row in rows {
        let sum: f64 = row.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "probabilities sum to {sum}");
    }
    let second = yard.json(&["predict", "m.safetensors", "d/1.npz", "--json"]);
    assert_eq!(second["predictions"].as_array().unwrap(), &rows[100..]);
    assert!(yard.ok(&["predict", "m.safetensors", "d/1.npz"]).starts_with("0: "));

    let inspected = yard.json(&["inspect", "m.safetensors", "--json"]);
    assert_eq!(inspected["parameters"], 79_510);
    let text = yard.ok(&["inspect", "m.safetensors"]);
    assert!(text.contains("79,510") && text.contains("Dense"), "{text}");
}

#[test]
fn bench_prints_its_three_numbers() {
    let yard = Yard::new();
    let args = ["bench", "mnist-mlp", "--batch", "20", "--threads", "1", "--steps", "50", "--json"];
    let speed = yard.json(&args);
    for number in ["samples_per_second", "steps_per_second", "peak_rss_bytes"] {
        assert!(speed[number].as_f64().unwrap() > 0.0, "{number}");
    }
}
