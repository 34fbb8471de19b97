//! A run that ends on a page, through the real binary.

mod yard;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;
use yard::{Running, SMALL, Yard, signal};

/// Starts a run and waits for its page: where that is, as it was told.
fn page(yard: &Yard, args: &[&str]) -> (Running, String) {
    let mut running = yard.listen(args);
    let mut lines = BufReader::new(running.stderr.take().expect("it is piped")).lines();
    let mut told = lines.by_ref().map(|line| line.expect("it is text"));
    let link = told.find_map(|line| Some(line.split_once(" at http://")?.1.to_owned()));
    let link = link.expect("it serves");
    // Whatever it says from here on is read, so that it never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    (running, link)
}

/// Asks a page: its status, and its answer with what comes before it.
fn ask(link: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let host = link.split('/').next().expect("a link has a host");
    let mut stream = TcpStream::connect(host).expect("somebody listens there");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in text");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.expect("an answer has a status"), answer)
}

fn json(link: &str, method: &str, path: &str, body: &str) -> Value {
    let (status, answer) = ask(link, method, path, body);
    assert_eq!(status, 200, "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    serde_json::from_str(body).expect("the answer is JSON")
}

/// Interrupts it, as Ctrl-C does: how it ended.
fn interrupt(mut running: Running) -> Option<i32> {
    signal(running.id(), "-INT");
    running.wait().expect("it ends").code()
}

#[test]
fn a_run_ends_on_a_page_that_answers_and_knows_how_good_the_model_is() {
    let yard = Yard::new();
    yard.file("small.yaml", format!("{SMALL}serve: {{}}\n"));
    let (running, link) = page(&yard, &["run", "small.yaml"]);
    assert!(link.starts_with("127.0.0.1:") && link.ends_with('/'), "{link}");

    // The run is done, whoever serves its model.
    assert!(yard.path("runs/small-1/report.json").is_file());
    let report = yard.json(&["report", "small", "--json"]);
    assert_eq!(report["state"], "done");

    assert_eq!(ask(&link, "GET", "/healthz", "").0, 200);
    assert!(ask(&link, "GET", "/", "").1.contains("<html"));
    let about = json(&link, "GET", "/v1/model", "");
    assert_eq!(about["weights_sha256"], report["weights_sha256"]);
    for split in ["train", "validation", "test"] {
        assert_eq!(about["metrics"][split], report["metrics"][split], "{split}");
    }
    let right = report["metrics"]["test"]["accuracy"].as_f64().unwrap();
    let summary = about["summary"].as_str().unwrap();
    assert!(summary.contains(&format!("{:.1} % of the test samples", right * 100.0)), "{summary}");

    let digit = serde_json::json!({ "inputs": [vec![0.5; 784]] }).to_string();
    let answer = json(&link, "POST", "/v1/predict", &digit);
    assert_eq!(answer["predictions"][0].as_array().unwrap().len(), 10);
    assert_eq!(interrupt(running), Some(0));
    assert!(TcpStream::connect(link.trim_end_matches('/')).is_err(), "it listens still");
}

#[test]
fn models_that_vote_are_served_with_what_they_reach_together() {
    let yard = Yard::new();
    let train =
        "train: { workers: 2, strategy: { average: { combine: vote } }, epochs: 1, batch: 50 }";
    yard.file(
        "vote.yaml",
        format!("name: vote\ndata: mnist-sample\nmodel: mnist-mlp\n{train}\nserve: {{}}\n"),
    );
    let (running, link) = page(&yard, &["run", "vote.yaml"]);
    let report = yard.json(&["report", "vote", "--json"]);
    let about = json(&link, "GET", "/v1/model", "");
    assert_eq!(about["members"], 2);
    assert_eq!(about["weights_sha256"], report["weights_sha256"]);
    assert!(report["metrics"]["test"].is_object());
    assert_eq!(about["metrics"]["test"], report["metrics"]["test"]);
    assert_eq!(interrupt(running), Some(0));
}

#[test]
fn the_model_of_a_step_is_served_and_a_script_can_do_without() {
    let yard = Yard::new();
    let train = |units: u32| {
        format!(
            "{{ needs: [load], train: {{ model: {{ name: mnist-mlp, hidden_units: {units} }}, \
             epochs: 1, batch: 100, threads: 1 }} }}"
        )
    };
    let file = format!(
        "name: two\nsteps:\n  load: {{ prepare: {{ data: mnist-sample }} }}\n  few: {}\n  many: {}\n  \
         page: {{ needs: [few, many], serve: {{ model: few }} }}\n",
        train(8),
        train(16)
    );
    yard.file("two.yaml", file);
    let text = yard.ok(&["run", "two.yaml", "--no-serve"]);
    assert!(text.contains("two-1 is done") && text.contains("trainyard serve two-1"), "{text}");
    let (running, link) = page(&yard, &["run", "two.yaml"]);
    let report = yard.json(&["report", "two-2", "--json"]);
    let about = json(&link, "GET", "/v1/model", "");
    assert_eq!(about["parameters"], 784 * 8 + 8 + 8 * 10 + 10);
    assert_eq!(about["weights_sha256"], report["models"]["few"]["weights_sha256"]);
    assert_eq!(interrupt(running), Some(0));
}

#[test]
fn others_need_the_token_of_the_file_beside_the_run_file() {
    let yard = Yard::new();
    let serve = "serve: { host: 0.0.0.0, token_file: token }";
    yard.file("files/small.yaml", format!("{SMALL}{serve}\n"));
    let (running, link) = page(&yard, &["run", "files/small.yaml"]);
    assert_eq!(std::fs::read_to_string(yard.path("files/token")).unwrap().trim().len(), 32);
    assert_eq!(ask(&link, "GET", "/v1/model", "").0, 401);
    assert_eq!(ask(&link, "GET", "/healthz", "").0, 200);
    let (_, once) = link.split_once('/').expect("a link has a path");
    let (status, answer) = ask(&link, "GET", &format!("/{once}"), "");
    assert!(
        (300..400).contains(&status) && answer.to_lowercase().contains("set-cookie"),
        "{answer}"
    );
    assert_eq!(ask(&link, "GET", &format!("/{once}"), "").0, 401, "a link is good once");
    assert_eq!(interrupt(running), Some(0));
}

#[test]
fn what_could_not_be_served_is_said_before_anything_is_trained() {
    let yard = Yard::new();
    let held = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = held.local_addr().expect("it has an address").port();
    let refused = |serve: &str, parts: &[&str]| {
        yard.file("small.yaml", format!("{SMALL}serve: {{ {serve} }}\n"));
        let error = yard.fails(2, &["run", "small.yaml"]);
        for part in parts {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        assert!(!yard.path("runs").exists(), "a refused run left something behind");
    };
    refused(&format!("port: {port}"), &[&format!("127.0.0.1:{port}"), "choose another port"]);
    refused("gallery: nowhere", &["the gallery", "nowhere is no folder"]);
    refused("examples: nowhere", &["the folder of examples", "nowhere is no folder"]);
    refused("host: 0.0.0.0", &["small.yaml:5", "serve.host", "token_file"]);
    refused("prot: 80", &["small.yaml:5", "serve.prot", "did you mean `port`?"]);
    refused("host: no such host, token_file: t", &["`no such host` is no address"]);
}
