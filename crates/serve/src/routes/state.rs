//! How the server is, for whatever watches it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::app::App;
use crate::problem::Problem;

/// `GET /healthz`: it runs.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: it takes requests.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, Problem> {
    if app.is_draining() { Err(Problem::late()) } else { Ok("ok\n") }
}

/// `GET /metrics`, for Prometheus.
pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let served = app.served();
    let (work, about) = (&app.work, &served.about);
    let text = work.metrics.text(work.queue.len(), &about.name, &about.weights_sha256);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
