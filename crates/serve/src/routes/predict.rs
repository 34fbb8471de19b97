//! Answers to questions.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::ACCEPT;
use axum::response::{Html, IntoResponse, Response};

use crate::answer::Answers;
use crate::app::App;
use crate::problem::Problem;
use crate::served::Served;

/// `POST /v1/predict`.
pub(super) async fn predict(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Json<Answers>, Problem> {
    Ok(Json(app.ask(request).await?.1))
}

/// `POST /upload`: a form, answered with a page where a browser sent it.
pub(super) async fn upload(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    let accepts = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let browser = accepts.is_some_and(|accept| accept.contains("text/html"));
    match (app.ask(request).await, browser) {
        (Ok((_, answers)), false) => Json(answers).into_response(),
        (Ok((served, answers)), true) => page(&told(&served, &answers)).into_response(),
        (Err(problem), false) => problem.into_response(),
        (Err(problem), true) => {
            let told = format!("<p>{}</p>", escaped(&problem.sentence));
            let status = problem.status;
            (status, page(&told)).into_response()
        }
    }
}

fn page(inside: &str) -> Html<String> {
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Answer – Trainyard</title>\n<link rel=\"icon\" href=\"/ui/icon.svg\">\n\
         <link rel=\"stylesheet\" href=\"/ui/style.css\">\n</head>\n\
         <body>\n<main>\n{inside}\n<p><a href=\"/\">Ask again</a></p>\n</main>\n</body>\n</html>\n"
    ))
}

/// The answers as HTML: a heading as the seeds had it, then all classes.
fn told(served: &Served, answers: &Answers) -> String {
    let mut html = String::new();
    for label in &answers.labels {
        html += &format!("<h1>predict {}</h1>\n", escaped(label));
    }
    for row in answers.predictions.iter().filter(|_| !answers.labels.is_empty()) {
        // One number is the second of two probabilities.
        let row = if row.len() == 1 { vec![1.0 - row[0], row[0]] } else { row.clone() };
        let items =
            served.about.labels.iter().zip(&row).map(|(label, share)| {
                format!("<li>{}: {:.1} %</li>", escaped(label), 100.0 * share)
            });
        html += &format!("<ul>{}</ul>\n", items.collect::<String>());
    }
    for people in &answers.nearest {
        let items = people.iter().map(|near| {
            let (person, distance) = (escaped(&near.person), near.distance);
            format!("<li><img src=\"{}\" alt=\"\"> {person}, {distance:.2} away</li>", near.picture)
        });
        html += &format!("<ol>{}</ol>\n", items.collect::<String>());
    }
    html
}

/// A text that is to be shown, not read as HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}
