//! How to ask, for programs: OpenAPI 3.1. The document is about the model that is served: it says what that takes.

mod question;
mod schemas;

use serde_json::{Value, json};

use crate::about::About;

/// The document that `/openapi.json` is.
pub(crate) fn document(token: bool, about: &About) -> Value {
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Trainyard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Asks the model that is served. /v1/model says what it takes."
        },
        "paths": {
            "/": { "get": shown("The page for people.", "text/html"), "post": upload(about) },
            "/upload": { "get": shown("The page for people.", "text/html"), "post": upload(about) },
            "/ui/{file}": { "get": numbered(shown("A file of the page.", "*/*"), "file", "The page has no such file.") },
            "/v1/model": { "get": told("What is served: its kind, input, labels and how it was trained.", "Model") },
            "/v1/predict": { "post": asked("The answers to samples, texts or pictures.", "Answers", about) },
            "/v1/compare": { "post": compared(about) },
            "/v1/link": { "post": told("A path to the page that is good once.", "Link") },
            "/gallery/{number}": {
                "get": numbered(shown("A picture of the gallery.", "image/png"), "number", "The gallery has no such picture.")
            },
            "/examples/{number}": {
                "get": numbered(shown("A picture to try the model with.", "image/png"), "number", "The server has no such picture.")
            },
            "/healthz": { "get": shown("It runs.", "text/plain") },
            "/readyz": { "get": ready() },
            "/metrics": { "get": shown("Counts for Prometheus.", "text/plain") },
            "/openapi.json": { "get": shown("This document.", "application/json") }
        },
        "components": { "schemas": schemas::schemas(about) }
    });
    if token {
        document["components"]["securitySchemes"] =
            json!({ "token": { "type": "http", "scheme": "bearer" } });
        document["security"] = json!([{ "token": [] }]);
        for open in ["/healthz", "/readyz"] {
            document["paths"][open]["get"]["security"] = json!([]);
        }
    }
    document
}

fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn content(kind: &str, schema: Value) -> Value {
    json!({ kind: { "schema": schema } })
}

fn problem(description: &str) -> Value {
    json!({ "description": description, "content": content("application/json", schema("Problem")) })
}

fn with_header(mut response: Value, name: &str, description: &str) -> Value {
    let header =
        json!({ "description": description, "required": true, "schema": { "type": "string" } });
    response["headers"][name] = header;
    response
}

/// Something that is there to be looked at.
fn shown(summary: &str, kind: &str) -> Value {
    json!({
        "summary": summary,
        "responses": {
            "200": { "description": summary, "content": content(kind, json!({})) },
            "401": with_header(problem("A token is needed."), "WWW-Authenticate", "How it is sent."),
            "403": problem("The request comes from elsewhere.")
        }
    })
}

fn ready() -> Value {
    let mut ready = shown("It takes requests.", "text/plain");
    ready["responses"]["503"] = problem("It is about to end.");
    ready
}

/// The same under a name that may be none.
fn numbered(mut shown: Value, name: &str, missing: &str) -> Value {
    shown["parameters"] =
        json!([{ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }]);
    shown["responses"]["404"] = problem(missing);
    shown
}

fn told(summary: &str, answer: &str) -> Value {
    let mut told = shown(summary, "application/json");
    told["responses"]["200"]["content"] = content("application/json", schema(answer));
    told
}

fn asked(summary: &str, answer: &str, about: &About) -> Value {
    let mut asked = told(summary, answer);
    asked["requestBody"] = question::body(about);
    for (status, description) in [
        ("400", "The question cannot be read."),
        ("408", "The body took too long to come."),
        ("413", "The question is too large."),
        ("415", "The body is of another type."),
        ("422", "The question is nothing that this model can answer."),
        ("429", "Too many questions are waiting."),
        ("500", "The model failed over this question."),
        ("503", "The answer would have come too late."),
    ] {
        asked["responses"][status] = problem(description);
    }
    asked
}

fn compared(about: &About) -> Value {
    let mut compared = asked("How far two faces are apart.", "Compared", about);
    compared["responses"]["404"] = problem("The model knows no faces.");
    compared
}

/// The seeds' form, answered with JSON or a page.
fn upload(about: &About) -> Value {
    let summary = "The answers to a form, as a page where HTML is accepted.";
    let mut upload = asked(summary, "Answers", about);
    let statuses: Vec<String> =
        upload["responses"].as_object().map_or(vec![], |all| all.keys().cloned().collect());
    for status in statuses {
        upload["responses"][status]["content"]["text/html"] = json!({ "schema": {} });
    }
    upload
}
