//! Pictures that the server shows: those of the gallery, and those to try a model with.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use preprocess::Picture;

use crate::app::App;
use crate::problem::Problem;

/// `GET /gallery/N`.
pub(super) async fn of_gallery(
    State(app): State<Arc<App>>,
    Path(number): Path<String>,
) -> Result<Response, Problem> {
    let served = app.served();
    let gallery = served.gallery();
    shown(numbered(&number).and_then(|number| gallery?.picture(number)), "gallery").await
}

/// `GET /examples/N`.
pub(super) async fn example(
    State(app): State<Arc<App>>,
    Path(number): Path<String>,
) -> Result<Response, Problem> {
    let served = app.served();
    let examples = served.examples.as_ref();
    shown(numbered(&number).and_then(|number| examples?.file(number)), "server").await
}

fn numbered(number: &str) -> Option<usize> {
    number.parse().ok()
}

/// A file as PNG. Browsers know fewer kinds of pictures than people have, and nothing else that lies in a file, such as
/// where a picture was taken, is anybody's concern.
async fn shown(file: Option<&FilePath>, whose: &str) -> Result<Response, Problem> {
    let none = || Problem::new(StatusCode::NOT_FOUND, format!("The {whose} has no such picture."));
    let file: PathBuf = file.ok_or_else(none)?.to_owned();
    let png = tokio::task::spawn_blocking(move || {
        Some(Picture::decode(&std::fs::read(file).ok()?).ok()?.to_png())
    });
    let png = png.await.ok().flatten().ok_or_else(none)?;
    Ok(([(CONTENT_TYPE, "image/png")], png).into_response())
}
