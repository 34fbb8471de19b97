//! Faces beside each other, and those of the gallery.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use preprocess::Picture;
use serde::Serialize;

use crate::app::App;
use crate::gallery::distance;
use crate::kind::Kind;
use crate::problem::Problem;

/// How two faces stand to each other.
#[derive(Serialize)]
pub(super) struct Compared {
    distance: f32,
    same: bool,
    threshold: f32,
}

/// `POST /v1/compare`.
pub(super) async fn compare(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Json<Compared>, Problem> {
    if app.served().kind != Kind::Faces {
        return Err(Problem::bad("The model knows no faces; /v1/model says what it takes."));
    }
    let (served, answers) = app.ask(request).await?;
    let [a, b] = &answers.predictions[..] else {
        return Err(Problem::bad("Send two pictures, to be compared with each other."));
    };
    let (distance, threshold) = (distance(a, b), served.about.threshold.unwrap_or(1.0));
    Ok(Json(Compared { distance, same: distance < threshold, threshold }))
}

/// `GET /gallery/N`.
pub(super) async fn picture(
    State(app): State<Arc<App>>,
    Path(number): Path<String>,
) -> Result<Response, Problem> {
    let none = || Problem::new(StatusCode::NOT_FOUND, "The gallery has no such picture.");
    let served = app.served();
    let gallery = served.gallery.as_ref().ok_or_else(none)?;
    let number: usize = number.parse().map_err(|_| none())?;
    let file = gallery.picture(number).ok_or_else(none)?.to_owned();
    // Browsers know fewer kinds of pictures than a gallery may have.
    let png = tokio::task::spawn_blocking(move || {
        Some(Picture::decode(&std::fs::read(file).ok()?).ok()?.to_png())
    });
    let png = png.await.ok().flatten().ok_or_else(none)?;
    Ok(([(CONTENT_TYPE, "image/png")], png).into_response())
}
