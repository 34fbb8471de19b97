//! A server of its own for each test, and a client that says exactly what it is told.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::Isa;
use model::{Card, Model, Preprocess, Published, network};
use preprocess::Form;
use serve::{Combine, Gather, Limits, Order, Served, Server, Settings, Token};
use tokio::sync::mpsc;

/// A running server, which ends with the test.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) link: String,
    orders: mpsc::Sender<Order>,
    thread: Option<JoinHandle<bool>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    /// The sentence of a problem.
    pub(crate) fn error(&self) -> String {
        let json: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        json["error"].as_str().unwrap().to_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// An untrained model of `layers` for samples of `shape`: of two classes for texts, of ten for pictures.
pub(crate) fn model(shape: &[usize], layers: &str, form: Form, seed: u64) -> Model {
    let layers = spec::Model::Layers(serde_json::from_str(layers).unwrap());
    let classes = if shape.len() == 1 { 2 } else { 10 };
    let network = network(&layers, shape, classes).unwrap();
    let input = Preprocess { form, ..Preprocess::numbers(shape.to_vec(), 1.0 / 255.0) };
    let card = Card::new("test", &network.name, input);
    Model { weights: network.graph.initialize(seed), graph: network.graph, card }
}

/// A model of digits.
pub(crate) fn digits(seed: u64) -> Model {
    let layers = r#"[{"Flatten": {}}, {"Dense": {"units": 10, "activation": "softmax"}}]"#;
    model(&[28, 28, 1], layers, Form::Numbers, seed)
}

/// A model of faces, in grey and 12 by 12.
pub(crate) fn faces(seed: u64) -> Model {
    let pixels = preprocess::Pixels { height: 12, width: 12, color: spec::Color::Grey };
    let small = spec::Model::parse("{name: facenet-small, embedding: 8}").unwrap();
    let network = network(&small, &[12, 12, 1], 8).unwrap();
    let input = Preprocess {
        form: Form::Pixels(pixels),
        ..Preprocess::numbers(vec![12, 12, 1], 1.0 / 255.0)
    };
    let card = Card { embedding: true, ..Card::new("faces", &network.name, input) };
    Model { weights: network.graph.initialize(seed), graph: network.graph, card }
}

pub(crate) fn served(model: Model) -> Served {
    Served::new(Published::from(model), Combine::Vote, 8).unwrap()
}

/// Limits that a test reaches soon.
pub(crate) fn tight() -> Limits {
    let short = Duration::from_millis(300);
    Limits { body: 20_000, head: short, sending: short, ..Limits::default() }
}

pub(crate) fn start(served: Served, token: Option<&str>, limits: Limits) -> Running {
    let settings = Settings {
        token: token.map(|token| Token::new(token).unwrap()),
        limits,
        gather: Gather::default(),
        processors: 2,
        isa: Isa::detect(),
    };
    let (orders, told) = mpsc::channel(1);
    let (tell, ready) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let server = Server::new(listener, settings, served).unwrap();
            tell.send((server.address().unwrap(), server.link("127.0.0.1").unwrap())).unwrap();
            server.run(told).await
        })
    });
    let (address, link) = ready.recv().unwrap();
    Running { address, link, orders, thread: Some(thread) }
}

impl Running {
    pub(crate) fn swap(&self, served: Served) {
        self.orders.blocking_send(Order::Swap(Box::new(served))).map_err(drop).unwrap();
    }

    /// Tells it to end, and says whether all was answered.
    pub(crate) fn end(mut self) -> bool {
        drop(self.orders.blocking_send(Order::End));
        self.thread.take().unwrap().join().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Response {
        self.ask("POST", path, &[("content-type", content_type)], body)
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        self.say(&[head.as_bytes(), body].concat())
    }

    /// Bytes as they are, and what comes back until the server closes.
    pub(crate) fn say(&self, bytes: &[u8]) -> Response {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server that has answered may not read on.
        drop(stream.write_all(bytes));
        let mut all = vec![];
        drop(stream.read_to_end(&mut all));
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Response { status, head: head.to_lowercase(), body: body.to_owned() }
    }
}
