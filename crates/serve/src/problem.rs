//! What is wrong with a request, in a sentence.

use axum::Json;
use axum::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong, and what would be right.
    pub sentence: String,
}

/// What is sent.
#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Problem {
        Problem { status, sentence: sentence.into() }
    }

    /// The request cannot be read.
    pub(crate) fn bad(sentence: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// The request can be read, and is nothing that this model can answer.
    pub(crate) fn unfit(sentence: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
    }

    pub(crate) fn too_large(sentence: impl Into<String>) -> Problem {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
    }

    /// More was asked than can be answered; later it can.
    pub(crate) fn busy() -> Problem {
        let sentence = "Too many questions are waiting; ask again in a second.";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, sentence)
    }

    pub(crate) fn late() -> Problem {
        let sentence = "The answer would have come too late; ask again, or ask for less at once.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, sentence)
    }

    pub(crate) fn internal() -> Problem {
        let sentence = "The model failed over this question; the server's log says more.";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(Body { error: &self.sentence })).into_response();
        let header = match self.status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => (RETRY_AFTER, "1"),
            StatusCode::UNAUTHORIZED => (WWW_AUTHENTICATE, "Bearer realm=\"trainyard\""),
            _ => return response,
        };
        response.headers_mut().insert(header.0, HeaderValue::from_static(header.1));
        response
    }
}

/// The answer to a method that a route does not have.
pub(crate) fn wrong_method(allowed: &'static str) -> Response {
    let sentence = format!("This address takes {allowed} only.");
    let mut response = Problem::new(StatusCode::METHOD_NOT_ALLOWED, sentence).into_response();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
