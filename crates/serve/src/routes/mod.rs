//! The addresses that a server has.

mod faces;
mod model;
mod page;
mod pictures;
mod predict;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use tokio::time::Instant;

use crate::app::App;
use crate::problem::{Problem, wrong_method};

/// One address.
pub struct Route {
    /// Where, as axum writes it.
    pub path: &'static str,
    /// The methods it takes.
    pub methods: &'static str,
    /// Whether it answers without a token.
    pub open: bool,
    handler: fn() -> MethodRouter<Arc<App>>,
}

/// All addresses. Tests and `/openapi.json` go by this table.
pub const ROUTES: &[Route] = &[
    Route {
        path: "/",
        methods: "GET, POST",
        open: false,
        handler: || get(page::page).post(predict::upload),
    },
    Route {
        path: "/upload",
        methods: "GET, POST",
        open: false,
        handler: || get(page::page).post(predict::upload),
    },
    Route { path: "/ui/{file}", methods: "GET", open: false, handler: || get(page::file) },
    Route { path: "/v1/model", methods: "GET", open: false, handler: || get(model::about) },
    Route { path: "/v1/predict", methods: "POST", open: false, handler: || post(predict::predict) },
    Route { path: "/v1/compare", methods: "POST", open: false, handler: || post(faces::compare) },
    Route { path: "/v1/link", methods: "POST", open: false, handler: || post(page::link) },
    Route {
        path: "/gallery/{number}",
        methods: "GET",
        open: false,
        handler: || get(pictures::of_gallery),
    },
    Route {
        path: "/examples/{number}",
        methods: "GET",
        open: false,
        handler: || get(pictures::example),
    },
    Route { path: "/healthz", methods: "GET", open: true, handler: || get(state::health) },
    Route { path: "/readyz", methods: "GET", open: true, handler: || get(state::ready) },
    Route { path: "/metrics", methods: "GET", open: false, handler: || get(state::metrics) },
    Route { path: "/openapi.json", methods: "GET", open: false, handler: || get(model::openapi) },
];

/// All addresses, guarded.
pub(crate) fn router(app: Arc<App>) -> Router {
    let with = |router: Router<Arc<App>>, route: &'static Route| {
        let methods = route.methods;
        let handler = (route.handler)().fallback(move || async move { wrong_method(methods) });
        let watch = from_fn_with_state((app.clone(), route), watched);
        router.route(route.path, handler.layer(watch))
    };
    let routes = ROUTES.iter().fold(Router::new(), with);
    routes.fallback(nowhere).with_state(app)
}

async fn nowhere() -> Response {
    let sentence = "There is nothing at this address; /openapi.json lists what there is.";
    secured(Problem::new(StatusCode::NOT_FOUND, sentence).into_response())
}

/// What is done with each request: it is checked, answered, counted, and its answer made safe to show.
async fn watched(
    State((app, route)): State<(Arc<App>, &'static Route)>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let began = Instant::now();
    let response = match checked(&app, route, &request) {
        Ok(None) => next.run(request).await,
        Ok(Some(redirect)) => redirect,
        Err(problem) => problem.into_response(),
    };
    app.work.metrics.answered(route.path, response.status().as_u16(), began.elapsed());
    secured(response)
}

/// Whether a request may be answered. Somebody who comes by a link is sent on with a cookie instead.
fn checked(app: &App, route: &Route, request: &Request<Body>) -> Result<Option<Response>, Problem> {
    if route.open {
        return Ok(None);
    }
    app.guard.check_site(request.method(), request.headers())?;
    let token = request.uri().query().and_then(|query| query.strip_prefix("token="));
    if let Some(cookie) = token.filter(|_| route.path == "/").and_then(|it| app.guard.redeem(it))
        && let Ok(cookie) = HeaderValue::try_from(cookie)
    {
        let headers = [(SET_COOKIE, cookie), (LOCATION, HeaderValue::from_static("/"))];
        return Ok(Some((StatusCode::SEE_OTHER, headers).into_response()));
    }
    app.guard.check_token(request.headers()).map(|()| None)
}

/// What the page may load and do: its own files, and nothing of anybody else's.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(X_FRAME_OPTIONS, "DENY");
    set(REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
