//! A link to a page that somebody else serves: it is asked for with the token, and good once.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// An answer is a line of JSON behind some headers; anything larger is none.
pub(crate) const MOST_BYTES: u64 = 1 << 16;

/// What asks for a link.
pub(crate) fn request(host: &str, token: Option<&str>) -> String {
    let bearer = token.map_or(String::new(), |it| format!("Authorization: Bearer {it}\r\n"));
    format!(
        "POST /v1/link HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

/// The path that the answer names.
pub(crate) fn path(answer: &[u8]) -> Result<String> {
    let answer = std::str::from_utf8(answer).context("the page does not answer in text")?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the page does not answer")?;
    let status = head.lines().next().unwrap_or_default();
    if !status.contains(" 200 ") {
        bail!("the page gives no link: it answers `{status}`");
    }
    let body: Value = serde_json::from_str(body).context("the page does not answer in JSON")?;
    let path = body["path"].as_str().filter(|path| path.starts_with('/'));
    path.map(str::to_owned).context("the page gives no link")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_in_the_answer_or_why_there_is_none() {
        let body =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"path\":\"/?token=a\"}";
        assert_eq!(path(body.as_bytes()).expect("it is one"), "/?token=a");
        for (answer, part) in [
            ("HTTP/1.1 401 Unauthorized\r\n\r\n{}", "401"),
            ("HTTP/1.1 200 OK\r\n\r\n{\"path\":\"http://evil.example\"}", "no link"),
            ("HTTP/1.1 200 OK\r\n\r\nhello", "JSON"),
            ("", "does not answer"),
        ] {
            let error = path(answer.as_bytes()).expect_err("there is none").to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(request("a:1", Some("t")).contains("\r\nAuthorization: Bearer t\r\n"));
        assert!(!request("a:1", None).contains("Authorization"));
    }
}
