//! How to ask, for programs: OpenAPI 3.1.

use serde_json::{Value, json};

/// The document that `/openapi.json` is.
pub(crate) fn document(token: bool) -> Value {
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Trainyard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Asks the model that is served. /v1/model says what it takes."
        },
        "paths": {
            "/": { "get": shown("The page for people.", "text/html"), "post": upload() },
            "/upload": { "get": shown("The page for people.", "text/html"), "post": upload() },
            "/ui/{file}": { "get": numbered(shown("A file of the page.", "*/*"), "file", "The page has no such file.") },
            "/v1/model": { "get": told("What is served: its kind, input, labels and how it was trained.", "Model") },
            "/v1/predict": { "post": asked("The answers to samples, texts or pictures.", "Answers") },
            "/v1/compare": { "post": asked("How far two faces are apart.", "Compared") },
            "/v1/link": { "post": told("A path to the page that is good once.", "Link") },
            "/gallery/{number}": {
                "get": numbered(shown("A picture of the gallery.", "image/png"), "number", "The gallery has no such picture.")
            },
            "/healthz": { "get": shown("It runs.", "text/plain") },
            "/readyz": { "get": ready() },
            "/metrics": { "get": shown("Counts for Prometheus.", "text/plain") },
            "/openapi.json": { "get": shown("This document.", "application/json") }
        },
        "components": { "schemas": schemas() }
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

/// Something that is there to be looked at.
fn shown(summary: &str, kind: &str) -> Value {
    json!({
        "summary": summary,
        "responses": {
            "200": { "description": summary, "content": content(kind, json!({})) },
            "401": problem("A token is needed."),
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

fn asked(summary: &str, answer: &str) -> Value {
    let mut asked = told(summary, answer);
    let form = json!({
        "type": "object",
        "properties": {
            "file": { "type": "string", "contentMediaType": "application/octet-stream" },
            "review": { "type": "string" }
        }
    });
    asked["requestBody"] = json!({
        "required": true,
        "content": {
            "application/json": { "schema": schema("Question") },
            "multipart/form-data": { "schema": form },
            "application/x-www-form-urlencoded": { "schema": form },
            "image/*": { "schema": {} }
        }
    });
    for (status, description) in [
        ("400", "The question makes no sense to this model."),
        ("408", "The body took too long to come."),
        ("413", "The question is too large."),
        ("415", "The body is of another type."),
        ("429", "Too many questions are waiting."),
        ("500", "The model failed over this question."),
        ("503", "The answer would have come too late."),
    ] {
        asked["responses"][status] = problem(description);
    }
    asked
}

/// The seeds' form, answered with JSON or a page.
fn upload() -> Value {
    let mut upload = asked("The answers to a form, as a page where HTML is accepted.", "Answers");
    let statuses: Vec<String> =
        upload["responses"].as_object().map_or(vec![], |all| all.keys().cloned().collect());
    for status in statuses {
        upload["responses"][status]["content"]["text/html"] = json!({ "schema": {} });
    }
    upload
}

fn schemas() -> Value {
    let numbers = json!({ "type": "array", "items": { "type": "number" } });
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let rows =
        |items: Value| json!({ "type": "array", "items": { "type": "array", "items": items } });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    let word = object(
        &["word", "known"],
        json!({ "word": { "type": "string" }, "known": { "type": "boolean" } }),
    );
    let near = object(
        &["person", "distance", "picture"],
        json!({ "person": { "type": "string" }, "distance": { "type": "number" }, "picture": { "type": "string" } }),
    );
    json!({
        "Problem": object(&["error"], json!({ "error": { "type": "string" } })),
        "Question": {
            "oneOf": [
                object(&["inputs"], json!({ "inputs": { "type": "array", "description": "Samples: arrays of numbers of the input's shape, or flat." } })),
                object(&["texts"], json!({ "texts": strings })),
                object(&["images"], json!({ "images": { "type": "array", "items": { "type": "string", "contentEncoding": "base64" } } }))
            ]
        },
        "Answers": object(&["predictions"], json!({
            "predictions": { "type": "array", "items": numbers },
            "classes": { "type": "array", "items": { "type": "integer" } },
            "labels": strings,
            "votes": rows(json!({ "type": "integer" })),
            "words": rows(word),
            "nearest": rows(near)
        })),
        "Compared": object(&["distance", "same", "threshold"], json!({
            "distance": { "type": "number" }, "same": { "type": "boolean" }, "threshold": { "type": "number" }
        })),
        "Link": object(&["path"], json!({ "path": { "type": "string" } })),
        "Model": object(&["name", "summary", "kind", "input", "labels", "outputs"], json!({
            "name": { "type": "string" },
            "summary": { "type": "string" },
            "kind": { "enum": ["digits", "texts", "pictures", "faces", "numbers"] },
            "input": { "type": "object" },
            "labels": strings,
            "outputs": { "type": "integer" }
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_route_is_described() {
        let document = document(true);
        let paths = document["paths"].as_object().unwrap();
        let mut described: Vec<(&str, String)> = paths
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
    }
}
