//! What is answered, whatever the way it was asked; while models change, and at the end.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::running::{Response, digits, model, served, start};
use engine::{Cpu, Input, Isa, Jury};
use model::Published;
use preprocess::{Form, Text};
use serve::{Combine, Limits, Served};

const JSON: &str = "application/json";

fn predictions(answer: &Response) -> Vec<Vec<f32>> {
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_value(answer.json()["predictions"].clone()).unwrap()
}

/// Samples as JSON, and what the model says to them.
fn asked(model: model::Model, count: usize) -> (String, Vec<Vec<f32>>) {
    let samples: Vec<Vec<f32>> = (0..count)
        .map(|n| (0..784).map(|at| ((at * 7 + n) % 11) as f32 / 11.0).collect())
        .collect();
    let published = Published::from(model);
    let mut jury = Jury::new(&published, count, Cpu::new(1, Isa::detect())).unwrap();
    let expected = jury.ask(Input::Floats(&samples.concat()), count).probabilities;
    let expected = expected.chunks_exact(10).map(<[f32]>::to_vec).collect();
    (serde_json::json!({ "inputs": samples }).to_string(), expected)
}

#[test]
fn many_samples_are_answered_in_order() {
    let server = start(served(digits(0)), None, Limits::default());
    // More than a batch.
    let (body, expected) = asked(digits(0), 21);
    assert_eq!(predictions(&server.post("/v1/predict", JSON, body.as_bytes())), expected);
}

#[test]
fn every_request_of_many_gets_its_own_answer() {
    let server = start(served(digits(0)), None, Limits::default());
    std::thread::scope(|scope| {
        for client in 1..=8 {
            let server = &server;
            scope.spawn(move || {
                let (body, expected) = asked(digits(0), client);
                for _ in 0..20 {
                    let answer = server.post("/v1/predict", JSON, body.as_bytes());
                    assert_eq!(predictions(&answer), expected);
                }
            });
        }
    });
}

#[test]
fn swapping_fails_no_request() {
    let server = start(served(digits(0)), None, Limits::default());
    let (body, old) = asked(digits(0), 2);
    let (_, new) = asked(digits(1), 2);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let found = predictions(&server.post("/v1/predict", JSON, body.as_bytes()));
                        assert!(found == old || found == new);
                    }
                })
            })
            .collect();
        for seed in [1, 0, 1, 0, 1] {
            server.swap(served(digits(seed)));
        }
        // A swap is an order among others: at last the newest model answers.
        while predictions(&server.post("/v1/predict", JSON, body.as_bytes())) != new {}
        done.store(true, Ordering::Relaxed);
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    assert!(server.get("/metrics").body.contains("trainyard_model_swaps_total 5"));
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let server = start(served(digits(0)), None, Limits::default());
    let (body, expected) = asked(digits(0), 500);
    let head = format!(
        "POST /v1/predict HTTP/1.1\r\nhost: {}\r\ncontent-type: {JSON}\r\ncontent-length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    let address = server.address;
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let (first, rest) = body.as_bytes().split_at(1000);
    std::io::Write::write_all(&mut stream, &[head.as_bytes(), first].concat()).unwrap();
    // It has the request when it has answered another one that came later.
    assert_eq!(server.get("/healthz").status, 200);
    let ending = std::thread::spawn(move || server.end());
    std::io::Write::write_all(&mut stream, rest).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    let found: Vec<Vec<f32>> = serde_json::from_value(json["predictions"].clone()).unwrap();
    assert_eq!(found, expected);
    assert!(ending.join().unwrap());
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_full_queue_says_come_again() {
    let limits = Limits { queue: 1, ..Limits::default() };
    let server = start(served(digits(0)), None, limits);
    let (body, _) = asked(digits(0), 200);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || {
            let answer = server.post("/v1/predict", JSON, body.as_bytes());
            assert_eq!(answer.status == 429, answer.head.contains("retry-after: 1"));
            answer.status
        };
        let clients: Vec<_> = (0..40).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200));
}

#[test]
fn a_text_is_read_as_in_training_and_its_words_are_told() {
    let words = ["the", "good", "film"].map(str::to_owned).to_vec();
    let form = Form::Text(Text::new(words, 10, 4));
    let layers = r#"[{"Embedding": {"input_dim": 10, "output_dim": 4}}, {"Flatten": {}},
                     {"Dense": {"units": 1, "activation": "sigmoid"}}]"#;
    let server = start(served(model(&[4], layers, form, 0)), None, Limits::default());
    let about = server.get("/v1/model").json();
    assert_eq!((&about["kind"], &about["input"]["words"]), (&"texts".into(), &4.into()));
    let text = server.post("/v1/predict", JSON, br#"{"texts": ["A GOOD film"]}"#);
    let ids = server.post("/v1/predict", JSON, br#"{"inputs": [[1, 2, 5, 6]]}"#);
    assert_eq!(predictions(&text), predictions(&ids));
    let known: Vec<bool> = text.json()["words"][0]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word["known"].as_bool().unwrap())
        .collect();
    assert_eq!(known, [false, true, true]);
    let form = server.post("/upload", "application/x-www-form-urlencoded", b"review=a+good+film");
    assert_eq!(predictions(&form), predictions(&text));
    for ids in ["[[1, 2, 3, 10]]", "[[1, 2, 3, 0.5]]", "[[1, 2, 3, -1]]"] {
        let answer = server.post("/v1/predict", JSON, format!("{{\"inputs\": {ids}}}").as_bytes());
        assert_eq!(answer.status, 422, "{ids}");
        assert!(answer.error().contains("below 10"), "{answer:?}");
    }
}

#[test]
fn an_ensemble_votes_or_takes_the_mean() {
    let ensemble = || {
        let models = (0..3).map(|seed| (seed.to_string(), digits(seed))).collect();
        Published::Many(model::Ensemble::of(models).unwrap())
    };
    let (body, _) = asked(digits(0), 3);
    let answer = |combine| {
        let server = start(Served::new(ensemble(), combine, 8).unwrap(), None, Limits::default());
        server.post("/v1/predict", JSON, body.as_bytes()).json()
    };
    let (vote, mean) = (answer(Combine::Vote), answer(Combine::Mean));
    assert_eq!(vote["predictions"], mean["predictions"]);
    let votes: Vec<Vec<u32>> = serde_json::from_value(vote["votes"].clone()).unwrap();
    assert!(votes.iter().all(|row| row.iter().sum::<u32>() == 3));
    assert!(mean.get("votes").is_none());
    let rows: Vec<Vec<f32>> = serde_json::from_value(mean["predictions"].clone()).unwrap();
    for (row, class) in rows.iter().zip(mean["classes"].as_array().unwrap()) {
        let best = row[class.as_u64().unwrap() as usize];
        assert!(row.iter().all(|p| *p <= best));
    }
}
