//! What is served, and how it is asked.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::about::About;
use crate::app::App;
use crate::openapi;

/// `GET /v1/model`.
pub(super) async fn about(State(app): State<Arc<App>>) -> Json<About> {
    Json(app.served().about.clone())
}

/// `GET /openapi.json`.
pub(super) async fn openapi(State(app): State<Arc<App>>) -> impl IntoResponse {
    let json = openapi::document(app.guard.asks_for_a_token(), &app.served().about).to_string();
    ([(CONTENT_TYPE, "application/json")], json)
}
