//! Every address: what it answers, and what it refuses.

use crate::running::{Response, Running, digits, served, start, tight};
use serve::{Limits, ROUTES};

const TOKEN: &str = "0123456789abcdef";
const JSON: &str = "application/json";

/// An address of a route, with something in place of what it names.
fn address(path: &str) -> String {
    path.replace("{file}", "style.css").replace("{number}", "0")
}

fn methods(allowed: &str) -> Vec<&str> {
    allowed.split(", ").collect()
}

#[test]
fn every_route_asks_for_the_token() {
    let server = start(served(digits(0)), Some(TOKEN), Limits::default());
    for route in ROUTES {
        for method in methods(route.methods) {
            let ask = |headers: &[(&str, &str)]| {
                server.ask(method, &address(route.path), headers, b"").status
            };
            let (without, wrong) = (ask(&[]), ask(&[("authorization", "Bearer 0123456789abcdeF")]));
            let right = ask(&[("authorization", "Bearer 0123456789abcdef")]);
            match route.open {
                true => assert_eq!([without, wrong, right], [200; 3], "{}", route.path),
                false => {
                    assert_eq!([without, wrong], [401; 2], "{method} {}", route.path);
                    assert_ne!(right, 401, "{method} {}", route.path);
                }
            }
        }
    }
}

#[test]
fn every_route_refuses_other_methods_and_other_sites() {
    let server = start(served(digits(0)), None, Limits::default());
    for route in ROUTES {
        let path = address(route.path);
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            if methods(route.methods).contains(&method) {
                continue;
            }
            let answer = server.ask(method, &path, &[], b"");
            assert_eq!(answer.status, 405, "{method} {path}");
            assert!(answer.head.contains(&format!("allow: {}", route.methods.to_lowercase())));
            assert!(answer.error().contains(route.methods), "{}", answer.body);
        }
        let strange =
            server.ask(methods(route.methods)[0], &path, &[("host", "evil.example")], b"");
        assert_eq!(strange.status == 403, !route.open, "{path}");
    }
    let from = [("origin", "http://evil.example"), ("content-type", JSON)];
    assert_eq!(server.ask("POST", "/v1/predict", &from, b"{}").status, 403);
    assert_eq!(server.get("/nowhere").status, 404);
}

#[test]
fn every_route_is_described_for_the_model_that_is_served() {
    let server = start(served(digits(0)), Some(TOKEN), Limits::default());
    let bearer = [("authorization", "Bearer 0123456789abcdef")];
    let document = server.ask("GET", "/openapi.json", &bearer, b"").json();
    let mut described: Vec<(&str, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            (path.as_str(), methods.map(|m| m.to_uppercase()).collect::<Vec<_>>().join(", "))
        })
        .collect();
    let mut routes: Vec<(&str, String)> =
        ROUTES.iter().map(|route| (route.path, route.methods.to_owned())).collect();
    described.sort();
    routes.sort();
    assert_eq!(described, routes);
    let bodies = &document["paths"]["/v1/predict"]["post"]["requestBody"]["content"];
    let example = bodies[JSON]["examples"]["question"]["value"].to_string();
    let headers = [bearer[0], ("content-type", JSON)];
    let answer = server.ask("POST", "/v1/predict", &headers, example.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        bodies.get("image/png").is_some()
            && bodies.get("application/x-www-form-urlencoded").is_none()
    );
    let refused = server.get("/openapi.json");
    assert!(refused.head.contains("www-authenticate: bearer"), "{refused:?}");
}

#[test]
fn answers_carry_what_browsers_need_to_be_safe() {
    let server = start(served(digits(0)), None, Limits::default());
    for path in ["/", "/v1/model", "/ui/app.js", "/nowhere", "/healthz"] {
        let head = server.get(path).head;
        for line in
            ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff"]
        {
            assert!(head.contains(line), "{path}: {head}");
        }
    }
}

#[test]
fn a_link_opens_the_page_once() {
    let server = start(served(digits(0)), Some(TOKEN), Limits::default());
    let path = server.link.split_once(&server.address.to_string()).unwrap().1.to_owned();
    let opened = server.get(&path);
    assert_eq!(opened.status, 303);
    assert_eq!(server.get(&path).status, 401);
    let cookie = opened.head.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    assert_eq!(server.ask("GET", "/", &[("cookie", cookie)], b"").status, 200);
    let bearer = [("authorization", "Bearer 0123456789abcdef")];
    let link = server.ask("POST", "/v1/link", &bearer, b"").json();
    assert_eq!(server.get(link["path"].as_str().unwrap()).status, 303);
}

/// What each bad body is, and what is said of it.
fn bad_bodies() -> Vec<(&'static str, Vec<u8>, u16, &'static str)> {
    let numbers = |count: usize| format!("{{\"inputs\": [{}]}}", vec!["0"; count].join(","));
    // A picture that claims to be gigantic.
    let bomb = b"P5\n65000 65000\n255\n".to_vec();
    vec![
        (JSON, b"{".to_vec(), 400, "cannot be read"),
        (JSON, b"".to_vec(), 400, "cannot be read"),
        (JSON, br#"{"inputs": [[NaN]]}"#.to_vec(), 400, "cannot be read"),
        (JSON, br#"{"inputs": [[1, 2], [3]]}"#.to_vec(), 422, "differ in length"),
        (JSON, numbers(783).into_bytes(), 422, "shape"),
        (JSON, br#"{"texts": ["good"]}"#.to_vec(), 422, "takes no texts"),
        (JSON, br#"{"images": ["YWJj"]}"#.to_vec(), 422, "cannot be used"),
        (JSON, br#"{"texts": ["good"], "images": null}"#.to_vec(), 422, "null"),
        (JSON, vec![b' '; 20_001], 413, "too large"),
        ("image/png", b"\x89PNG\r\n\x1a\nrest".to_vec(), 422, "cannot be used"),
        ("image/png", b"".to_vec(), 422, "it is empty"),
        ("image/x-portable-graymap", bomb, 422, "65000 by 65000"),
        ("multipart/form-data; boundary=x", b"--x\r\n".to_vec(), 400, "cut short"),
        ("text/plain", b"hello".to_vec(), 415, "text/plain"),
    ]
}

#[test]
fn bad_bodies_are_refused_with_a_sentence() {
    let server = start(served(digits(0)), None, tight());
    for path in ["/v1/predict", "/upload", "/"] {
        for (content_type, body, status, sentence) in bad_bodies() {
            let answer = server.post(path, content_type, &body);
            assert_eq!(answer.status, status, "{path} {content_type}: {answer:?}");
            assert!(answer.error().contains(sentence), "{path} {content_type}: {answer:?}");
        }
    }
    assert_eq!(good(&server).status, 200);
}

/// A picture with a stroke in it.
fn good(server: &Running) -> Response {
    let mut picture = b"P5\n28 28\n255\n".to_vec();
    picture
        .extend((0..784).map(|at| if at % 28 == 14 && (100..600).contains(&at) { 255 } else { 0 }));
    server.post("/v1/predict", "image/x-portable-graymap", &picture)
}

#[test]
fn slow_clients_are_let_go() {
    let server = start(served(digits(0)), None, tight());
    let half = format!(
        "POST /v1/predict HTTP/1.1\r\nhost: {}\r\ncontent-length: 9\r\n\r\n{{",
        server.address
    );
    assert_eq!(server.say(half.as_bytes()).status, 408);
    // The head alone: the connection is closed without a word, or with one.
    assert!([0, 408].contains(&server.say(b"POST /v1/predict HTTP/1.1\r\n").status));
    assert_eq!(good(&server).status, 200);
}

#[test]
fn garbage_does_not_stop_it() {
    let server = start(served(digits(0)), None, tight());
    for garbage in [&b"\0\0\0\0\r\n\r\n"[..], b"GET / HTTP/9\r\n\r\n", &[b'a'; 100_000]] {
        assert!(server.say(garbage).status != 200);
    }
    let answer = good(&server);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["predictions"][0].as_array().unwrap().len(), 10);
}
