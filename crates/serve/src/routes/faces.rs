//! Faces beside each other.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
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
        let sentence = "The model knows no faces; /v1/model says what it takes.";
        return Err(Problem::new(StatusCode::NOT_FOUND, sentence));
    }
    let (served, answers) = app.ask(request).await?;
    let [a, b] = &answers.predictions[..] else {
        return Err(Problem::unfit("Send two pictures, to be compared with each other."));
    };
    let (distance, threshold) = (distance(a, b), served.about.threshold.unwrap_or(1.0));
    Ok(Json(Compared { distance, same: distance < threshold, threshold }))
}
