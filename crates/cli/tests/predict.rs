//! `predict` answers what a server answers, to the bit, without one.

mod yard;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use preprocess::Picture;
use serde_json::{Value, json};
use yard::{SMALL, Yard};

const TEXTS: &str = "\
name: texts
data: { from: ./texts, length: 12, vocabulary_size: 40 }
model:
  layers:
    - Embedding: { input_dim: 40, output_dim: 8 }
    - GlobalAveragePooling1D
    - Dense: { units: 1, activation: sigmoid }
train: { epochs: 3, batch: 4, threads: 1 }
evaluate: { split: train }
";

/// What a server answers to a body.
fn asked(address: &str, content_type: &str, body: &[u8]) -> Value {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it can be set");
    let len = body.len();
    let head = format!(
        "POST /v1/predict HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: {content_type}\r\ncontent-length: {len}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    serde_json::from_str(body).expect("the answer is JSON")
}

/// A drawing of a seven, dark on light.
fn seven() -> Picture {
    let side = 60;
    let ink = |at: usize| {
        let (row, column) = (at / side, at % side);
        let bar = (10..16).contains(&row) && (15..45).contains(&column);
        bar || (10..52).contains(&row) && (41 - row / 3..47 - row / 3).contains(&column)
    };
    let bytes = (0..side * side).map(|at| if ink(at) { 20 } else { 240 }).collect();
    Picture { height: side, width: side, channels: 1, bytes }
}

#[test]
fn pictures_and_samples_are_answered_as_by_the_server() {
    let yard = Yard::new();
    yard.file("small.yaml", SMALL);
    yard.ok(&["run", "small.yaml"]);
    yard.file("photos/seven.png", seven().to_png());
    let (_server, address) = yard.serve("small");

    let by_server = asked(&address, "image/png", &seven().to_png());
    let alone = yard.json(&["predict", "small", "photos/seven.png", "--json"]);
    assert_eq!(alone, by_server);
    assert_eq!(alone["labels"].as_array().map(Vec::len), Some(1), "{alone}");

    // A folder is the pictures in it; people are told the class and its probability by name.
    yard.file("photos/again.PNG", seven().to_png());
    yard.file("photos/notes.txt", "none of these");
    let (label, class) = (alone["labels"][0].as_str(), alone["classes"][0].as_u64());
    let (label, class) = (label.expect("a label"), class.expect("a class") as usize);
    let p = alone["predictions"][0][class].as_f64().expect("a probability");
    let line = |name: &str| format!("photos/{name}: {label} ({p:.4})\n");
    assert_eq!(yard.ok(&["predict", "small", "photos"]), line("again.PNG") + &line("seven.png"));

    // What enters the network: the bytes of a file of samples, scaled.
    let bytes: Vec<u8> = (0..2 * 784u32).map(|at| (at * at % 251) as u8).collect();
    let sizes = [2u32, 28, 28].map(u32::to_be_bytes);
    yard.file("two-idx3-ubyte", [&[0, 0, 8, 3], sizes.as_flattened(), &bytes].concat());
    let arrays = yard.json(&["predict", "small", "two-idx3-ubyte", "--json"]);
    let inputs: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) * (1.0 / 255.0)).collect();
    let body = json!({ "inputs": inputs.chunks(784).collect::<Vec<_>>() }).to_string();
    let by_server = asked(&address, "application/json", body.as_bytes());
    assert_eq!(arrays, json!({ "predictions": by_server["predictions"] }));

    // An npz file, as a step of the run left it.
    let npz = "runs/small-1/data/prepare/test.npz";
    let text = yard.ok(&["predict", "small", npz, "photos/seven.png"]);
    assert!(text.starts_with("0: ") && text.ends_with(&line("seven.png")), "{text}");
    let answers = yard.json(&["predict", "small", npz, "--json"]);
    assert_eq!(answers.as_object().map(|answers| answers.len()), Some(1));
    let inputs = npz_floats(&yard, npz);
    let body = json!({ "inputs": [inputs] }).to_string();
    let by_server = asked(&address, "application/json", body.as_bytes());
    assert_eq!(answers["predictions"][0], by_server["predictions"][0]);
}

/// The first sample of an npz file of bytes, scaled.
fn npz_floats(yard: &Yard, file: &str) -> Vec<f32> {
    let samples = data::inputs(&yard.path(file), &[28, 28, 1]).expect("the file is whole");
    let data::View::U8(bytes) = samples.rows(0..1) else { panic!("pixels are bytes") };
    bytes.iter().map(|&byte| f32::from(byte) * (1.0 / 255.0)).collect()
}

#[test]
fn texts_are_answered_as_by_the_server() {
    let yard = Yard::new();
    for number in 0..16 {
        let class = ["bad", "good"][number % 2];
        yard.file(
            &format!("texts/{class}/{number}.txt"),
            format!("a {class} film, number {number}"),
        );
    }
    yard.file("texts.yaml", TEXTS);
    yard.ok(&["run", "texts.yaml"]);
    yard.file("new.txt", "A GOOD film\nwith an unknown word");
    let (_server, address) = yard.serve("texts");
    let question = json!({ "texts": ["A GOOD film\nwith an unknown word", "so bad"] }).to_string();
    let by_server = asked(&address, "application/json", question.as_bytes());
    let told = ["predict", "texts", "new.txt", "--text", "so bad"];
    let alone = yard.json(&[&told[..], &["--json"]].concat());
    assert_eq!(alone, by_server);
    assert_eq!(alone["words"][0][1], json!({ "word": "good", "known": true }), "{alone}");
    let text = yard.ok(&told);
    let lines: Vec<&str> = text.lines().collect();
    let label = |place: usize| alone["labels"][place].as_str().expect("a label");
    assert!(lines[0].starts_with(&format!("new.txt: {} (0.", label(0))), "{text}");
    assert!(lines[1].starts_with(&format!("\"so bad\": {} (0.", label(1))), "{text}");
    assert_eq!(lines.len(), 2, "{text}");
    refusals(&yard);
}

fn refusals(yard: &Yard) {
    yard.file("photo.png", seven().to_png());
    yard.file("long.txt", "long ".repeat(30_000));
    yard.file("empty/photo.png", "");
    for (inputs, parts) in [
        (&["photo.png"][..], &["photo.png", "not UTF-8", "takes texts"][..]),
        (&["long.txt"], &["long.txt", "150000 bytes", "100000"]),
        (&["empty"], &["empty", "no .txt file"]),
        (&["missing.txt"], &["missing.txt"]),
        (&["new.txt", "--gallery", "texts"], &["a gallery is for a model of faces"]),
        (&[], &["<INPUTS>"]),
    ] {
        let error = yard.fails(2, &[&["predict", "texts"], inputs].concat());
        for part in parts {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }
}
