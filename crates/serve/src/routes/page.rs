//! The page for people, and the files it is made of.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;
use crate::problem::Problem;

macro_rules! files {
    ($($name:literal)*) => {
        /// The page's files, by name.
        const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../../ui/", $name)))),*];
    };
}

files! {
    "about.js" "api.js" "app.js" "bars.js" "dom.js" "draw.js" "drop.js" "faces.js" "icon.svg" "index.html"
    "numbers.js" "pictures.js" "review.js" "shown.js" "strokes.js" "style.css"
}

/// `GET /`.
pub(super) async fn page() -> Response {
    found("index.html")
}

/// `GET /ui/FILE`.
pub(super) async fn file(Path(name): Path<String>) -> Response {
    found(&name)
}

/// `POST /v1/link`: a link to the page that is good once, for somebody who knows the token.
pub(super) async fn link(State(app): State<Arc<App>>) -> Json<Value> {
    let path = match app.guard.asks_for_a_token() {
        true => format!("/?token={}", app.guard.link().reveal()),
        false => "/".to_owned(),
    };
    Json(json!({ "path": path }))
}

fn found(name: &str) -> Response {
    let Some((_, bytes)) = FILES.iter().find(|(known, _)| *known == name) else {
        let sentence = "The page has no such file.";
        return Problem::new(StatusCode::NOT_FOUND, sentence).into_response();
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    };
    // Asked for anew each time: a newer server has newer files.
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], *bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/ui");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
