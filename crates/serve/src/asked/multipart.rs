//! The parts of a form, as browsers send it (RFC 7578).
//!
//! The body is in memory already, so that its parts are slices of it.

use crate::problem::Problem;

/// One field of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) body: &'a [u8],
}

/// Parts at most; further ones are refused.
const MOST: usize = 2048;

/// The longest boundary that the standard allows.
const LONGEST: usize = 70;

/// The fields of a form, in order.
pub(super) fn parts<'a>(content_type: &str, body: &'a [u8]) -> Result<Vec<Part<'a>>, Problem> {
    let boundary = boundary(content_type)
        .ok_or_else(|| Problem::bad("The form's content type names no boundary."))?;
    let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
    let cut_short = || Problem::bad("The form is cut short: its last boundary is missing.");
    // The first boundary has no line before it.
    let mut rest = match body.strip_prefix(&delimiter[2..]) {
        Some(rest) => rest,
        None => after(body, &delimiter).ok_or_else(cut_short)?.1,
    };
    let mut parts = vec![];
    while !rest.starts_with(b"--") {
        // Spaces may follow a boundary.
        let (padding, part) = after(rest, b"\r\n").ok_or_else(cut_short)?;
        if padding.iter().any(|byte| !b" \t".contains(byte)) {
            return Err(Problem::bad("Something follows a boundary of the form."));
        }
        let (part, next) = after(part, &delimiter).ok_or_else(cut_short)?;
        parts.push(read(part)?);
        if parts.len() > MOST {
            return Err(Problem::too_large("The form has too many fields."));
        }
        rest = next;
    }
    Ok(parts)
}

/// A part's head and body.
fn read(part: &[u8]) -> Result<Part<'_>, Problem> {
    let headless = || Problem::bad("A field of the form has no head.");
    let (head, body) = after(part, b"\r\n\r\n").ok_or_else(headless)?;
    let head = std::str::from_utf8(head).map_err(|_| headless())?;
    let value = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    });
    let name = value.and_then(|value| parameter(value, "name"));
    let name = name.ok_or_else(|| Problem::bad("A field of the form has no name."))?;
    Ok(Part { name, body })
}

fn boundary(content_type: &str) -> Option<&str> {
    let boundary = parameter(content_type, "boundary")?;
    (1..=LONGEST).contains(&boundary.len()).then_some(boundary)
}

/// A parameter of a header: `form-data; name="file"`. Quotes may hold a semicolon.
fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (key, value) = rest.split_once('=')?;
        let (found, next) = match value.trim_start().strip_prefix('"') {
            Some(quoted) => {
                let (inside, next) = quoted.split_once('"')?;
                (inside, next.split_once(';').map_or("", |(_, next)| next))
            }
            None => match value.split_once(';') {
                Some((plain, next)) => (plain.trim(), next),
                None => (value.trim(), ""),
            },
        };
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(found);
        }
        rest = next;
    }
}

/// What lies before and after the first `needle`.
fn after<'a>(bytes: &'a [u8], needle: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (&first, len) = (needle.first()?, needle.len());
    let mut from = 0;
    loop {
        // Looking for one byte is fast, and pictures hold few of it.
        let at = from + bytes.get(from..)?.iter().position(|&byte| byte == first)?;
        if bytes[at..].starts_with(needle) {
            return Some((&bytes[..at], &bytes[at + len..]));
        }
        from = at + 1;
    }
}
