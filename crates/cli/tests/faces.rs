//! Faces from folders of people to a report: every strategy, and what is asked of a model afterwards.

mod yard;

use yard::Yard;

/// People in folders, as pictures of 12 by 12 grey pixels, each with noise of its own.
fn people(yard: &Yard, folder: &str, count: usize, pictures: usize) {
    // A plain congruential generator: the same numbers everywhere.
    let mut state = 1u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for person in 0..count {
        let path = yard.path(folder).join(format!("p{person}"));
        std::fs::create_dir_all(&path).expect("the folder can be made");
        let pattern: Vec<u32> = (0..16).map(|_| draw(120)).collect();
        for picture in 0..pictures {
            let light = draw(80);
            let pixel = |place: usize, noise: u32| {
                (pattern[place / 36 * 4 + place % 12 / 3] + light + noise) as u8
            };
            let mut bytes = b"P5\n12 12\n255\n".to_vec();
            for place in 0..144 {
                let noise = draw(50);
                bytes.push(pixel(place, noise));
            }
            std::fs::write(path.join(format!("{picture}.pgm")), bytes).expect("it can be written");
        }
    }
}

fn file(train: &str) -> String {
    format!(
        "name: faces\n\
         data: {{ from: ./people, color: grey, hold_out_people: 4 }}\n\
         model: {{ name: facenet-small, embedding: 16 }}\n\
         train: {{ {train}, batch: 8, threads: 1, loss: {{ name: triplet, pairs: 4, negatives: 4 }} }}\n\
         evaluate: {{ threshold: 0.9 }}\n"
    )
}

/// The hash of the weights a run ends with.
fn weights(yard: &Yard, train: &str) -> String {
    yard.file("faces.yaml", file(train));
    yard.ok(&["run", "faces.yaml", "--fresh"]);
    let report = yard.json(&["report", "faces", "--json"]);
    assert!(report["faces"]["test"]["trained"]["top_1"].is_number(), "{report}");
    report["weights_sha256"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn every_strategy_trains_on_triplets_and_ends_the_same_again() {
    let yard = Yard::new();
    people(&yard, "people", 12, 6);
    let two = |strategy: &str| format!("workers: 2, strategy: {strategy}, epochs: 1");
    let alone = weights(&yard, "epochs: 1");
    assert_eq!(alone, weights(&yard, "epochs: 1"));
    let reduced = weights(&yard, &two("all_reduce"));
    let served = weights(&yard, &two("{ parameter_server: { servers: 2, mode: sync } }"));
    assert_eq!(reduced, served);
    let averaged = weights(&yard, &two("{ average: { sync_every: 3 } }"));
    assert_eq!(averaged, weights(&yard, &two("{ average: { sync_every: 3 } }")));
    assert!(alone != reduced && reduced != averaged);
    weights(&yard, &two("{ parameter_server: { mode: async, accuracy_every: 5 } }"));
}

#[test]
fn a_model_for_faces_is_measured_and_asked() {
    let yard = Yard::new();
    people(&yard, "people", 12, 6);
    weights(&yard, "epochs: 2");
    let report = yard.ok(&["report", "faces"]);
    for part in ["test faces", "test untrained", "test pixels", "top-1", "at 0.9"] {
        assert!(report.contains(part), "`{part}` is not in: {report}");
    }
    assert!(yard.ok(&["inspect", "faces"]).contains("embedding"));
    people(&yard, "others", 3, 4);
    let told =
        yard.ok(&["evaluate", "--modelpath", "faces", "--data", "./others", "--threshold", "0.7"]);
    assert!(told.contains("faces: top-1") && told.contains("at 0.7"), "{told}");
    let refused = yard.fails(1, &["evaluate", "--modelpath", "faces", "--data", "mnist-sample"]);
    assert!(refused.contains("[12, 12, 1]"), "{refused}");
    embeddings_have_length_one(&yard);
    people_are_named(&yard);
    // The model goes on as an embedding, with layers frozen, and without a loss being named.
    let on = file("epochs: 1")
        .replace("{ name: facenet-small, embedding: 16 }", "{ file: ./m.safetensors, freeze: 6 }");
    let on = on.replace(", loss: { name: triplet, pairs: 4, negatives: 4 }", "");
    std::fs::copy(
        yard.path("runs/faces-1/models/train/model.safetensors"),
        yard.path("m.safetensors"),
    )
    .expect("the model can be copied");
    yard.file("on.yaml", on.replace("name: faces", "name: more"));
    yard.ok(&["run", "on.yaml"]);
    let report = yard.json(&["report", "more", "--json"]);
    assert!(report["faces"]["test"]["trained"]["top_1"].is_number(), "{report}");
}

/// Looks a picture up that lies in the gallery itself: by the other pictures of its person.
fn people_are_named(yard: &Yard) {
    let asked = ["predict", "faces", "others/p1/0.pgm", "--gallery", "others"];
    let told = yard.ok(&asked);
    assert!(told.starts_with("others/p1/0.pgm: p") && told.matches(" (").count() == 3, "{told}");
    let answer = yard.json(&[&asked[..], &["--json"]].concat());
    assert_eq!(answer["predictions"][0].as_array().map(Vec::len), Some(16), "{answer}");
    for near in answer["nearest"][0].as_array().expect("three people") {
        let file = near["picture"].as_str().expect("a file");
        assert!(yard.path(file).is_file() && file != "others/p1/0.pgm", "{answer}");
    }
}

/// Asks the model for the embeddings of two pictures that differ.
fn embeddings_have_length_one(yard: &Yard) {
    let mut idx = vec![0, 0, 8, 3];
    [2u32, 12, 12].iter().for_each(|size| idx.extend(size.to_be_bytes()));
    idx.extend((0..288u32).map(|place| (place * place % 251) as u8));
    yard.file("two-images-idx3-ubyte", idx);
    let answer = yard.json(&["predict", "faces", "two-images-idx3-ubyte", "--json"]);
    let rows: Vec<Vec<f64>> =
        serde_json::from_value(answer["predictions"].clone()).expect("rows of numbers");
    assert!(rows.len() == 2 && rows[0] != rows[1], "{answer}");
    for row in &rows {
        let square: f64 = row.iter().map(|x| x * x).sum();
        assert!(row.len() == 16 && (square - 1.0).abs() < 1e-5, "{row:?}");
    }
    let text = yard.ok(&["predict", "faces", "two-images-idx3-ubyte"]);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.starts_with(&format!("0: {:.4} ", rows[0][0])), "{text}");
}

#[test]
fn what_cannot_be_trained_on_triplets_is_refused() {
    let refused = |file: &str, parts: &[&str]| {
        let yard = Yard::new();
        people(&yard, "people", 6, 2);
        yard.file("run.yaml", file);
        let error = yard.fails(2, &["run", "run.yaml"]);
        for part in parts {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    };
    let plain = file("epochs: 1");
    let loss = "loss: { name: triplet, pairs: 4, negatives: 4 }";
    refused(
        &plain.replace(loss, "loss: sparse_categorical_crossentropy"),
        &["train.loss", "embeddings", "triplet"],
    );
    refused(
        &plain.replace("{ name: facenet-small, embedding: 16 }", "mnist-mlp"),
        &["field `model`", "triplets want embeddings"],
    );
    refused(
        &plain.replace("embedding: 16", "freeze: [conv2d_7, conv]"),
        &["freeze", "`conv2d_7`", "did you mean `conv2d"],
    );
    refused(
        &plain.replace(loss, "strategy: { average: { combine: vote } }, workers: 2"),
        &["combine", "embeddings"],
    );
    refused(
        &plain.replace("triplet, pairs", "binary_crossentropy, pairs"),
        &["`pairs`", "`triplet`"],
    );
}

#[test]
fn people_of_whom_no_triplets_can_be_drawn_are_said_to_be_so() {
    let yard = Yard::new();
    people(&yard, "people", 8, 1);
    yard.file("run.yaml", file("epochs: 1"));
    let error = yard.fails(1, &["run", "run.yaml"]);
    assert!(error.contains("no triplet can be drawn"), "{error}");
}
